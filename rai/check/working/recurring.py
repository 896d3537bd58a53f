"""Ways to days and times of what recurs or runs on: the last of ten weekly lessons, Friday three days after Tuesday, every 30 minutes from 08:52."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rai.check.operands import Operand, amount_of, unit_of
from rai.check.working.calendar import (
    FARTHEST,
    MINUTES,
    ROUND_THE_CLOCK,
    SAID_HERE,
    Reckoned,
    by_days,
    by_months,
    days_of,
    is_span,
    minutes_of,
    moved_by,
    says,
    weekdays_named,
    years_of,
)
from rai.claims.found import Found

MOST_STARTS = 8
"""Most days from which a span is added several times, the nearest first."""


@dataclass(frozen=True, slots=True)
class Series:
    """Meetings or payments that recur. `count`: how many there are; `unit`: "week" or "month", one in each; `breaks`: whether some are left out; `least`: how many are at least, 1 where
    the sentence itself says so; `off`: days on which there is none.
    """

    count: Operand
    unit: str
    breaks: bool
    least: int = 0
    off: tuple[Found, ...] = ()


def recurring_ways(found: Found, operands: Sequence[Operand], series: Sequence[Series]) -> Iterator[Reckoned]:
    """Ways to a day: a span that is added several times, days of the week that follow each other, the last of a series."""
    years = years_of(operands, found)
    spans = [o for o in operands if o.found.kind == "quantity" and is_span(o.found)]
    yield from _several_spans(found, operands, spans, years)
    yield from _weekdays_later(found, operands, spans)
    yield from _overnight(found, operands)
    yield from _last_of_series(found, operands, series, years)


def _several_spans(
    found: Found, operands: Sequence[Operand], spans: Sequence[Operand], years: Sequence[int]
) -> Iterator[Reckoned]:
    """Ways to a day by a span that is added several times: renewable twice by 28 days."""
    times = [(o, o.amount) for o in operands if o.far < SAID_HERE and o.found.kind in ("number", "quantity")]
    counts = [(o, int(n)) for o, n in times if n is not None and n in range(2, 7) and not is_span(o.found)]
    starts = [o for o in operands if o.found.kind == "date" and o.far <= FARTHEST][:MOST_STARTS]
    for count, n in counts[:3]:
        for span in spans[:6]:
            amount = amount_of(span.found)
            longer = span.found if amount is None else replace(span.found, value=f"{n * amount} {unit_of(span.found)}")
            for start in starts:
                if any(says(found, d) for day in days_of(start.found, years) for d in moved_by(day, longer) if d > day):
                    written = f"{start.text} + {count.text} × {span.text}"
                    yield Reckoned((start, count, span), written, start.far + span.far + 0.5)


def _weekdays_later(found: Found, operands: Sequence[Operand], spans: Sequence[Operand]) -> Iterator[Reckoned]:
    """Ways to a weekday some days before or after another: Friday, three days or 72 hours after Tuesday."""
    wanted = tuple(weekdays_named(found))
    if not wanted:
        return
    for start in operands:
        for first in weekdays_named(start.found):
            for span in spans:
                for days in _whole_days(span.found, first):
                    if (first + days - 1) % 7 + 1 in wanted and first not in wanted:
                        yield Reckoned((start, span), f"{start.text} + {span.text}", start.far + span.far + 0.25)
                    elif (first - days - 1) % 7 + 1 in wanted and first not in wanted:
                        yield Reckoned((start, span), f"{start.text} - {span.text}", start.far + span.far + 0.25)


def _overnight(found: Found, operands: Sequence[Operand]) -> Iterator[Reckoned]:
    """Ways to a weekday by hours from a time of day: four hours from 22:10 on Friday are over on Saturday."""
    wanted = tuple(weekdays_named(found))
    hours = [o for o in operands if o.found.kind == "quantity" and unit_of(o.found) in MINUTES]
    clocks = [o for o in operands if o.found.kind == "time" and o.far < 1]
    for start in operands if wanted else ():
        for first in weekdays_named(start.found):
            for clock in clocks[:4]:
                for span in hours[:6]:
                    amount = amount_of(span.found) or 0
                    for minute in minutes_of(clock.found) if 0 < amount <= _LONG_NIGHT else ():
                        days = int(minute + amount * MINUTES[unit_of(span.found)]) // ROUND_THE_CLOCK
                        if days and (first + days - 1) % 7 + 1 in wanted:
                            written = f"{start.text} {clock.text} + {span.text}"
                            yield Reckoned((start, clock, span), written, start.far + clock.far + span.far + 0.25)


_LONG_NIGHT = 5000
"""The largest number of hours or minutes that are added so."""


def _whole_days(span: Found, first: int) -> Iterator[int]:
    """The days of a span of a fortnight at most, counted from weekday `first` on; working days are those of a week of five."""
    amount, unit = amount_of(span), unit_of(span)
    if amount is None or amount != int(amount):
        return
    count = int(amount)
    if unit in ("day", "night") and count <= _FORTNIGHT:
        yield count
    elif unit == "hour" and count % 24 == 0 and count <= 24 * _FORTNIGHT:
        yield count // 24
    elif unit in ("business day", "working day") and count <= _FORTNIGHT and first <= _LAST_WORKING:
        weeks, rest = divmod(first - 1 + count, _LAST_WORKING)
        yield 7 * weeks + rest - (first - 1)


_FORTNIGHT = 14
_LAST_WORKING = 5
"""Friday."""


def _last_of_series(
    found: Found, operands: Sequence[Operand], series: Sequence[Series], years: Sequence[int]
) -> Iterator[Reckoned]:
    """Ways to the day of the last of a series: of ten lessons, one a week from 23 April; a week or two later where some are left out."""
    for each in series:
        amount = each.count.amount
        if amount is None or amount != int(amount) or not 2 <= amount <= _MOST_MEETINGS:
            continue
        for start in (o for o in operands if o.found.kind == "date" and o.far <= FARTHEST):
            for day in days_of(start.found, years):
                for extra in range(each.least, _MOST_BREAKS + 1) if each.breaks else (0,):
                    times = int(amount) - 1 + extra
                    last = by_days(day, 7 * times) if each.unit == "week" else by_months(day, times)
                    if last is None or not says(found, last) or found.shares_form(start.found):
                        continue
                    missed = {d for o in each.off for d in days_of(o, (day.year, last.year))}
                    if sum(day < d < last and d.isoweekday() == day.isoweekday() for d in missed) == (
                        extra if each.off else 0
                    ):
                        written = f"{start.text} + {times} {each.unit}s"
                        yield Reckoned((start, each.count), written, min(start.far, 1.0) + 0.25 + 0.25 * extra)


_MOST_MEETINGS = 60
_MOST_BREAKS = 2
"""Most weeks or months that are left out."""


def timetable_ways(found: Found, operands: Sequence[Operand], intervals: Sequence[Operand]) -> Iterator[Reckoned]:
    """Ways to a time of a timetable: 09:22 of "08:52, then every 30 minutes until 20:52".

    `intervals`: spans of which a source says that something happens every so long.
    """
    mine = minutes_of(found)
    times = [o for o in operands if o.found.kind == "time"]
    for every in intervals:
        amount = amount_of(every.found)
        step = int(amount * MINUTES[unit_of(every.found)]) if amount and unit_of(every.found) in MINUTES else 0
        for start in (o for o in times if step and o.passage == every.passage != 0):
            for clock in minutes_of(start.found):
                if any(clock < minute and (minute - clock) % step == 0 for minute in mine):
                    yield Reckoned((start, every), f"{start.text} + n × {every.text}", _TIMETABLE)


_TIMETABLE = 1.5
"""The cost of a time of a timetable."""
