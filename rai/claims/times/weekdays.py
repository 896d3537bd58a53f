"""Days of the week, alone and as sets: Monday, Mon–Fri, weekdays, weekends, daily.

Normal forms: -W-7 is a Sunday (ISO 8601, truncated), -W-1/-W-5 is Monday to Friday. All seven days are -W-1/-W-7, whichever
they begin with.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache

from rai.claims.found import Found
from rai.claims.times.months import PORTUGUESE, weekday_abbreviations, weekday_names
from rai.claims.word_spans import Word, words

WEEKDAYS, WEEKEND, EVERY_DAY = "-W-1/-W-5", "-W-6/-W-7", "-W-1/-W-7"
_SETS = dict.fromkeys(("weekday", "weekdays", "workdays", "wochentags"), WEEKDAYS) | dict.fromkeys(
    ("weekend", "weekends", "wochenende", "wochenenden"), WEEKEND
)
_WISHED = re.compile(
    r"\b(?:great|nice|lovely|good|wonderful|pleasant|happy|fantastic|black|cyber|ruby|santo|easter) $", re.IGNORECASE
)
_TO = re.compile(
    r"\.?(?:[ \u00a0]?[-–—_][ \u00a0]?|[ ](?:to|through|thru|until|till|bis|à|au|a|ao|al|até|hasta)[ ](?:the )?)$",
    re.IGNORECASE,
)
_AND = re.compile(r" (?:and|und|et|y|e) $", re.IGNORECASE)
_BETWEEN = re.compile(r"\b(?:between|zwischen|entre|tra|fra) $", re.IGNORECASE)
# a short name is a day only where something that goes with a day follows or precedes
_SHORT_BEFORE = re.compile(
    r"\.?[ ]?[-–—:/&+]|\.?,? (?:(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.? )?\d|\.? (?:to|through|thru|and|until)\b|\.?, (?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b"
)
_SHORT_AFTER = re.compile(
    r"[-–—&/+][ ]?$|\b(?:Mon|Tue|Tues|Wed|Thu|Thur|Thurs|Fri|Sat|Sun)\.?(?:,| and| or| to| through| until) $"
)
# "Mo, Mi 14:00-18:00": of a short name that English does not have the hours are what goes with it
_HOURS_BEHIND = re.compile(
    r"\.?(?:(?:, ?| ?[+&/] ?| und | et | y | e | en | i )[^\W\d_]{2,3}\b\.?){0,5}:? \d{1,2}[:.h]\d\d ?[-–—]"
)
# "sat: 09:00-13:00": the name of a column, whatever its case
_LABEL, _LINE_OR_CELL = re.compile(r": (?=\S)"), re.compile(r"(?:\A|[\n|] ?)\Z")
_EVERY = re.compile(r"(?:day|morning|evening|night|afternoon)(?!\w)")
# a daily limit is one per day, not one on all days
_PER_DAY = re.compile(
    r" (?:\w{1,12} )?(?:limits?|rates?|fees?|prices?|charges?|costs?|allowances?|caps?|budgets?|doses?|maximum|minimum|quota|amounts?|basis|life|use|news)\b",
    re.IGNORECASE,
)
_SEVEN = re.compile(
    r"(?:7|seven) days (?:a|per|each|every) week\b|all week(?: long)?\b|all days of the week\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class _Day:
    """A word that may be a day: which, in which locales, and whether it is a full name."""

    number: int
    start: int
    end: int
    locales: frozenset[str] | None


_BEHIND = re.compile(r" ?\(")
_LABELLED = re.compile(r"[^.,;|\n\d]{0,40}")


def find(text: str) -> list[Found]:
    """Finds days of the week and sets of them. "Mon-Fri", "Monday to Friday" and "weekdays" are one value; "Sat & Sun" are two days."""
    days, found = [], []
    known = _vocabulary()
    for word in words(text):
        entry = known.get(word[0])
        if entry is None:
            continue
        if isinstance(entry, str):
            found += _set(text, word, entry)
        elif not _WISHED.search(text, max(0, word[1] - 10), word[1]):
            days.append(_Day(entry[0], word[1], word[2], entry[1]))
    found += [Found("date", m.start(), m.end(), EVERY_DAY) for m in _SEVEN.finditer(text)] if "week" in text else []
    starts = [day.start for day in days]
    return [f for f in found if not _is_label(text, f, days, bisect_left(starts, f.start))] + _days(text, days)


def _is_label(text: str, found: Found, days: list[_Day], at: int) -> bool:
    """True of "Weekday: Tuesday", which says what day it is; "Weekday: 9 to 5" tells what holds from Monday to Friday.

    `at`: which of `days` comes after it.
    """
    if text[found.start : found.end].lower() != "weekday":
        return False
    if at and _BEHIND.fullmatch(text, days[at - 1].end, found.start):
        return True
    return at < len(days) and _LABELLED.fullmatch(text, found.end, days[at].start) is not None


@lru_cache(maxsize=1)
def _vocabulary() -> dict[str, str | tuple[int, frozenset[str] | None]]:
    out: dict[str, str | tuple[int, frozenset[str] | None]] = {}
    by_locale = weekday_abbreviations()
    for locale, names in by_locale.items():
        for name, number in names.items():
            same = frozenset(k for k, v in by_locale.items() if v.get(name) == number)
            # "mar" is Tuesday in three languages, "so" a Sunday in German alone
            out.setdefault(name, (number, same | {locale}))
    for name, number in weekday_names().items():
        out[name] = (number, frozenset({"pt"}) if name in PORTUGUESE else None)
    return out | _SETS | {"daily": "daily", "every": "every", "each": "every", "everyday": "daily", "täglich": "daily"}


def _set(text: str, word: Word, entry: str) -> list[Found]:
    _, start, end = word
    if entry == "every":
        match = _EVERY.match(text, end + 1) if text[end : end + 1] == " " else None
        return [Found("date", start, match.end(), EVERY_DAY)] if match else []
    if entry == "daily":
        return [] if _PER_DAY.match(text, end) else [Found("date", start, end, EVERY_DAY)]
    return [] if _WISHED.search(text, max(0, start - 10), start) else [Found("date", start, end, entry)]


def _days(text: str, days: list[_Day]) -> list[Found]:
    out: list[Found] = []
    at = 0
    while at < len(days):
        day = days[at]
        after = days[at + 1] if at + 1 < len(days) else None
        if after and _ranged(text, day, after):
            out.append(Found("date", day.start, _end(text, after), span_of(day.number, after.number)))
            at += 2
            continue
        if _stands_alone(text, day):
            out.append(Found("date", day.start, _end(text, day), f"-W-{day.number}"))
        at += 1
    return out


def _ranged(text: str, day: _Day, after: _Day) -> bool:
    first = _end(text, day)
    if not 0 < after.start - first <= 12 or day.number == after.number:
        return False
    if day.locales and after.locales and not day.locales & after.locales:
        return False
    if (day.locales or after.locales) and not _cased_alike(text, day, after):
        return False
    gap = text[first : after.start]
    return bool(
        _TO.fullmatch(gap) or (_AND.fullmatch(gap) and _BETWEEN.search(text, max(0, day.start - 10), day.start))
    )


def _cased_alike(text: str, day: _Day, after: _Day) -> bool:
    """True if two short names may be days by their letters: Mo–Fr, lun-ven. "do-so" of running text is none unless both are capitals or both are not two-letter words."""
    upper = text[day.start].isupper(), text[after.start].isupper()
    return upper[0] == upper[1] and (upper[0] or min(day.end - day.start, after.end - after.start) > 2)


def _stands_alone(text: str, day: _Day) -> bool:
    if day.locales is None:
        return True
    if (
        "en" in day.locales
        and _LABEL.match(text, day.end)
        and _LINE_OR_CELL.search(text, max(0, day.start - 2), day.start)
    ):
        return True
    if day.locales == {"pt"} and day.end - day.start > 3:
        return text.startswith("-feira", day.end)
    if not text[day.start].isupper():
        return False
    if "en" not in day.locales:
        return _HOURS_BEHIND.match(text, day.end) is not None
    before = _SHORT_AFTER.search(text, max(0, day.start - 14), day.start)
    return bool(_SHORT_BEFORE.match(text, day.end) or before)


def _end(text: str, day: _Day) -> int:
    return day.end + 6 if text.startswith("-feira", day.end) else day.end


def span_of(first: int, last: int) -> str:
    """The set from one weekday to another, around the end of the week where need be."""
    return EVERY_DAY if first % 7 + 0 == (last + 1) % 7 else f"-W-{first}/-W-{last}"


def days_of(value: str) -> frozenset[int]:
    """The days, 1 to 7, that a normal form of this module means; empty for every other."""
    match = re.fullmatch(r"-W-([1-7])(?:/-W-([1-7]))?", value)
    if match is None:
        return frozenset()
    first, last = int(match[1]), int(match[2] or match[1])
    return frozenset((first + i - 1) % 7 + 1 for i in range((last - first) % 7 + 1))
