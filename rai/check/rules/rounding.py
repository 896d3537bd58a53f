"""Values that an answer has rounded: "over $181 million" of 181,674,817, "nearly 200" of 197, "4.5 %" of 4.53 %.

A value may be rounder than the source's only if the answer says so by a hedge, or writes fewer digits by a scale word
or decimals and rounds correctly. The limits, each with the larger of the two values as the whole:

- about, around, or so: the correct rounding to the claim's last significant digit (to its fives if that is a 5), and
  within 5 %: "about" promises a value that nobody would act on differently. What the source says with a hedge already is
  not rounded again: of "about 3 hours 15 minutes" an answer has made "about 3 hours 10 minutes" by mistake.
- nearly, just under, just over: on the side that the word names, within one unit of the last significant digit and 5 %.
- more than, less than: true as said and within one unit of the last significant digit and 20 % ("less than 5" of 4.2);
  of a price, an amount below 1,000, 5 %.
- at least, up to, at most: these state a rule more often than they round. The claim must have dropped two digits and
  more and be within 5 %: "at least 180 million" of 181,674,817, but not "at least 30 days" of 31 days.
- without a hedge, to stated precision: the correct rounding to the last digit written, within 5 %.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Literal

from grounding.tables import table
from grounding.text import terms
from rai.check.context import Around, CheckContext, Finding, name_of
from rai.check.reading.sources import Place
from rai.check.rules.amounts import MOST_CANDIDATES, Spot, kindred, number_of, role_fitting, spot_of
from rai.claims.found import Found
from rai.claims.numbers.numeral import decimal_of
from rai.claims.numbers.units import dimension_of, factors
from rai.records import Claim

Hedge = Literal["about", "near_below", "near_above", "above", "below", "least", "most"]
"""A word or sign that says a value is not exact, by its sense: near_below is "nearly", above "more than", least "at least"."""
NEAR = Decimal("0.05")
"""The share of the larger value by which the two may differ."""
TRUE_BUT_LOOSE = Decimal("0.20")
"""The same behind "more than" and "less than", which stay true."""
PRICE_BELOW = Decimal(1000)
"""Amounts of money below it are prices, for which `NEAR` always holds."""

_FILLER = r"(?: (?:a|an|the|some|only|just|about|around))?"
_NO_SIGN = r"(?!)"
_HEDGES: tuple[tuple[Hedge, str, str], ...] = tuple(
    (hedge, "|".join(said["words"]), "|".join(said["signs"]) or _NO_SIGN)
    for hedge, said in table(__file__)["hedges"].items()
)
_BEFORE = tuple(
    (hedge, re.compile(rf"(?:\b(?:{words}){_FILLER}[ \u00a0]|(?:{signs})[ \u00a0]?)$", re.IGNORECASE))
    for hedge, words, signs in _HEDGES
)
_AFTER: tuple[tuple[Hedge, re.Pattern[str]], ...] = (
    (
        "about",
        re.compile(
            r"^(?:[ \u00a0][^\W\d_]{1,20}){0,2}[ \u00a0]\(?(?:or so|or thereabouts|approximately|approx\b|roughly|more or less|give or take)|^-?ish\b",
            re.IGNORECASE,
        ),
    ),
    ("above", re.compile(r"^\+(?!\d)|^(?:[ \u00a0][^\W\d_]{1,20})?[ \u00a0]and (?:more|counting)\b", re.IGNORECASE)),
    ("least", re.compile(r"^(?:[ \u00a0][^\W\d_]{1,20})?[ \u00a0]or (?:more|over|above)\b", re.IGNORECASE)),
    ("most", re.compile(r"^(?:[ \u00a0][^\W\d_]{1,20})?[ \u00a0]or (?:less|under|fewer|below)\b", re.IGNORECASE)),
)
_NOT_A_HEDGE = re.compile(
    r"\b(?:no|not|any|and|all|hand|left|take|turn|hang|come|came|been|see|look|walk)$", re.IGNORECASE
)
_SCALE = re.compile(r"\d[ \u00a0-]?(?:thousand|million|billion|trillion|mio|mln|mrd|bn|mn|[kKMB])\b", re.IGNORECASE)
_DECIMALS = re.compile(r"\d+[.,](\d{1,2})(?!\d)(?![.,]\d)")


@dataclass(frozen=True, slots=True)
class Written:
    """A number as the answer writes it. `place`: the value of one unit of its last significant digit (10^6 of "181 million")."""

    number: Decimal
    place: Decimal

    @property
    def step(self) -> Decimal:
        """The step that it may have been rounded to: its last place, or five of them if it ends in a 5 there (45, 150)."""
        return self.place * 5 if (self.number / self.place) % 10 == 5 else self.place


def rounded(claim: Claim, found: Found, around: Around, context: CheckContext) -> Finding | None:
    """`rounded` with the source's value as evidence; None if no source value that speaks of the same may be rounded to the claim."""
    mine = number_of(found)
    if mine is None or mine <= 0:
        return None
    spot = spot_of(claim, around)
    hedge = hedge_of(spot)
    if hedge is None and not _to_precision(claim):
        return None
    written = _written(claim.text, mine)
    near = [
        (abs(number - mine), p)
        for p, number in _readings(found, context)
        if _admits(hedge, written, number, price=found.kind == "money")
        and _same_thing(found, spot, p)
        and not (hedge == "about" and _hedge_at(p) == "about")
    ]
    near.sort(key=lambda n: (n[0], n[1].source.id, n[1].found.start))
    kept = role_fitting([p for _, p in near[:MOST_CANDIDATES]], spot, around, context)
    if not kept:
        return None
    best = kept[0]
    how = "It is said with a hedge" if hedge else "It is rounded to the digits written"
    return Finding("rounded", (best.span(),), f"{how}; {name_of(best)} says {best.span().text}.")


def hedge_of(spot: Spot) -> Hedge | None:
    """The hedge next to the value, one before it first: "about 30", "30 or so". None if there is none."""
    before = spot.before[-40:].rstrip("*")
    for hedge, pattern in _BEFORE:
        match = pattern.search(before)
        if match and not _NOT_A_HEDGE.search(before[: match.start()].rstrip()):
            return hedge
    return next((hedge for hedge, pattern in _AFTER if pattern.search(spot.after[:60])), None)


def may_be_rounded(coarse: Decimal, fine: Decimal) -> bool:
    """True if `coarse` is what `fine` rounds to at the last significant digit of `coarse`, within 5 %."""
    return _admits("about", _written("", coarse), fine, price=False)


def _readings(found: Found, context: CheckContext) -> Iterator[tuple[Place, Decimal]]:
    """The places of values that measure what the claim does, each with its number in the claim's unit; stretches of time are converted."""
    for prepared in context.sources:
        for place in prepared.places:
            if kindred(found, place.found) and (number := number_of(place.found)) is not None:
                yield place, number
            elif (converted := _in_unit_of(found, place.found)) is not None:
                yield place, converted


def _in_unit_of(mine: Found, theirs: Found) -> Decimal | None:
    """A stretch of time in the claim's unit, to six decimals: 2 hours 55 minutes are 2.916667 hours."""
    if mine.kind != "quantity" or theirs.kind != "quantity" or mine.per != theirs.per:
        return None
    unit, other = mine.value.partition(" ")[2], theirs.value.partition(" ")[2]
    if unit == other or dimension_of(unit) != "time" or dimension_of(other) != "time":
        return None
    ((scale, _),) = factors(other, unit)
    number = number_of(theirs)
    return None if number is None else Decimal(decimal_of(Fraction(number) * scale))


def _written(text: str, number: Decimal) -> Written:
    exponent = number.normalize().as_tuple().exponent
    place = Decimal(1).scaleb(int(exponent))
    match = _DECIMALS.search(text)
    if match:  # 5.0 is more precise than 5
        mantissa = Decimal(match.group().replace(",", "."))
        scale = number / mantissa if mantissa else Decimal(0)
        if scale >= 1 and scale == Decimal(1).scaleb(scale.adjusted()):
            place = min(place, scale.scaleb(-len(match.group(1))))
    return Written(number, place)


def _digits(number: Decimal) -> int:
    return len(number.normalize().as_tuple().digits)


def _to_precision(claim: Claim) -> bool:
    """True if the claim is written with a scale word or decimals; a price in full is never rounded without a word that says so."""
    scaled = _SCALE.search(claim.text) is not None
    return scaled or (claim.kind != "money" and _DECIMALS.search(claim.text) is not None)


def _admits(hedge: Hedge | None, written: Written, theirs: Decimal, *, price: bool) -> bool:
    mine = written.number
    if theirs <= 0 or theirs == mine:
        return False
    off, whole = abs(mine - theirs), max(mine, theirs)
    dropped = _digits(theirs) - _digits(mine)
    if hedge is None:
        return dropped > 0 and off <= NEAR * whole and _rounds_to(mine, written.place, theirs)
    if hedge == "about":
        rounder = dropped > 0 or (dropped == 0 and written.step > written.place and not price)
        return rounder and off <= NEAR * whole and _rounds_to(written.number, written.step, theirs)
    if dropped < (2 if hedge in ("least", "most") else 1) or off > written.place:
        return False
    if off == written.place and not hedge.startswith("near"):  # just under 3.50 is 3.49
        return False
    if (theirs > mine) != (hedge in ("above", "near_above", "least")):
        return False
    loose = hedge in ("above", "below") and not (price and whole < PRICE_BELOW)
    return off <= (TRUE_BUT_LOOSE if loose else NEAR) * whole


def _rounds_to(mine: Decimal, step: Decimal, theirs: Decimal) -> bool:
    ways = (ROUND_HALF_UP, ROUND_HALF_EVEN)
    return any((theirs / step).quantize(Decimal(1), way) * step == mine for way in ways)


def _hedge_at(place: Place) -> Hedge | None:
    """The hedge of the source's own value."""
    text, start, end = place.text(), place.found.start, place.found.end
    return hedge_of(Spot(text[max(0, start - 40) : end + 60], min(start, 40), min(start, 40) + end - start))


def _same_thing(found: Found, spot: Spot, place: Place) -> bool:
    """True unless a bare number counts something else than the source's: the word after it must stand next to that number too."""
    if found.kind != "number":
        return True
    head = next(iter(terms(spot.after[:40])), None) or next(reversed(terms(spot.before[-40:])), None)
    text, start, end = place.text(), place.found.start, place.found.end
    begin, stop = max(place.unit.start, start - 60), min(place.unit.end, end + 60)
    return head is not None and head in {*terms(text[end:stop]), *terms(text[begin:start])}
