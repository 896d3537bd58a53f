"""Opening hours on a day on which a source is closed: "on Sunday from nine to noon", of "Sat 09:00-12:00; closed Tue, Thu, Sun"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rai.check.answer import Answer
from rai.check.context import Finding, name_of
from rai.check.lexicon.load import pattern
from rai.check.reading.sources import Place
from rai.claims.found import Found
from rai.claims.times import weekdays
from rai.records import Claim

_NEAR = 28
"""Characters from a day to the hours that are said of it."""
_CUT = re.compile(r"[;.|\n(]")
_HOURS = re.compile(r"\d ?[:.h]\d\d|\d ?(?:am|pm|uhr|a\.m|p\.m)\b|\d ?[-–] ?\d", re.IGNORECASE)


def closed_day(n: int, claim: Claim, found: Found, places: Sequence[Place], answer: Answer) -> Finding | None:
    """`wrong_role` for a weekday that the answer gives hours for while every place of it in the sources says closed; else None.

    `n`: the number of the value, `places`: where it stands in the sources.
    """
    if claim.kind != "date" or not weekdays.days_of(found.value) or not _has_hours(n, answer) or not places:
        return None
    if not all(_says_closed(place) for place in places):
        return None
    place = places[0]
    why = f"{name_of(place)} is closed on {place.span().text}."
    return Finding("wrong_role", (place.span(),), why, rule="closed-day")


def _has_hours(n: int, answer: Answer) -> bool:
    """True if a time stands right behind the day, and nothing between says that it is shut."""
    here = answer.values[n]
    after = next(
        (v for v in answer.values[n + 1 : n + 3] if v.kind == "time"), None
    )  # "from nine to noon" begins with a number
    if after is None or not 0 < after.start - here.end <= _NEAR:
        return False
    between = answer.text[max(0, here.start - _NEAR) : after.start]
    return _closed().search(between) is None and _CUT.search(answer.text, here.end, after.start) is None


def _says_closed(place: Place) -> bool:
    """True if the part of its line in which a day of the week stands says closed and gives no hours; of a date it says so once."""
    if not place.found.value.startswith("-W-"):
        return False
    text = place.text()
    before = text[: place.found.start]
    start = max((m.end() for m in _CUT.finditer(before)), default=0)
    end = _CUT.search(text, place.found.end)
    part = text[start : end.start() if end else len(text)]
    return _closed().search(part) is not None and _HOURS.search(part) is None


def _closed() -> re.Pattern[str]:
    return pattern("hours", "shut")
