"""Whether a text that was made of a checked answer gives a contact or an amount for something else than the answer does. A source has it, so that the check of values
finds nothing, and where the words are of another language than the sources', that of what it is for finds as little.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from bot.turn.draft.citations import without_markers
from grounding.text import BAR, sentences, terms
from rai.check.comparison.contacts import LEAST_PARTIAL, agree
from rai.check.contact_sources import is_contact
from rai.claims.contacts.phones import REGIONS
from rai.claims.contacts.regions import regions_of
from rai.claims.find import find_values
from rai.claims.found import Found

_CLAUSE = re.compile(r"[;,](?=\s)")


@dataclass(frozen=True, slots=True)
class _Mention:
    """A contact or an amount. `of`: the number of the value, as the answer that was given first has it; None for one that it does not have. `clause`: where its own begins,
    and `words` those of it that are no value.
    """

    found: Found
    of: int | None
    clause: int
    words: frozenset[str]


def moves_values(before: str, after: str, regions: tuple[str, ...] = REGIONS, *, translated: bool) -> bool:
    """Whether `after`, made of the answer `before`, has a contact or an amount that the answer does not have, or has one in another's place.

    In another language only their order tells, so each must come as it came in the answer. In the same one words do: whatever has another order must have, in its own
    clause, more words of its place in the answer than of another's, and nothing may stand among those of another alone.
    """
    every = tuple(dict.fromkeys((*regions_of([before, after], regions), *regions)))
    known = _values(without_markers(before), every)
    told, made = _mentions(before, known, every), _mentions(after, known, every)
    if any(mention.of is None for mention in made):
        return True
    return any(_moved(_of(told, amounts), _of(made, amounts), translated) for amounts in (False, True))


def _of(mentions: Sequence[_Mention], amounts: bool) -> list[_Mention]:
    """The amounts or the contacts among mentions: whatever leads somewhere can take another's place."""
    return [m for m in mentions if (m.found.kind == "money") is amounts]


def _values(text: str, regions: tuple[str, ...]) -> list[Found]:
    return [f for f in find_values(text, regions) if f.kind == "money" or is_contact(f) or _may_be_dialled(f)]


def _may_be_dialled(found: Found) -> bool:
    """Whether a number is as long as one of a telephone: in which words it is known for one differs between texts."""
    return found.kind == "number" and sum(map(str.isdigit, found.value)) >= LEAST_PARTIAL


def _mentions(text: str, known: Sequence[Found], regions: tuple[str, ...]) -> list[_Mention]:
    plain = without_markers(text)
    values = _values(plain, regions)
    blank = list(plain)
    for found in values:
        blank[found.start : found.end] = "_" * (found.end - found.start)
    clauses = _clauses("".join(blank))
    mentions = []
    for found in values:
        start, words = next(
            ((a, told) for a, b, told in clauses if a <= found.start < b), (found.start, frozenset[str]())
        )
        mentions.append(_Mention(found, _number(found, known), start, words))
    return mentions


def _clauses(text: str) -> list[tuple[int, int, frozenset[str]]]:
    """Start, end and words of each clause: what stands between commas and semicolons of a sentence; a row of a table is one."""
    clauses = []
    for sentence in sentences(text):
        cuts = [] if BAR in sentence.text else [sentence.start + m.end() for m in _CLAUSE.finditer(sentence.text)]
        for start, end in zip([sentence.start, *cuts], [*cuts, sentence.end], strict=True):
            clauses.append((start, end, frozenset(t for t in terms(text[start:end]) if t.strip("_"))))
    return clauses


def _number(found: Found, known: Sequence[Found]) -> int | None:
    """Which of the `known` values it is: one of the same form before one that is written with less."""
    alike = [n for n, other in enumerate(known) if found.kind == other.kind and found.shares_form(other)]
    return next(iter(alike or [n for n, other in enumerate(known) if agree(found, other) is not None]), None)


def _moved(told: Sequence[_Mention], made: Sequence[_Mention], translated: bool) -> bool:
    """Whether one of several values of a kind stands in another's place. Of one alone whether it is the right one is for the check to say."""
    before, after = ([m.of for m in mentions if m.of is not None] for mentions in (told, made))
    if len(set(before)) < 2 or not after:
        return False
    if translated:  # of a number that is said twice, for two things, each time counts; beside itself (a link with its text) it counts once
        return [of for of, _ in groupby(before)] != [of for of, _ in groupby(after)]
    reordered = list(dict.fromkeys(after)) != [of for of in dict.fromkeys(before) if of in after]
    places = _places(told)
    return any(_stands_elsewhere(of, words, places, reordered) for of, words in _places(made).items())


def _places(mentions: Sequence[_Mention]) -> dict[int, frozenset[str]]:
    """Of each value the words of the clauses that it has for itself: what several share tells none of them apart."""
    places = dict[int, frozenset[str]]()
    for mention in mentions:
        if mention.of is not None:
            shared = any(m.clause == mention.clause and m.of != mention.of for m in mentions)
            places[mention.of] = places.get(mention.of, frozenset()) | (frozenset() if shared else mention.words)
    return places


def _stands_elsewhere(of: int, words: frozenset[str], places: Mapping[int, frozenset[str]], reordered: bool) -> bool:
    own = {n: told.difference(*(other for k, other in places.items() if k != n)) for n, told in places.items()}
    shared = {n: len(words & told) for n, told in own.items()}
    others = max(count for n, count in shared.items() if n != of)
    return shared[of] <= others if reordered else bool(own[of]) and not shared[of] and others > 0
