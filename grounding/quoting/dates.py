"""Days of the year in cells and questions: "27–30 December" holds the 29th, and "new year's eve" is 31 December.

A day is `month * 31 + day`, so that days are in order; years are left aside. Read are days beside the name of a month in English, German and French, ISO dates and
"24.12."; in a question also the feasts of `dates.json`, those that fall on the same day each year.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from grounding.tables import table
from grounding.text import caseless

MONTHS = (
    "january jan januar janvier",
    "february feb februar février",
    "march mar märz mars",
    "april apr avril",
    "may mai",
    "june jun juni juin",
    "july jul juli juillet",
    "august aug août",
    "september sep sept septembre",
    "october oct oktober octobre",
    "november nov novembre",
    "december dec dezember décembre",
)
"""The names of each month, as they are written."""
LONGEST = 31
"""Days of a month at most."""
_MONTH_OF = {caseless(name): number for number, names in enumerate(MONTHS, start=1) for name in names.split()}
_MONTH = rf"(?:{'|'.join(sorted(map(re.escape, _MONTH_OF), key=len, reverse=True))})\b"
_DAY = r"(?<![\d.,:/])(?:the )?(\d{1,2})(?:st|nd|rd|th|er)?\.?"
_TO = r" ?(?:-|–|—|to|until|till|bis|au|and|und|et|&|/) ?"
_DATES = re.compile(
    rf"{_DAY}{_TO}{_DAY} (?:of )?({_MONTH})"  # 27–30 December
    rf"|({_MONTH})\.? {_DAY}{_TO}(\d{{1,2}})(?:st|nd|rd|th)?(?![\d:])"  # December 27–30
    rf"|{_DAY} (?:of )?({_MONTH})"  # 31 December
    rf"|({_MONTH})\.? (?:the )?(\d{{1,2}})(?:st|nd|rd|th)?(?![\d:])"  # December 31
    r"|(?<!\d)\d{4}-(\d{2})-(\d{2})(?!\d)"  # 2025-12-31
    r"|(?<![\d.,$£€])(?<![$£€] )(\d{1,2})\.(\d{1,2})\.(?!\d{1,3}(?!\d))"  # 31.12., but not an amount at the end of a sentence
)
_BETWEEN = re.compile(r"\.?,?(?: \d{4})?" + _TO)


@cache
def _feasts() -> tuple[dict[str, int], re.Pattern[str]]:
    days = {caseless(name): _day(*map(int, day.split("-"))) for day, names in table(__file__).items() for name in names}
    names = "|".join(sorted(map(re.escape, days), key=len, reverse=True))
    return days, re.compile(rf"(?<!\w)(?:{names})(?!\w)")


def _day(month: int, day: int) -> int:
    return month * LONGEST + day


@lru_cache(maxsize=4096)
def spans_in(text: str) -> tuple[tuple[int, int], ...]:
    """The first and last day of each date or range of dates in a text, in order; the last is before the first where a year ends between them."""
    plain = caseless(text)
    found: list[tuple[int, int, int]] = []  # first, last, where it ends
    for m in _DATES.finditer(plain):
        span = _span(m)
        if span is None:
            continue
        if found and found[-1][0] == found[-1][1] and _BETWEEN.fullmatch(plain, found[-1][2], m.start()):
            first, _, _ = found.pop()
            span = first, span[1]
        found.append((*span, m.end()))
    return tuple((first, last) for first, last, _ in found)


def _span(m: re.Match[str]) -> tuple[int, int] | None:
    a, b, month, other, c, d, single, its_month, named, its_day, iso_month, iso_day, plain_day, plain_month = m.groups()
    if month or other:
        number = _MONTH_OF[month or other]
        days = int(a or c), int(b or d)
    else:
        in_digits = iso_month or plain_month
        number = int(in_digits) if in_digits else _MONTH_OF[its_month or named]
        days = (int(single or its_day or iso_day or plain_day),) * 2
    if not (1 <= number <= len(MONTHS) and all(1 <= day <= LONGEST for day in days)):
        return None
    return _day(number, days[0]), _day(number, days[1])


@lru_cache(maxsize=256)
def days_said(question: str) -> frozenset[int]:
    """The single days that a question names, by their dates or as feasts."""
    days, names = _feasts()
    plain = caseless(question).replace("’", "'")
    return frozenset(first for first, last in spans_in(question) if first == last) | {
        days[m.group()] for m in names.finditer(plain)
    }


def holds_day(text: str, days: frozenset[int]) -> bool | None:
    """Whether one of the dates of a text is, or holds, one of `days`; None where it has no date, or none is given."""
    spans = spans_in(text) if days else ()
    if not spans:
        return None
    return any(
        first <= day <= last if first <= last else day >= first or day <= last for first, last in spans for day in days
    )
