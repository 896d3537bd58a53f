"""The context that the claims of one answer are judged in, the finding on a claim, and the search for a value in texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from grounding.text import fold
from rai.check.comparison.lookup_keys import looked_up
from rai.check.comparison.values import comparable_kinds, same_value
from rai.check.reading.frames import NOWHERE, Frame
from rai.check.reading.sources import Place, Prepared, folded_field
from rai.claims.contacts.links import parse
from rai.claims.found import Found
from rai.records import EvidenceSpan, Kind, Status


@dataclass(frozen=True, slots=True)
class CheckContext:
    """The texts that all claims of one answer are judged by.

    `sources`: those that may hold them; `given`: texts that came with the request and need no source; `question`: what was asked, None if
    nothing; `question_terms`: its content words and values; `at`: when the conversation takes place, for "tomorrow", None if that is not known.
    """

    sources: tuple[Prepared, ...]
    given: tuple[Prepared, ...]
    question: Prepared | None
    question_terms: frozenset[str]
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """The judgement of one claim. `score`, `instead`, `rule`, `formula` and `p`: as in `Claim`. `reach`: characters after the
    claim that belong to what is wrong: "per year" of "$9 per year".
    """

    status: Status
    evidence: tuple[EvidenceSpan, ...]
    why: str
    score: float | None = None
    instead: EvidenceSpan | None = None
    rule: str | None = None
    formula: str | None = None
    reach: int = 0
    p: float | None = None


@dataclass(frozen=True, slots=True)
class Around:
    """The surroundings of a claim: its sentence, up to 40 characters before and after it, its frame, the words that lead up to
    its sentence (heading, lead-in of a list, the sentence before), of a contact the clause it stands in, and the sentence as `plain_words` writes it.
    """

    sentence: str
    preceding: str
    following: str
    frame: Frame = NOWHERE
    leading: frozenset[str] = frozenset()
    clause: str = ""
    plain: str = ""


MOST_STANDING = 80
"""Most places of one value that are looked at, the first ones: nobody reads more of them as evidence, and a text of one value a thousand
times is none that a person wrote."""


def standing(found: Found, texts: Iterable[Prepared]) -> list[Place]:
    """The first `MOST_STANDING` places of `texts` that hold the value, in whatever form."""
    keys, kinds = looked_up(found), comparable_kinds(found)
    places = (
        place
        for text in texts
        for place in _candidates(text, keys, kinds)
        if same_value(found, place.found, place.line())
    )
    return list(islice(places, MOST_STANDING))


def _candidates(text: Prepared, keys: frozenset[str], kinds: Sequence[Kind]) -> list[Place]:
    """Places of these kinds, kind by kind, that share a key with a value."""
    numbers = {number for key in keys for number in text.keyed.get(key, ())}
    if not numbers:
        return []
    places = [text.places[number] for number in sorted(numbers)]
    return [place for kind in kinds for place in places if place.found.kind == kind]


def name_of(place: Place) -> str:
    """The document of a place as a reader is told it: its id, with its title in parentheses if it has one."""
    return f"{place.source.id} ({place.source.title})" if place.source.title else place.source.id


def holds(found: Found, texts: Iterable[Prepared]) -> bool:
    """True if one of `texts` holds the value, in whatever form."""
    return any(standing(found, (text,)) for text in texts)


def said(text: str, texts: Iterable[Prepared]) -> bool:
    """True if one of `texts` has these characters, typographic variants folded."""
    plain = fold(text)
    return any(plain in folded_field(t.source.text) for t in texts)


def host_of(value: str) -> str | None:
    """The host name of a link or an e-mail address; None of what is neither."""
    if "://" not in value and "@" in value:
        return value.rpartition("@")[2]
    address = parse(value)
    return address.host if address else None
