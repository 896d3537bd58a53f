"""Ranges in the cells of tables, and whether one holds what a question says: "over 10 to 14 m" holds 12 m, "Oct–Mar" holds October.

Four things are read: quantities with a unit, months, days of the week, and days of the year (`dates`); in English, months and days also in German and French.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from grounding.quoting.dates import MONTHS, days_said, holds_day
from grounding.text import caseless

_UNITS = {
    "m": "m metre metres meter meters mtr",
    "cm": "cm centimetre centimetres",
    "mm": "mm",
    "km": "km kilometre kilometres kilometer kilometers",
    "kg": "kg kilo kilos kilogram kilograms",
    "g": "g gram grams",
    "t": "t tonne tonnes ton tons",
    "l": "l litre litres liter liters",
    "kwh": "kwh",
    "minute": "min mins minute minutes",
    "hour": "h hr hrs hour hours",
    "day": "day days",
    "night": "night nights",
    "week": "week weeks",
    "month": "month months",
    "year": "year years yr yrs",
    "person": "person persons people",
    "money": "€ $ £ eur euro euros usd dollars gbp pounds",
    "percent": "% percent",
}
_SIZE_UNITS = frozenset(("m", "cm", "mm", "kg", "g", "t", "l", "person"))
_UNIT_OF = {word: unit for unit, words in _UNITS.items() for word in words.split()}
_UNIT = "|".join(sorted(map(re.escape, _UNIT_OF), key=len, reverse=True))
_N = r"(\d+(?:[.,]\d+)?)"
_BEFORE = r"(?:[€$£] ?)?"
_QUANTITY = re.compile(rf"(?<![\w.,])([€$£])? ?{_N}[ -]?(?:({_UNIT})(?!\w))?")
_BETWEEN = re.compile(
    rf"(over |above |more than |from |uber |ab )?([€$£])? ?{_N} ?(?:{_UNIT})? ?(?:-|–|to|up to|bis|a) ?{_BEFORE}{_N} ?({_UNIT})?(?!\w)"
)
_MOST = re.compile(
    rf"(up to|under|below|less than|until|at most|max\.?|≤|<|bis(?: zu)?|unter|jusqu'a) ([€$£])? ?{_N} ?({_UNIT})?(?!\w)"
)
_LEAST = re.compile(
    rf"(over|above|more than|from|at least|min\.?|≥|>|uber|ab|plus de|des) ([€$£])? ?{_N} ?({_UNIT})?(?!\w)"
)
_WITHOUT_END = frozenset(
    ("over ", "above ", "more than ", "uber ", "over", "above", "more than", ">", "uber", "plus de")
)
_OPEN_TOP = frozenset(("under", "below", "less than", "<", "unter"))

DAYS = (
    "monday mon montag lundi",
    "tuesday tue tues dienstag mardi",
    "wednesday wed mittwoch mercredi",
    "thursday thu thur thurs donnerstag jeudi",
    "friday fri freitag vendredi",
    "saturday sat samstag samedi",
    "sunday sun sonntag dimanche",
)
_ALSO_WORDS = frozenset(("may", "mar", "mars", "sat", "sun", "mon", "jan"))
"""Months and days that are words or names as well: in a question they count after a word of time, or with a capital."""


def _calendar(names: Sequence[str]) -> dict[str, int]:
    return {caseless(name): number for number, forms in enumerate(names) for name in forms.split()}


_CALENDARS = (_calendar(MONTHS), _calendar(DAYS))
_SIZES = (12, 7)
CALENDAR = frozenset(name for calendar in _CALENDARS for name in calendar)
"""Names of months and days, as they are compared."""
_WORD = re.compile(r"[^\W\d_]+")
_TO = re.compile(r"\.?\s*(?:-|–|—|_|to|until|till|through|bis|a|au)\s*(?:\d{1,2}\.? ?)?$")
_TIME_WORD = re.compile(r"(?:\b(?:in|on|of|from|since|until|till|every|each|by|im|am|en|le)|\d\.?)\s+$")


@dataclass(frozen=True, slots=True)
class UnitRange:
    """A range of quantities of one unit; `None` where it has no end; `above` and `under` where the end itself is outside."""

    unit: str
    least: float | None = None
    most: float | None = None
    above: bool = False
    under: bool = False

    def __contains__(self, value: float) -> bool:
        low = self.least is None or (value > self.least if self.above else value >= self.least)
        return low and (self.most is None or (value < self.most if self.under else value <= self.most))


@dataclass(frozen=True, slots=True)
class SaidValues:
    """What a question says that a range can hold: quantities with their units, months and days of the week, counted from 0, and days of the year as in `dates`."""

    quantities: tuple[tuple[float, str], ...] = ()
    months: frozenset[int] = frozenset()
    days: frozenset[int] = frozenset()
    dates: frozenset[int] = frozenset()

    def over(self, earlier: SaidValues) -> SaidValues:
        """This, and of what was said earlier what it leaves open."""
        units = {unit for _, unit in self.quantities}
        kept = tuple(q for q in earlier.quantities if q[1] not in units)
        when = self.months or self.days or self.dates
        return SaidValues(
            self.quantities + kept,
            self.months or (frozenset() if self.dates else earlier.months),
            self.days or earlier.days,
            self.dates or (frozenset() if when else earlier.dates),
        )


@lru_cache(maxsize=256)
def said(question: str) -> SaidValues:
    """Quantities, months, days of the week and days of the year in a question."""
    plain = caseless(question)
    found = [(_number(m.group(2)), _UNIT_OF.get(m.group(3) or m.group(1) or "", "")) for m in _QUANTITY.finditer(plain)]
    months, days = (frozenset(_in_question(question, calendar)) for calendar in _CALENDARS)
    return SaidValues(tuple((n, unit) for n, unit in found if unit), months, days, days_said(question))


def _in_question(question: str, calendar: dict[str, int]) -> Iterator[int]:
    for match in _WORD.finditer(question):
        word = caseless(match.group())
        number = calendar.get(word, calendar.get(word.removesuffix("s")))
        if number is None:
            continue
        before = question[: match.start()]
        if word not in _ALSO_WORDS or _TIME_WORD.search(before.lower()) or (before and match.group()[0].isupper()):
            yield number


@lru_cache(maxsize=16384)
def fits(cell: str, asked: SaidValues) -> bool | None:
    """Whether the ranges of a cell hold what is said; None where the cell has none of what is said."""
    plain = caseless(cell)
    verdicts = [_holds(plain, asked.quantities), holds_day(cell, asked.dates)]
    for calendar, size, numbers in zip(_CALENDARS, _SIZES, (asked.months, asked.days), strict=True):
        held = _held(plain, calendar, size)
        verdicts.append(bool(held & numbers) if held and numbers else None)
    told = [v for v in verdicts if v is not None]
    return all(told) if told else None


def equals(cell: str, header: str, asked: SaidValues) -> bool | None:
    """Whether a cell that is one quantity ("14 kg", or "14" under "bag_kg") is one of those that are said, of its unit; None where it is none, or
    nothing of its unit is said. Sizes alone are looked at: money, percentages and times are mostly what is asked for, not what it is asked of.
    """
    match = _QUANTITY.fullmatch(caseless(cell).strip())
    if match is None or match.group(1):
        return None
    unit = _UNIT_OF.get(match.group(3) or "") or next(
        (_UNIT_OF[word] for word in re.split(r"[\W_]+", caseless(header)) if word in _UNIT_OF), ""
    )
    said_of_it = [value for value, of in asked.quantities if of == unit]
    return _number(match.group(2)) in said_of_it if said_of_it and unit in _SIZE_UNITS else None


def days_of(text: str) -> tuple[str, ...]:
    """The days of the week that a text names or that lie between two that it names, by their English names: of "Mon–Wed" three."""
    return tuple(DAYS[number].split()[0] for number in sorted(_held(caseless(text), _CALENDARS[1], _SIZES[1])))


def _holds(cell: str, quantities: Sequence[tuple[float, str]]) -> bool | None:
    span = span_of(cell)
    asked = [value for value, unit in quantities if span is not None and unit == span.unit]
    return any(value in span for value in asked) if span is not None and asked else None


def span_of(cell: str) -> UnitRange | None:
    """The range of quantities that a cell says, None if it says none or no unit."""
    plain = caseless(cell)
    if match := _BETWEEN.search(plain):
        unit = _UNIT_OF.get(match.group(5) or match.group(2) or "")
        low, high = sorted((_number(match.group(3)), _number(match.group(4))))
        return UnitRange(unit, low, high, above=match.group(1) in _WITHOUT_END) if unit else None
    if match := _MOST.search(plain):
        unit = _UNIT_OF.get(match.group(4) or match.group(2) or "")
        return UnitRange(unit, None, _number(match.group(3)), under=match.group(1) in _OPEN_TOP) if unit else None
    if match := _LEAST.search(plain):
        unit = _UNIT_OF.get(match.group(4) or match.group(2) or "")
        return UnitRange(unit, _number(match.group(3)), None, above=match.group(1) in _WITHOUT_END) if unit else None
    return None


def _number(text: str) -> float:
    return float(text.replace(",", "") if _THOUSANDS.fullmatch(text) else text.replace(",", "."))


_THOUSANDS = re.compile(r"\d+,\d{3}")


def _held(cell: str, calendar: dict[str, int], size: int) -> set[int]:
    """Months or days that a cell names, those between two ends among them."""
    held: set[int] = set()
    last: tuple[int, int] | None = None
    for match in _WORD.finditer(cell):
        number = calendar.get(match.group(), calendar.get(match.group().removesuffix("s")))
        if number is None:
            continue
        held.add(number)
        if last is not None and _TO.match(cell[last[1] : match.start()]):
            held |= {(last[0] + step) % size for step in range((number - last[0]) % size)}
        last = (number, match.end())
    return held
