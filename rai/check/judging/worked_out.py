"""The verification of a formula that a judge proposes: its operands must stand in quotations, its result must be the claim that it explains."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import pairwise

from rai.check.comparison.values import currency_stands
from rai.check.judging.arithmetic import Amount, Computed, DoesNotHold, NotComputed, computed, rounds_to
from rai.check.judging.quotes import FoundQuote
from rai.check.judging.values import Values
from rai.check.reading.sources import Place
from rai.check.rules.amounts import Spot
from rai.check.rules.rounding import hedge_of, may_be_rounded
from rai.claims.found import Found
from rai.claims.numbers.units import dimension_of
from rai.records import EvidenceSpan

CONVERSIONS = frozenset(map(Decimal, (7, 12, 24, 52, 60, 100, 365, 1000)))
"""Numbers that need no quotation: days of a week, months of a year, minutes of an hour, parts of a hundred."""
_PLACES = 6
"""Decimals to which a quotient is compared with a part: 0.333333 is a third."""
_DIGITS = re.compile(r"(?<![\w.,:/+-])\d{1,9}(?:\.\d{1,6})?(?![\w:/-]|[.,]\d)")
"""A number alone: no part of a longer one, a code, a telephone number, a time or a date in digits."""


@dataclass(frozen=True, slots=True)
class Explained:
    """A formula that holds, all of whose operands stand in quotations. `places`: the values that they are; `spans`: where sources have them."""

    computed: Computed
    places: tuple[Place, ...]
    spans: tuple[EvidenceSpan, ...]

    @property
    def from_sources(self) -> bool:
        """True if a source has one of the operands, False if only the person said them."""
        return bool(self.spans)


def explained(formula: str, quotes: Sequence[FoundQuote], values: Values) -> Explained | None:
    """A formula computed, with the places of its operands in `quotes`; None if it does not hold, or an operand stands in none of them."""
    try:
        worked = computed(formula)
    except NotComputed:
        return None
    if _counts(worked):
        return _counted(worked, quotes)
    bound = [_bound(operand, quotes, values) for operand in worked.operands]
    found = [each for each in bound if each is not None]
    if not found or not all(_is_conversion(worked, n) for n, each in enumerate(bound) if each is None):
        return None
    places = dict.fromkeys(each.place for each in found if each.place is not None)
    return Explained(worked, tuple(places), tuple(dict.fromkeys(each.span for each in found if each.in_source)))


@dataclass(frozen=True, slots=True)
class _BoundOperand:
    """The place of an operand in a quotation: its characters, and the value that they are, if they are read as one."""

    span: EvidenceSpan
    place: Place | None
    in_source: bool


def _bound(operand: Amount, quotes: Sequence[FoundQuote], values: Values) -> _BoundOperand | None:
    at_the_end = operand.day is not None and operand.has_year and _is_year_end(operand.day, quotes)
    for known in quotes:
        in_source = known.source is not None
        if at_the_end and operand.day is not None and (year := _year_in(operand.day.year, known)) is not None:
            return _BoundOperand(year, None, in_source)
        place = next((p for p in values.places(known) if _carries(p.found, operand)), None)
        if place is not None:
            return _BoundOperand(place.span(), place, in_source)
        if (span := _digits_of(operand, known)) is not None:
            return _BoundOperand(span, None, in_source)
    return None


def _is_year_end(day: date, quotes: Sequence[FoundQuote]) -> bool:
    """True of 31 December where a quotation counts from the end of a year."""
    return (day.month, day.day) == (12, 31) and any(_YEAR_END.search(known.text) for known in quotes)


_YEAR_END = re.compile(
    r"\bend of (?:the|that|each|a) (?:calendar )?year|\byear[- ]end\b|\bJahresende\b|\bEnde des (?:Kalender)?jahres|\bfin de l['’]année|\bfinal del año|\bfine dell['’]anno|\bfim do ano|\beinde van het (?:kalender)?jaar|\bkoniec roku|\bkońca roku",
    re.IGNORECASE,
)


def _year_in(year: int, known: FoundQuote) -> EvidenceSpan | None:
    for span in known.spans:
        match = re.search(rf"(?<!\d){year}(?!\d)", span.text)
        if match:
            return EvidenceSpan(span.source, span.field, span.start + match.start(), span.start + match.end(), match[0])
    return None


def _digits_of(operand: Amount, known: FoundQuote) -> EvidenceSpan | None:
    """The place of a number in digits that is part of a value: the 32 of "32 days ago"."""
    for span in known.spans if operand.kind == "number" and operand.unit != "%" else ():
        for match in _DIGITS.finditer(span.text):
            if Decimal(match[0]) == operand.number:
                start = span.start + match.start()
                return EvidenceSpan(span.source, span.field, start, start + len(match[0]), match[0])
    return None


def comes_to_another(formula: str, found: Found, answer: str) -> bool:
    """True if `formula` can be read and is false, or has another result than the value of a claim: a proposal that speaks against itself."""
    try:
        result = computed(formula).result
    except DoesNotHold:
        return True
    except NotComputed:
        return False
    return not (_equals(result, found) or _is_hedged(result, found, answer))


def gives(explanation: Explained, found: Found, answer: str = "") -> bool:
    """True if the result is the value of a claim, and is of its kind; with a hedge in the `answer` also what it is rounded to: "a little over 9,100"."""
    result = explanation.computed.result
    return (_equals(result, found) or _is_hedged(result, found, answer)) and may_give(explanation, found)


def _is_hedged(result: Amount, found: Found, answer: str) -> bool:
    if result.day is not None or result.kind == "time" or hedge_of(Spot(answer, found.start, found.end)) is None:
        return False
    return any(may_be_rounded(Decimal(m), result.number) for m in found.magnitudes or _digits(found))


def may_give(explanation: Explained, found: Found) -> bool:
    """True if the operands can come to a value of this kind: an amount comes of an amount in its currency, a length of a length."""
    result, fits = explanation.computed.result, _FITS.get(found.kind)
    kind = found.kind if found.kind in ("date", "time") else "number"
    return fits is not None and result.kind == kind and fits(explanation, found)


def _counts(worked: Computed) -> bool:
    """True of a count written as 1 + 1 + 1: every operand is one thing, which a quotation of its own names."""
    return worked.only_adds and all(o.kind == "number" and o.number == 1 and not o.unit for o in worked.operands)


def _counted(worked: Computed, quotes: Sequence[FoundQuote]) -> Explained | None:
    """Each thing by a quotation of its own: as many as there are operands, the first that were given."""
    spans = [known.spans[0] for known in quotes if known.source is not None][: len(worked.operands)]
    apart = sorted(spans, key=lambda s: (s.source, s.field, s.start))
    overlap = any((a.source, a.field) == (b.source, b.field) and b.start < a.end for a, b in pairwise(apart))
    return Explained(worked, (), tuple(apart)) if len(apart) == len(worked.operands) and not overlap else None


def _is_conversion(worked: Computed, n: int) -> bool:
    operand = worked.operands[n]
    return operand.kind == "number" and not operand.unit and n in worked.factors and operand.number in CONVERSIONS


def _carries(found: Found, operand: Amount) -> bool:
    """True if the value of a quotation is this operand: 20 % is also 0.2, a third is also 3, of a date the day counts."""
    if operand.day is not None:
        return found.kind == "date" and any(_is_day(form, operand.day, operand) for form in found.forms)
    if operand.kind == "time":
        return found.kind == "time" and _clock(operand) in {form.partition(" ")[0] for form in found.forms}
    if operand.unit and operand.unit != "%" and found.kind == "quantity" and _unit(found) != operand.unit:
        return False
    return any(_is_number(Decimal(magnitude), found, operand) for magnitude in found.magnitudes or _digits(found))


def _digits(found: Found) -> tuple[str, ...]:
    return (found.value,) if found.kind == "number" else ()


def _is_number(held: Decimal, found: Found, operand: Amount) -> bool:
    number = operand.number
    if found.kind == "percent":
        return held == number if operand.unit == "%" or number >= 1 else held / 100 == number
    if operand.unit == "%":
        return held * 100 == number
    return held == number or (0 < held < 1 < number and round(1 / number, _PLACES) == held)


def _is_day(form: str, day: date, operand: Amount) -> bool:
    """True if the forms of a value name the day of an operand. A form with a year is that day; without one it is any year's, and the operand may not
    have one that nobody said. A month is its first and its last day.
    """
    if (form[:1] != "-") != operand.has_year:
        return False
    written = day.isoformat() if operand.has_year else f"--{day.month:02}-{day.day:02}"
    at_an_end = day.day in (1, calendar.monthrange(day.year, day.month)[1])
    return form.partition("-W-")[0] == written or (at_an_end and form == written[:-3])


def _equals(result: Amount, found: Found) -> bool:
    if result.day is not None:
        return found.kind == "date" and any(_names(form, result.day, result) for form in found.forms)
    if result.kind == "time":
        return found.kind == "time" and _clock(result) in {form.partition(" ")[0] for form in found.forms}
    if (result.unit == "%") != (found.kind == "percent"):
        return False
    if result.unit not in ("", "%") and found.kind == "quantity" and _unit(found) != result.unit:
        return False
    return any(rounds_to(result.number, Decimal(magnitude)) for magnitude in found.magnitudes or _digits(found))


def _names(form: str, day: date, result: Amount) -> bool:
    """True if `form` names this day, its month or its weekday, and no year that was not said."""
    named, _, weekday = form.partition("-W-")
    if weekday and not (result.has_year and weekday == str(day.isoweekday())):
        return False
    if result.has_year and named in (day.isoformat(), day.isoformat()[:7]):
        return True
    return named in (f"--{day.month:02}-{day.day:02}", f"--{day.month:02}") or (not named and bool(weekday))


def _clock(amount: Amount) -> str:
    minutes = int(amount.number)
    return f"{minutes // 60:02}:{minutes % 60:02}"


def _unit(found: Found) -> str:
    return found.value.partition(" ")[2]


def _of_money(explanation: Explained, found: Found) -> bool:
    mine = {form.partition(" ")[2] for form in found.forms}
    for place in explanation.places:
        other = place.found
        if other.kind == "money" and mine & {form.partition(" ")[2] for form in other.forms}:
            return True
        if other.kind == "number" and currency_stands(found, place.line()):
            return True
    return False


def _of_quantity(explanation: Explained, found: Found) -> bool:
    mine = _unit(found)
    if explanation.computed.result.unit == mine or not explanation.places:
        return True
    units = {_unit(place.found) for place in explanation.places if place.found.kind == "quantity"}
    alike = {dimension_of(unit) or unit for unit in units}
    return (dimension_of(mine) or mine) in alike or all(p.found.kind == "number" for p in explanation.places)


def _any(_explanation: Explained, _found: Found) -> bool:
    return True


_FITS: dict[str, Callable[[Explained, Found], bool]] = {
    "money": _of_money,
    "quantity": _of_quantity,
    "number": _any,
    "percent": _any,
    "date": _any,
    "time": _any,
}
