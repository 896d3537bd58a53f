"""Dates and spans of time that an answer worked out: 30 days after 5 May, from 2026 for three years, between two dates.

Days, weeks, months and years are those of the calendar; a month after 31 January is the last day of February. Business
days depend on holidays that no source tells, and are not reckoned with.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator, Sequence
from datetime import date, timedelta

from rai.claims import zones
from rai.claims.found import Found
from rai.records import Claim
from rai.support.operands import CLOSEST, Desk, Operand, asked, evidence, in_sources, said_here
from rai.support.setting import Finding

_LATER = re.compile(
    r"\b(?:after|from|later|until|till|by|ends?|ended|ending|expir\w*|valid|through|due|deadline|latest|last|renew\w*|"
    r"runs?|starts?|back|return\w*|arriv\w*|within)\b",
    re.IGNORECASE,
)
_EARLIER = re.compile(r"\b(?:before|prior|earlier|ahead|advance|notice|latest|by)\b", re.IGNORECASE)
_LASTS = re.compile(
    r"\b(?:lasts?|lasted|for|between|long|duration|total|runs?|takes?|took|left|until|remain\w*|open|later|after|apart|"
    r"old|aged?|from|stay|valid)\b",
    re.IGNORECASE,
)
_INCLUSIVE = re.compile(r"\b(?:inclusive|through|lasts?|runs?|both days)\b", re.IGNORECASE)
_SPANS = ("day", "week", "month", "year")
_YEAR = re.compile(r"[0-9]{4}")
"""A year alone; a month without one is as long ("--03"), and so is a decade ("199X")."""
_LAST_YEAR = 9999
_DAY_MINUTES = 24 * 60


def worked_out_date(claim: Claim, desk: Desk) -> Finding | None:
    """A day or year that lies a span of time after or before another, where the sentence says one of the two at least."""
    later, earlier = _LATER.search(desk.spot.sentence), _EARLIER.search(desk.spot.sentence)
    if not (later or earlier):
        return None
    for start, span in _starts_and_spans(desk):
        for sign in (1 if later else 0, -1 if earlier else 0):
            reached = _moved(start.found, span.found, sign) if sign else None
            if reached and _same_day(reached, desk.found):
                why = f"{start.text} {'+' if sign > 0 else '-'} {span.text} = {claim.text}"
                return Finding("derived", evidence((start, span)), why)
    return None


def _starts_and_spans(desk: Desk) -> Iterator[tuple[Operand, Operand]]:
    """Pairs of a date and a span, one of which the answer or the question says, or which alone stand in one sentence."""
    said = [*said_here(desk), *asked(desk)]
    dates, spans = [o for o in said if _is_date(o.found)], [o for o in said if _is_span(o.found)]
    source_dates = in_sources(desk, _is_date, CLOSEST)
    source_spans = in_sources(desk, _is_span, CLOSEST)
    pairs = [(d, s) for d in dates for s in (*spans, *source_spans)] + [(d, s) for d in source_dates for s in spans]
    alone = [(d, s) for d in source_dates for s in source_spans if _together(d, s)]
    for start, span in (*pairs[: CLOSEST * CLOSEST], *alone):
        if start.place or span.place:
            yield start, span


def _together(first: Operand, second: Operand) -> bool:
    a, b = first.place, second.place
    return a is not None and b is not None and a.source == b.source and a.unit.start == b.unit.start


def _is_date(found: Found) -> bool:
    return found.kind == "date" and re.match(r"\d{4}|--", found.value) is not None and len(found.forms) == 1


def _is_span(found: Found) -> bool:
    return found.kind == "quantity" and found.value.partition(" ")[2] in (*_SPANS, "night") and found.value[0] != "-"


def _moved(start: Found, span: Found, sign: int) -> str | None:
    number, _, unit = span.value.partition(" ")
    if not number.isdigit() or int(number) > _LAST_YEAR:
        return None
    steps = int(number) * sign
    if _YEAR.fullmatch(start.value):
        year = int(start.value) + steps
        return f"{year:04d}" if unit == "year" and 0 < year <= _LAST_YEAR else None
    yearless = start.value.startswith("--")
    # a day of no year is moved in a common and in a leap year, and must come out alike
    years = ("2026", "2027", "2028") if yearless else ("",)
    results = {_shifted(f"{y}{start.value[1:]}" if y else start.value, steps, unit) for y in years}
    ends = {f"-{r[4:]}" if r and yearless else r for r in results}
    return ends.pop() if len(ends) == 1 else None


def _shifted(value: str, steps: int, unit: str) -> str | None:
    if re.fullmatch(r"\d{4}-\d{2}", value):
        moved = (
            _months(date.fromisoformat(f"{value}-01"), _in_months(steps, unit)) if unit in ("month", "year") else None
        )
        return moved.isoformat()[:7] if moved else None
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", value):
        return None
    try:
        start = date.fromisoformat(value)
        if unit in ("month", "year"):
            moved = _months(start, _in_months(steps, unit))
            return moved.isoformat() if moved else None
        return (start + timedelta(days=steps * (7 if unit == "week" else 1))).isoformat()
    except (ValueError, OverflowError):
        return None


def _in_months(steps: int, unit: str) -> int:
    return steps * (12 if unit == "year" else 1)


def _months(start: date, steps: int) -> date | None:
    at = start.year * 12 + start.month - 1 + steps
    year, month = divmod(at, 12)
    if not 0 < year <= _LAST_YEAR:
        return None
    return date(year, month + 1, min(start.day, monthrange(year, month + 1)[1]))


def _same_day(reached: str, claimed: Found) -> bool:
    forms = claimed.forms
    return reached in forms or f"-{reached[4:]}" in forms


def worked_out_span(claim: Claim, desk: Desk) -> Finding | None:
    """Days, weeks, months or years between two dates, hours between two times, that one sentence holds."""
    number, _, unit = desk.found.value.partition(" ")
    near = f"{desk.spot.before[-60:]} {desk.spot.after[:60]}"
    if desk.found.kind != "quantity" or not number.isdigit() or not _LASTS.search(near):
        return None
    inclusive = _INCLUSIVE.search(near) is not None
    for first, last in _ends(desk, unit):
        lengths = _length(first.found, last.found, unit, inclusive=inclusive)
        if int(number) in lengths and (first.place or last.place):
            why = f"{last.text} - {first.text} = {claim.text}"
            return Finding("derived", evidence((first, last)), why)
    return None


def _ends(desk: Desk, unit: str) -> Iterator[tuple[Operand, Operand]]:
    """Two dates or times that the sentence says, or that alone stand in one sentence of a source."""

    def wanted(found: Found) -> bool:
        if unit in ("hour", "minute"):
            return found.kind == "time" and found.value != "24/7"
        return _is_date(found)

    said = [o for o in (*said_here(desk), *asked(desk)) if wanted(o.found)]
    if len(said) == 2:
        yield said[0], said[1]
    by_unit: dict[tuple[str, int], list[Operand]] = {}
    for operand in in_sources(desk, wanted):
        if operand.place:
            by_unit.setdefault((operand.place.source.id, operand.place.unit.start), []).append(operand)
    for pair in [u for u in by_unit.values() if len(u) == 2][:CLOSEST]:
        yield _in_order(pair)
    if len(said) == 1:
        yield from (_in_order((said[0], o)) for o in in_sources(desk, wanted, 1))


def _in_order(pair: Sequence[Operand]) -> tuple[Operand, Operand]:
    first, last = sorted(pair, key=lambda o: o.found.value)
    return (first, last) if first.context is not last.context or first.found.kind == "date" else _as_said(pair)


def _as_said(pair: Sequence[Operand]) -> tuple[Operand, Operand]:
    first, last = sorted(pair, key=lambda o: o.start)
    return first, last


def _length(first: Found, last: Found, unit: str, *, inclusive: bool) -> set[int]:
    """How many of `unit` lie between; of days that an event lasts, both ends count."""
    if unit in ("hour", "minute"):
        lengths = {m % _DAY_MINUTES for m in _minutes_between(first.value, last.value)}
        return lengths if unit == "minute" else {m // 60 for m in lengths if m % 60 == 0}
    if unit == "year" and _YEAR.fullmatch(first.value) and _YEAR.fullmatch(last.value):
        return {int(last.value) - int(first.value)}
    begin, end = _day(first.value, last.value), _day(last.value, first.value)
    if begin is None or end is None or end <= begin:
        return set()
    days = (end - begin).days
    if unit in ("day", "night"):
        return {days + 1} if inclusive and unit == "day" else {days}
    if unit == "week":
        return {days // 7} if days % 7 == 0 else set()
    months = (end.year - begin.year) * 12 + end.month - begin.month
    if _months(begin, months) != end:
        return set()
    return {months} if unit == "month" else ({months // 12} if months % 12 == 0 else set())


def _minutes_between(first: str, last: str) -> set[int]:
    """Minutes from one time of day to another, across zones if both are said; two if the season decides, none if no day has both."""
    (clock, _, zone), (other_clock, _, other_zone) = first.partition(" "), last.partition(" ")
    apart = _minutes(other_clock) - _minutes(clock)
    if not zone or not other_zone or zone == other_zone:  # a time without a zone is taken to be of the other's
        return {apart}
    pairs = zip(zones.offsets(zone), zones.offsets(other_zone), strict=True)
    return {apart + a - b for a, b in pairs if a is not None and b is not None}


def _minutes(clock: str) -> int:
    hours, _, minutes = clock.partition(":")
    return int(hours) * 60 + int(minutes)


def _day(value: str, other: str) -> date | None:
    """A day; one without a year takes that of the other, or a common year if both have none."""
    year = other[:4] if other[:4].isdigit() else "2027"
    whole = f"{year}{value[1:]}" if value.startswith("--") else value
    try:
        return date.fromisoformat(whole) if len(whole) == 10 else None
    except ValueError:
        return None
