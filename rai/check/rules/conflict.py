"""Sources that contradict each other: two documents give two values for the same thing. Both are shown, and the newer one is named.

It takes much to say so, because a false conflict withholds a right price. The two values must be of one kind and measure
and must not be each other's rounding; the sources must be about one subject (titles and headings say the same but for
dates, versions and words such as "guide"; a word that only one has must stand in both sentences); and the sentences must
say the same, word for word, but for their values. Rows must have the same key, the same column, and no other cell that
tells them apart. A sentence about earlier or later times ("was $12 until May") disagrees with none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from itertools import islice, takewhile

from grounding.text import caseless
from rai.check.comparison.values import same_value
from rai.check.context import Around, CheckContext, Finding, name_of
from rai.check.phrasing.plain import NEGATION
from rai.check.reading.newer import newer_of
from rai.check.reading.owners import owner
from rai.check.reading.role_words import role_terms
from rai.check.reading.sources import Place, Prepared
from rai.check.reading.subject import NEUTRAL, heading_of, key_and_cells, spoken_of
from rai.check.roles import SaidAround, clash
from rai.check.rules.amounts import Spot, kindred, number_of, spot_of
from rai.check.rules.rounding import hedge_of, may_be_rounded
from rai.claims.found import Found
from rai.claims.numbers.units import converted, dimension_of
from rai.records import Claim

KINDS = frozenset({"number", "quantity", "money", "percent", "date", "time", "phone", "email", "url"})
"""Kinds of values of which two sources can contradict each other."""
MOST_FITTING = 3
"""Most places of a claim's value that are compared with the other sources."""
MOST_RIVALS = 12
"""Most values of one other source that are compared word for word."""
SHORT = 100
"""Most characters of two sentences, the same word for word but for their value, in which one word that tells the subject is enough; else two are needed."""
LONGEST = 600
"""Most characters of a sentence or row that is compared."""

_CONTACTS = frozenset({"phone", "email", "url"})
_OTHER_TIMES = re.compile(
    r"\b(?:was|were|used to|former|formerly|previous|previously|until|till|before|no longer|originally|instead of|down from|"
    r"up from|old|past|last|expired|discontinued|archived?|obsolete|superseded|will|going to|planned|proposed|expected|next|"
    r"example|e\.g|for instance)\b",
    re.IGNORECASE,
)
_PRONOUN = re.compile(r"\W*(?:it|its|this|that|they|their|these|those|he|she|here|there|such|both)\b", re.IGNORECASE)
_SCALED = re.compile(r"(?:thousand|million|billion|trillion|\dk|\dM|\d ?bn|\d ?m)\b", re.IGNORECASE)


def conflict(
    claim: Claim, found: Found, fitting: Sequence[Place], around: Around, context: CheckContext
) -> Finding | None:
    """`conflict` if another source contradicts one of the places that support the claim; else None.

    `fitting`: those places. The one that is contradicted comes first in the evidence. The order of sources changes nothing.
    """
    if found.kind not in KINDS:
        return None
    told = SaidAround(around.frame, spot_of(claim, around).words, context.question_terms | around.leading)
    ordered = sorted(fitting, key=_order)
    agreeing = {p.source for p in ordered}
    for place in ordered[:MOST_FITTING]:
        if place.unit.field == "text" and place.unit.end - place.unit.start <= LONGEST:
            against = [
                r
                for s in context.sources
                if s.source not in agreeing and (place.source.replaced_by or not s.source.replaced_by)
                for r in _disagreeing(place, s, context)
                if clash(told, r) is None
            ]
            if against:
                return _finding(place, sorted(against, key=_order), context)
    return None


def _order(place: Place) -> tuple[str, str, int]:
    return place.source.id, place.source.title, place.found.start


def _finding(place: Place, against: Sequence[Place], context: CheckContext) -> Finding:
    said, other = place.span().text, against[0].span().text
    prepared = {s.source: s for s in context.sources}
    newer = newer_of(prepared[place.source], prepared[against[0].source])
    if newer is None:
        why = f"{name_of(place)} says {said}, {name_of(against[0])} says {other}; which is newer is not known."
    elif newer == place.source:
        why = (
            f"The newer document {name_of(place)} says {said}, an older document, {name_of(against[0])}, says {other}."
        )
    else:
        why = f"An older document, {name_of(place)}, says {said}; the newer {name_of(against[0])} says {other}."
    return Finding("conflict", (place.span(), *dict.fromkeys(r.span() for r in against)), why)


def _disagreeing(place: Place, other: Prepared, context: CheckContext) -> list[Place]:
    """At most one value of `other` that stands for what `place` stands for, and is another value."""
    if (other.source.id, other.source.text) == (place.source.id, place.source.text):
        return []
    # titles that differ in a word which the sentence does not say speak of something else
    if not (spoken_of(place.source.title) ^ spoken_of(other.source.title)) <= place.unit.terms:
        return []
    likely = [
        p
        for p in other.places
        if _of_one_measure(place.found, p.found)
        and p.unit.field == "text"
        and p.unit.end - p.unit.start <= LONGEST
        and _nearly(place, p)
    ][:MOST_RIVALS]
    mine = next((s for s in context.sources if s.source == place.source), None)
    if mine is None:
        return []
    same_role = [p for p in likely if _same_role(place, mine, p, other)]
    # a source that holds the claim's value for this role too has several, and says nothing against it
    if not same_role or any(not _differs(place, p) for p in same_role):
        return []
    return same_role[:1]


def _of_one_measure(mine: Found, theirs: Found) -> bool:
    """True if both values measure the same: one kind, unit and currency, or two stretches of time (90 minutes, 2 hours)."""
    if kindred(mine, theirs):
        return True
    units = [f.value.partition(" ")[2] for f in (mine, theirs)]
    return (
        mine.kind == theirs.kind == "quantity"
        and mine.per == theirs.per
        and {dimension_of(u) for u in units} == {"time"}
    )


def _nearly(place: Place, other: Place) -> bool:
    if place.unit.row and other.unit.row:
        return True
    return len((place.unit.terms ^ other.unit.terms) - NEUTRAL) <= 4


def _differs(place: Place, other: Place) -> bool:
    """True if neither value says the other, nor is its rounding."""
    if same_value(place.found, other.found, other.line()) or same_value(other.found, place.found, place.line()):
        return False
    if place.found.kind == "date" and not _days_differ(place.found, other.found):
        return False
    if place.found.kind == "phone" and not _one_country(place.found.value, other.found.value):
        return False
    return not _rounded_form(place, other) and not _rounded_form(other, place)


def _days_differ(mine: Found, theirs: Found) -> bool:
    """True if year, month or day, named by both dates, is another: 5 May and 6 May differ, 5 May and May 2026 do not."""
    pairs = [(_parts(a), _parts(b)) for a in mine.forms for b in theirs.forms]
    return all(any(x and y and x != y for x, y in zip(a, b, strict=True)) for a, b in pairs)


def _parts(value: str) -> tuple[str, str, str]:
    match = re.fullmatch(r"(\d{4})?-?(?:-?(\d{2}))?(?:-(\d{2}))?", value)
    return (match[1] or "", match[2] or "", match[3] or "") if match else (value, "", "")


def _one_country(mine: str, theirs: str) -> bool:
    return (mine.startswith("+1") and theirs.startswith("+1")) or mine[:3] == theirs[:3]


def _rounded_form(coarse: Place, fine: Place) -> bool:
    if not kindred(coarse.found, fine.found):
        return converted(coarse.found.value, fine.found.value) == "rounded"
    a, b = number_of(coarse.found), number_of(fine.found)
    if a is None or b is None or b <= 0 or a <= 0:
        return False
    if hedge_of(_spot(coarse)) is not None or _SCALED.search(coarse.span().text):
        return may_be_rounded(a, b)
    return a != b and a == b.quantize(Decimal(1)) and b != b.to_integral_value() and abs(a - b) * 20 <= b


def _spot(place: Place) -> Spot:
    unit, found = place.unit, place.found
    return Spot(place.text()[unit.start : unit.end], found.start - unit.start, found.end - unit.start)


def _same_role(place: Place, mine: Prepared, other: Place, theirs: Prepared) -> bool:
    """True if two values of two sources stand for the same thing: one subject, and one sentence or one cell of one row."""
    here, there = _unit_text(place), _unit_text(other)
    if (" | " in here or "\t" in here) != (" | " in there or "\t" in there):
        return False
    table = " | " in here or "\t" in here
    shared = _same_cell(place, other) if table else _same_sentence(place, mine, other, theirs)
    if place.found.kind in _CONTACTS and _of_two_owners(place, other):
        return False
    verbatim = not table and len(here) <= SHORT and _frame(place, mine) == _frame(other, theirs)
    if shared is None or not _one_subject(place, other, shared, least=1 if verbatim else 2):
        return False
    if _times(here) != _times(there) or len(NEGATION.findall(here)) != len(NEGATION.findall(there)):
        return False
    return place.frame.bound == other.frame.bound and hedge_of(_spot(place)) == hedge_of(_spot(other))


def _of_two_owners(place: Place, other: Place) -> bool:
    """True of contacts of two desks, branches or people, as the lines and headings around them say: "E-mail: …" under two names contradicts nothing."""
    ours, theirs = owner(place), owner(other)
    return bool(ours - theirs) and bool(theirs - ours)


def _unit_text(place: Place) -> str:
    return place.text()[place.unit.start : place.unit.end]


def _times(text: str) -> frozenset[str]:
    return frozenset(m.group().lower() for m in _OTHER_TIMES.finditer(text))


def _same_cell(place: Place, other: Place) -> frozenset[str] | None:
    """The words of the row and column that both values stand in; None if these differ."""
    mine, theirs = key_and_cells(place), key_and_cells(other)
    if mine is None or theirs is None or mine.key != theirs.key or mine.column != theirs.column:
        return None
    labels = mine.rest.keys() | theirs.rest.keys()
    telling = [n for n in labels if mine.rest.get(n) != theirs.rest.get(n)]
    return role_terms(f"{mine.key} {mine.column}") if not telling else None


def _same_sentence(place: Place, mine: Prepared, other: Place, theirs: Prepared) -> frozenset[str] | None:
    """The words of both sentences without their values; None if the words differ or the values stand in another order."""
    here, there = _values(place, mine), _values(other, theirs)
    if len(here) != len(there) or _at(here, place) != _at(there, other):
        return None
    for a, b in zip(here, there, strict=True):
        if not _of_one_measure(a.found, b.found):
            return None
        if not kindred(a.found, place.found) and not a.found.shares_form(b.found):
            return None
    words, others = _wording(place, here), _wording(other, there)
    if words - NEUTRAL != others - NEUTRAL or not words or _PRONOUN.match(_unit_text(place)):
        return None
    return words


def _values(place: Place, prepared: Prepared) -> list[Place]:
    """The values of a sentence in order, without names. Places ascend, so those of one sentence stand together."""
    places = prepared.places
    first = next((n for n, p in enumerate(places) if p.unit is place.unit), 0)
    beside = takewhile(lambda p: p.unit is place.unit, islice(places, first, None))
    return [p for p in beside if p.found.kind not in ("entity", "statement")]


def _at(values: Sequence[Place], place: Place) -> int:
    return next((n for n, p in enumerate(values) if p.found.start == place.found.start), -1)


def _wording(place: Place, values: Sequence[Place]) -> frozenset[str]:
    text, at, kept = place.text(), place.unit.start, []
    for value in values:
        kept.append(text[at : value.found.start])
        at = value.found.end
    return role_terms(" ".join([*kept, text[at : place.unit.end]]))


def _frame(place: Place, prepared: Prepared) -> list[str]:
    """The words of a sentence in order, without its values of the measure that is compared."""
    text, at, kept = place.text(), place.unit.start, []
    for value in _values(place, prepared):
        if _of_one_measure(value.found, place.found):
            kept.append(text[at : value.found.start])
            at = value.found.end
    return caseless(" … ".join([*kept, text[at : place.unit.end]])).split()


def _one_subject(place: Place, other: Place, shared: frozenset[str], *, least: int) -> bool:
    """True if titles and headings differ only in words that the sentences say themselves, and `least` words tell the subject."""
    mine = spoken_of(place.source.title) | spoken_of(heading_of(place))
    theirs = spoken_of(other.source.title) | spoken_of(heading_of(other))
    return (mine ^ theirs) <= shared and len((mine & theirs) | (shared - NEUTRAL)) >= least
