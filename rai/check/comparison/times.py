"""The comparison of dates and of times: whether two are the same. Nothing here looks at what they are the date or the time of."""

from __future__ import annotations

import re
from datetime import date

from rai.claims.found import Found
from rai.claims.times import weekdays, zones
from rai.claims.times.dates import coarser

_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_DAY_MINUTES = 24 * 60


def same_date(claim: Found, other: Found, around: str) -> bool:
    """True if `other`, of a source, says the date that `claim` says, or a finer one: 5 May 2026 holds May 2026.

    Days of the week: a day is held by a set with it, a set by the same set, by every day, or by a line (`around`) that names
    each of its days. A year that the source's date lacks, or a weekday, must stand in the line.
    """
    mine = set(claim.forms)
    theirs = set(other.forms).union(*(coarser(form) for form in other.forms))
    if mine & theirs:
        return True
    if any(_DAY.fullmatch(form) and f"-{form[4:]}" in theirs and form[:4] in around for form in mine):
        return True
    return any(_weekday_holds(form, other, around) for form in mine)


def _weekday_holds(form: str, other: Found, around: str) -> bool:
    wanted = weekdays.days_of(form)
    if wanted:
        if len(wanted) > 1:
            return _days_hold(wanted, other, around)
        return any(_falls_on(theirs, *wanted) and wanted <= _named(around) for theirs in other.forms)
    match = re.fullmatch(r"(--\d\d-\d\d)-W-(\d)", form)
    # "Tuesday, 5 May": the source names the day apart from its date
    return match is not None and match[1] in other.forms and int(match[2]) in _named(around)


def _days_hold(wanted: frozenset[int], other: Found, around: str) -> bool:
    theirs = frozenset().union(*(weekdays.days_of(form) for form in other.forms))
    if wanted == theirs or len(theirs) == 7 or not theirs & wanted:
        return wanted == theirs or len(theirs) == 7
    return wanted <= _named(around) or wanted <= _within(wanted, around)


def _within(wanted: frozenset[int], line: str) -> frozenset[int]:
    """The days of all sets in a line that lie within `wanted`: "Sunday to Thursday 9-17, Friday and Saturday 9-20" names each day."""
    every = (weekdays.days_of(f.value) for f in weekdays.find(line))
    return frozenset().union(*(days for days in every if days <= wanted))


def _falls_on(form: str, weekday: int) -> bool:
    return bool(_DAY.fullmatch(form)) and date.fromisoformat(form).isoweekday() == weekday


def _named(line: str) -> frozenset[int]:
    """The days that a line names one by one; Monday to Friday names none."""
    every = (weekdays.days_of(f.value) for f in weekdays.find(line))
    return frozenset().union(*(days for days in every if len(days) == 1))


def same_time(claim: Found, other: Found) -> bool:
    """True if two times of the day are the same: 14:00 UTC is 15:00 CET, and a time without a zone agrees with that time in any.

    The second reading of "10:00", 22:00, counts only if one side says a.m. or p.m.: hours on a 24-hour clock are said in full.
    """
    if _same_instant(claim.value, other.value):
        return True
    if not (claim.half_given or other.half_given):
        return False
    return any(_same_instant(mine, theirs) for mine in claim.forms for theirs in other.forms)


def _same_instant(mine: str, theirs: str) -> bool:
    clock, _, zone = mine.partition(" ")
    other_clock, _, other_zone = theirs.partition(" ")
    if not zone or not other_zone or zone == other_zone:
        return clock == other_clock
    pairs = zip(zones.offsets(zone), zones.offsets(other_zone), strict=True)
    apart = _minutes(clock) - _minutes(other_clock)
    # both names must be in use in the same season: summer time in New York is never winter time in Chicago
    return any(a is not None and b is not None and (apart - a + b) % _DAY_MINUTES == 0 for a, b in pairs)


def _minutes(clock: str) -> int:
    hours, _, minutes = clock.partition(":")
    return int(hours) * 60 + int(minutes)
