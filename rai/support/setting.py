"""What the claims of one answer are judged against, and what a judgement is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from grounding.text import fold
from rai.claims.found import Found
from rai.claims.links import parse
from rai.claims.units import dimension_of
from rai.records import EvidenceSpan, Status
from rai.support.frames import NOWHERE, Frame
from rai.support.same import comparable_kinds, same_value
from rai.support.sources import Place, Prepared


@dataclass(frozen=True, slots=True)
class Setting:
    """What all claims of one answer are judged against. `at`: when the conversation takes place, for "tomorrow"."""

    sources: tuple[Prepared, ...]
    given: tuple[Prepared, ...]
    question: Prepared | None
    question_terms: frozenset[str]
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """The judgement of one claim. `score` and `instead`: as in `Claim`."""

    status: Status
    evidence: tuple[EvidenceSpan, ...]
    why: str
    score: float | None = None
    instead: EvidenceSpan | None = None


@dataclass(frozen=True, slots=True)
class Around:
    """What stands around a claim: its sentence, up to 40 characters before and after it, its frame, the words that lead up to
    its sentence (heading, lead-in of a list, the sentence before), of a contact the clause it stands in, and the sentence as `plain_words` writes it.
    """

    sentence: str
    preceding: str
    following: str
    frame: Frame = NOWHERE
    leading: frozenset[str] = frozenset()
    clause: str = ""
    plain: str = ""


def line_of(place: Place) -> str:
    """The line of the value, with the title and the first row of its table: a currency often stands there."""
    return place.unit.line


def standing(found: Found, texts: Iterable[Prepared]) -> list[Place]:
    """Every place of `texts` that holds the value."""
    return [
        place
        for text in texts
        for kind in comparable_kinds(found)
        for place in text.kinds.get(kind, ())
        if same_value(found, place.found, place.unit.line)
    ]


def name_of(place: Place) -> str:
    return f"{place.source.id} ({place.source.title})" if place.source.title else place.source.id


def measure(found: Found) -> str:
    """What is measured: the unit, the currency; a weekday is not a day of the year."""
    if found.kind in ("quantity", "money"):
        return found.value.partition(" ")[2]
    return "weekday" if found.value.startswith("-W-") else ""


def rivalled(found: Found) -> str:
    """What values of one role have in common: 5 GB and 500 MB may stand for the same thing, of two plans."""
    unit = found.value.partition(" ")[2]
    return (dimension_of(unit) or unit) if found.kind == "quantity" else measure(found)


def holds(found: Found, texts: Iterable[Prepared]) -> bool:
    return bool(standing(found, texts))


def said(text: str, texts: Iterable[Prepared]) -> bool:
    return any(fold(text) in fold(t.source.text) for t in texts)


def host_of(value: str) -> str | None:
    if "://" not in value and "@" in value:
        return value.rpartition("@")[2]
    address = parse(value)
    return address.host if address else None
