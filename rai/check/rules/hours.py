"""Opening hours as they belong together: "from 10:00 to 16:00 on 25 December" stands in no source that has 10:00 on one line and 16:00 on another."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rai.check.answer import Answer
from rai.check.context import Finding
from rai.check.reading.sources import Place, Prepared
from rai.claims.found import Found
from rai.claims.times.weekdays import days_of
from rai.records import Claim

_TO = re.compile(
    r"\s{0,2}(?:(?:uhr|h|hrs?|o'clock)\s{1,2})?(?:-|–|—|to|until|till|til|and|through|bis|und|à|et|a|hasta|alle|e|tot|en|do)\s{0,2}",
    re.IGNORECASE,
)
_NEAR = 32
"""Characters between hours and the day that is said of them."""
_CUT = re.compile(r"[;|\n]|[.!?] ")


def hours_apart(n: int, claim: Claim, finding: Finding, answer: Answer) -> Finding:
    """The doubt about one end of a span of hours that stands in sources, but never on one line with the other end, or there for other days than the answer says."""
    return Finding(
        "unchecked",
        finding.evidence,
        f"Sources have {claim.text}, but not these hours together{_of_the_day(n, answer)}.",
        rule="hours-apart",
    )


def of_these_hours(n: int, places: Sequence[Place], answer: Answer) -> Sequence[Place] | None:
    """Of the places of one end of a span of hours those on a line that has the other end too, for the days that the answer says; None for what is no such end."""
    other = _other_end(n, answer)
    if other is None:
        return None
    lines = {_line(place) for place in answer.standing(other)}
    if not lines:
        return None  # the other end is in no source: that is told of it
    day = _day_of(n, other, answer)
    texts = {text.source.id: text for text in answer.context.sources}
    return [p for p in places if _line(p) in lines and (day is None or _is_of(day, p, texts[p.source.id]))]


def _line(place: Place) -> tuple[str, str, int]:
    return place.source.id, place.unit.field, place.unit.number


def _other_end(n: int, answer: Answer) -> int | None:
    """The number of the time at the other end of the span."""
    values = answer.values
    if values[n].kind != "time":
        return None
    for one, other in ((n - 1, n), (n, n + 1)):
        if one < 0 or other >= len(values) or values[one].kind != "time" or values[other].kind != "time":
            continue
        if _TO.fullmatch(answer.text, values[one].end, values[other].start):
            return one if other == n else other
    return None


def _day_of(n: int, other: int, answer: Answer) -> Found | None:
    """The day that is said right before the span or right behind it."""
    first, last = min(n, other), max(n, other)
    values, text = answer.values, answer.text
    before = values[first - 1] if first else None
    if before is not None and before.kind == "date" and _is_beside(text, before.end, values[first].start):
        return before
    after = values[last + 1] if last + 1 < len(values) else None
    if after is not None and after.kind == "date" and _is_beside(text, values[last].end, after.start):
        return after
    return None


def _is_beside(text: str, start: int, end: int) -> bool:
    return 0 <= end - start <= _NEAR and _CUT.search(text, start, end) is None


def _is_of(day: Found, place: Place, text: Prepared) -> bool:
    """Whether the nearest day before a place on its line, or else none, lets it be of this day: Saturday of "Mon-Sat", no date of "Tue to Fri"."""
    dates = [p.found for p in text.kinds.get("date", ()) if _line(p) == _line(place)]
    before = [d for d in dates if d.start < place.found.start]
    near = max(before, key=lambda d: d.start, default=None)
    if near is None:
        return True
    mine, theirs = days_of(day.value), days_of(near.value)
    if theirs:
        return bool(mine & theirs)  # of a date nobody knows here on which day it falls
    return bool(mine) or near.shares_form(day)


def _of_the_day(n: int, answer: Answer) -> str:
    other = _other_end(n, answer)
    day = _day_of(n, other, answer) if other is not None else None
    return f" for {answer.text[day.start : day.end]}" if day is not None else ""
