"""Ways to work out days, spans and times: 21 days after 14 November, until the end of the year, from 9:00 for two hours.

Days, weeks, months and years are those of the calendar (a month after 31 January is the last day of February); business days are
Monday to Friday or to Saturday, without holidays, which no source tells. Days are counted from the day after the one that is named;
working days also from the day itself, for texts do both.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import lru_cache
from itertools import permutations

from rai.check.operands import Operand, amount_of, unit_of
from rai.check.working.terms import SAID
from rai.claims.found import Found
from rai.claims.times import weekdays

_DAY = re.compile(r"(\d{4}|-)-(\d\d)-(\d\d)")
_DAY_AND_WEEKDAY = re.compile(r"--(\d\d)-(\d\d)-W-(\d)")
_NEAR_YEARS = (*range(2024, 2036), *range(2012, 2024))
_MONTH = re.compile(r"(\d{4}|-)-(\d\d)")
_WEEKDAY = re.compile(r"-W-([1-7])(?!/)")
FARTHEST = 1.6
"""How far (`Operand.far`) a day may be that the answer counts from."""
LONGEST_SPAN = 40_000
"""The largest number of a span, of whatever unit; no customer is told a larger one."""
_IN_DAYS = {"day": 1, "night": 1, "week": 7}
MINUTES = {"minute": 1, "hour": 60}
"""Minutes of a unit of time."""
ROUND_THE_CLOCK = 24 * 60
"""Minutes of a day."""


@dataclass(frozen=True, slots=True)
class Reckoned:
    """A calculation that gives a value: its operands, how it is written ("14 November + 21 days"), and its cost as of `terms.FormulaTerm`."""

    operands: tuple[Operand, ...]
    written: str
    cost: float


def days_of(found: Found, years: Sequence[int]) -> tuple[date, ...]:
    """The days of the calendar that a date may be, in any of its readings. `years`: those that a day without a year may be in."""
    days = []
    for form in found.forms:
        match = _DAY.match(form)
        if match is None:
            continue
        for year in years if match[1] == "-" else (int(match[1]),):
            try:
                days.append(date(year, int(match[2]), int(match[3])))
            except ValueError:
                continue
    return tuple(days)


def years_of(operands: Sequence[Operand], found: Found | None = None) -> tuple[int, ...]:
    """The years to reckon in: those of the operands, else those their weekdays tell, else that of `found`; else 2027 and 2028, a common and a leap year."""
    forms = (form for operand in operands for form in operand.found.forms)
    named = {int(m[0]) for form in forms if (m := re.match(r"[12]\d{3}(?=-|$)", form))}
    own = {int(m[0]) for f in (found.forms if found else ()) if (m := re.match(r"[12]\d{3}(?=-|$)", f))}
    return tuple(sorted(named)) or _years_of_weekdays(operands) or tuple(own) or (2027, 2028)


def _years_of_weekdays(operands: Sequence[Operand]) -> tuple[int, ...]:
    """The first two years of `_NEAR_YEARS` in which all days that are named with their weekday fall on it: Wednesday, 4 March is of 2026."""
    named = [m for o in operands for f in o.found.forms if (m := _DAY_AND_WEEKDAY.match(f))]
    years = [y for y in _NEAR_YEARS if all(_falls(y, m) for m in named)] if named else []
    return tuple(years[:2])


def _falls(year: int, named: re.Match[str]) -> bool:
    try:
        return date(year, int(named[1]), int(named[2])).isoweekday() == int(named[3])
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class DaySentence:
    """What the sentence of a day says of it. `beside`: it is the day before or after another; `ends`: it is the first or last of a month;
    `lasts`: it ends a term; `next_to`: the days that it may lie next to without such a word, as the 6th of "from the 7th".
    """

    beside: bool = False
    ends: bool = False
    lasts: bool = False
    next_to: frozenset[Operand] = frozenset()


def day_ways(found: Found, operands: Sequence[Operand], told: DaySentence) -> Iterator[Reckoned]:
    """Ways to a day, month or weekday: a day moved by one span or two, the last day of a month, the nearest day of a named weekday.

    As `told` says also the day before or after another, the first or last of its month, the last day of a term.
    """
    beside, ends = told.beside, told.ends
    years = years_of(operands, found)
    spans = [o for o in operands if o.found.kind == "quantity" and is_span(o.found)]
    yield from _twice(
        found, operands, [s for s in spans if s.far < SAID and not unit_of(s.found).startswith(RANKED)][:6], years
    )
    for start in operands:
        if start.found.kind != "date" or start.far > FARTHEST:
            continue
        for day in (*days_of(start.found, years), *_ends_of(start.found, years)):
            yield from _after_spans(found, start, day, spans)
            if told.lasts:
                yield from _ends_of_terms(found, start, day, spans)
            yield from _on_weekdays(
                found, start, day, operands if beside else [o for o in operands if o.far < SAID_HERE]
            )
            for reached, words in _beside(day) if beside or start in told.next_to else ((day, ""),):
                if says(found, reached) and not found.shares_form(start.found):
                    yield Reckoned((start,), f"{words} {start.text}".strip(), start.far + 0.75)
        yield from _of_month(found, start, years, ends=ends)


def _after_spans(found: Found, start: Operand, day: date, spans: Sequence[Operand]) -> Iterator[Reckoned]:
    for span in spans:
        for reached in moved_by(day, span.found):
            if says(found, reached):
                sign = "+" if reached > day else "-"
                yield Reckoned((start, span), f"{start.text} {sign} {span.text}", start.far + span.far + 0.25)


def _ends_of_terms(found: Found, start: Operand, day: date, spans: Sequence[Operand]) -> Iterator[Reckoned]:
    """Ways to the last day of a term: twelve months that begin on 15 April end on 14 April."""
    for span in spans:
        if unit_of(span.found) not in ("month", "year", "week"):
            continue
        for reached in moved_by(day, span.found):
            # what names its weekday is the last of these in the term: the last Wednesday of eight weeks
            back = range(1, 8) if _DAY_AND_WEEKDAY.match(found.value) else (1,)
            last = next((d for b in back if (d := by_days(reached, -b)) and says(found, d)), None)
            if reached > day and last:
                written = f"{start.text} + {span.text}, the day before"
                yield Reckoned((start, span), written, start.far + span.far + 0.35)


SAID_HERE = 0.3
"""An operand that is less far (`Operand.far`) is said in the sentence of the value or next to it."""


def _on_weekdays(found: Found, start: Operand, day: date, operands: Sequence[Operand]) -> Iterator[Reckoned]:
    """Ways to the nearest day of a weekday that is named: the Saturday before a day."""
    for other in operands:
        for weekday in weekdays_named(other.found):
            for reached, words in _nearest(day, weekday):
                if says(found, reached):
                    near = start.far < SAID_HERE and abs((reached - day).days) == 1
                    cost = min(start.far + other.far + 0.1, _NEXT_DAY) if near else start.far + other.far + 0.1
                    yield Reckoned((start, other), f"{other.text} {words} {start.text}", cost)


_NEXT_DAY = 1.2
"""The most that the next day costs where its weekday is named too: Saturday, 27 December after the 26th."""


def _twice(
    found: Found, operands: Sequence[Operand], spans: Sequence[Operand], years: Sequence[int]
) -> Iterator[Reckoned]:
    """Ways to a day by two spans one after the other: six months from 1 November, and six weeks more."""
    for start in (o for o in operands if o.found.kind == "date" and o.far <= FARTHEST):
        for day in days_of(start.found, years):
            for first, then in permutations(spans, 2):
                for halfway in moved_by(day, first.found):
                    if halfway > day and any(says(found, d) for d in moved_by(halfway, then.found) if d > halfway):
                        cost = start.far + first.far + then.far + 0.5
                        yield Reckoned((start, first, then), f"{start.text} + {first.text} + {then.text}", cost)


def _ends_of(found: Found, years: Sequence[int]) -> Iterator[date]:
    """The last day of a month that is named without a day."""
    for form in found.forms:
        match = _MONTH.fullmatch(form)
        if match is None:
            continue
        for year in years if match[1] == "-" else (int(match[1]),):
            yield date(year, int(match[2]), monthrange(year, int(match[2]))[1])


def weekdays_named(found: Found) -> Iterator[int]:
    """The weekday that a date names by itself, 1 for Monday; nothing of any other value."""
    match = _WEEKDAY.fullmatch(found.value) if found.kind == "date" else None
    if match:
        yield int(match[1])


def _nearest(day: date, weekday: int) -> Iterator[tuple[date, str]]:
    """The days of this name just before and just after a day; of a day that has this name itself none: that is a week's slip."""
    back = (day.isoweekday() - weekday) % 7
    for days, words in ((-back, "before"), (7 - back, "after")) if back else ():
        moved = by_days(day, days)
        if moved:
            yield moved, words


def is_span(found: Found) -> bool:
    """True of a span of hours or longer, up to `LONGEST_SPAN`."""
    amount = amount_of(found)
    return (
        amount is not None
        and 0 < amount <= LONGEST_SPAN
        and unit_of(found).rpartition(" ")[2] in (*_IN_DAYS, "hour", "month", "year")
    )


def moved_by(start: date, span: Found) -> tuple[date, ...]:
    """The days that lie a span after and before `start`; of working days all that may be meant, () of a span of no whole days."""
    return _moved(start, span.value)


@lru_cache(maxsize=16384)
def _moved(start: date, value: str) -> tuple[date, ...]:
    span = Found("quantity", 0, 0, value)
    amount = amount_of(span)
    return tuple(_movements(start, amount, unit_of(span))) if amount is not None else ()


def _movements(start: date, amount: Decimal, unit: str) -> Iterator[date]:
    for sign in (1, -1):
        if unit in ("month", "year"):
            months = amount * (12 if unit == "year" else 1)
            moved = by_months(start, sign * int(months)) if months == int(months) else None
            if moved:
                yield moved
        elif unit in _IN_DAYS and amount * _IN_DAYS[unit] == int(amount * _IN_DAYS[unit]):
            moved = by_days(start, sign * int(amount * _IN_DAYS[unit]))
            if moved:
                yield moved
        elif unit == "hour" and amount % 24 == 0:
            moved = by_days(start, sign * int(amount) // 24)
            if moved:
                yield moved
        elif unit.removeprefix(RANKED).startswith(("business", "working")) and amount == int(amount) and amount <= 400:
            per = 5 if unit.endswith("week") else 1
            yield from _working(start, sign * int(amount) * per, itself=not unit.startswith(RANKED))


RANKED = "ranked "
"""What stands before the unit of a span that is told as a rank: the fifth working day after another counts from the day behind that."""


def by_days(start: date, days: int) -> date | None:
    """The day `days` after `start`, before it if negative; None beyond the calendar."""
    try:
        return start + timedelta(days=days)
    except OverflowError:
        return None


def by_months(start: date, months: int) -> date | None:
    """The day `months` after `start`, before it if negative, at the latest the last of its month; None beyond the calendar."""
    year, month = divmod(start.year * 12 + start.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        return None
    return date(year, month + 1, min(start.day, monthrange(year, month + 1)[1]))


def _working(start: date, count: int, *, itself: bool) -> Iterator[date]:
    """The count-th working day after `start`, with `itself` also with the day itself counted, in weeks of five and of six days."""
    step = timedelta(days=1 if count > 0 else -1)
    for week in (5, 6):
        day, left = start, abs(count)
        reached = {left, left - 1 if itself and day.isoweekday() <= week and left > 0 else left}
        passed = 0
        for _ in range(3 * abs(count) + 14):
            if passed in reached:
                yield day
            if passed >= left:
                break
            day += step
            passed += day.isoweekday() <= week


def _beside(day: date) -> Iterator[tuple[date, str]]:
    for days, words in ((0, ""), (1, "the day after"), (-1, "the day before")):
        moved = by_days(day, days)
        if moved:
            yield moved, words
    if day.isoweekday() in (1, 6, 7):
        before = by_days(day, -(day.isoweekday() % 7 + 2 if day.isoweekday() != _SATURDAY else 1))
        if before:
            yield before, "the working day before"
    if day.isoweekday() >= 5:  # the working day after a Friday or Saturday
        following = by_days(day, 8 - day.isoweekday())
        if following:
            yield following, "the working day after"


_SATURDAY = 6


def _of_month(found: Found, start: Operand, years: Sequence[int], *, ends: bool) -> Iterator[Reckoned]:
    """Ways to the first or last day of a month that is named, where the sentence says so (`ends`)."""
    for form in start.found.forms:
        match = _MONTH.match(form)
        if match is None:
            continue
        for year in years if match[1] == "-" else (int(match[1]),):
            last = date(year, int(match[2]), monthrange(year, int(match[2]))[1])
            if ends and not found.shares_form(start.found) and (says(found, last) or says(found, last.replace(day=1))):
                yield Reckoned((start,), f"end of {start.text}", start.far + 0.75)


def says(found: Found, day: date) -> bool:
    """True if the value names `day`: whole, without its year, as its month, or as its weekday."""
    iso = day.isoformat()
    for form in found.forms:
        dated = _DAY.match(form)
        if dated:
            if form[:10] == iso or (dated[1] == "-" and form[1:7] == iso[4:]):
                named = _WEEKDAY.search(form)
                if named is None or int(named[1]) == day.isoweekday():
                    return True
        elif form in (iso[:7], f"-{iso[4:7]}", iso[:4]) or (
            _WEEKDAY.fullmatch(form) and weekdays.days_of(form) == frozenset({day.isoweekday()})
        ):
            return True
    return False


def span_ways(found: Found, operands: Sequence[Operand]) -> Iterator[Reckoned]:
    """Ways to a span: from one day, year or time that is named to another."""
    amount, unit = amount_of(found), unit_of(found)
    if amount is None or amount <= 0:
        return
    if unit in MINUTES:
        times = [o for o in operands if o.found.kind == "time"]
        for a in times:
            for b in times:
                if a is not b and any(m == amount * MINUTES[unit] for m in _apart(a.found, b.found)):
                    yield Reckoned((a, b), f"{a.text} to {b.text}", a.far + b.far + 0.25)
        return
    if unit == "year":
        yield from _years_apart(amount, operands)
    years = years_of(operands)
    days = [(o, d) for o in operands if o.found.kind == "date" for d in days_of(o.found, years)]
    for first, begin in days:
        for last, end in days:
            if first is not last and begin < end and _lasts(begin, end, unit, amount):
                together = first.passage == last.passage != 0
                cost = _IN_ONE_PLACE if together and unit != "day" else first.far + last.far + 0.25
                yield Reckoned((first, last), f"{first.text} to {last.text}", cost)


_IN_ONE_PLACE = 0.9
"""The cost of a span between two days that stand in one passage of a source: "21 September to 11 December"."""


def _years_apart(amount: object, operands: Sequence[Operand]) -> Iterator[Reckoned]:
    alone = [
        (o, int(o.found.value))
        for o in operands
        if o.found.kind == "date" and re.fullmatch(r"[12]\d{3}", o.found.value)
    ]
    for (a, first), (b, last) in permutations(alone, 2):
        if last - first == amount:
            yield Reckoned((a, b), f"{a.text} to {b.text}", a.far + b.far + 0.25)


def _lasts(begin: date, end: date, unit: str, amount: object) -> bool:
    between = (end - begin).days
    if unit in ("day", "night"):
        return amount in (between - 1, between, between + 1)
    if unit == "week":
        weeks = any(days % 7 == 0 and amount == days // 7 for days in (between, between + 1))
        return weeks or (between % 7 >= _MOST_OF_A_WEEK and amount == between // 7 + 1)
    if unit in ("month", "year"):
        months = (end.year - begin.year) * 12 + end.month - begin.month
        whole = {months} if by_months(begin, months) == end else {months, months - 1}
        return amount in (whole if unit == "month" else {m // 12 for m in whole if m % 12 == 0})
    return False


_MOST_OF_A_WEEK = 4
"""Days from a Monday to a Friday: a term that ends on one has that week whole."""


def _apart(first: Found, last: Found) -> set[int]:
    return {(b - a) % ROUND_THE_CLOCK for a in minutes_of(first) for b in minutes_of(last)}


def minutes_of(found: Found) -> set[int]:
    """The minutes since midnight of a time, in each of its readings."""
    return {int(f[:2]) * 60 + int(f[3:5]) for f in found.forms if re.match(r"\d\d:\d\d", f)}


def time_ways(found: Found, operands: Sequence[Operand]) -> Iterator[Reckoned]:
    """Ways to a time of day: another one moved by hours or minutes."""
    mine = minutes_of(found)
    spans = [o for o in operands if o.found.kind == "quantity" and unit_of(o.found) in MINUTES]
    for start in (o for o in operands if o.found.kind == "time"):
        for span in spans:
            amount = amount_of(span.found)
            if amount is None:
                continue
            minutes = int(amount * MINUTES[unit_of(span.found)])
            for clock in minutes_of(start.found):
                for sign, moved in (("+", clock + minutes), ("-", clock - minutes)):
                    if moved % ROUND_THE_CLOCK in mine:
                        yield Reckoned((start, span), f"{start.text} {sign} {span.text}", start.far + span.far + 0.25)
