"""Other readings of a value, told by what stands beside it: 10 of "from 10 to 5" is an hour, 15 of "Friday 15" a day.

A finder reads a text by itself and takes the likeliest meaning; beside its sources a value may have another one. A second reading
only ever helps a value to a place: none is held against it.
"""

from __future__ import annotations

import re
from dataclasses import replace

from rai.claims.found import Found
from rai.claims.times.dates import find as dates_in
from rai.claims.times.weekdays import find as weekdays_in
from rai.records import Kind

_NEAR = 24
_HOUR_BEFORE = re.compile(
    r"(?:\b(?:from|at|to|until|till|by|before|after|between|and|around|past|or|um|ab|bis|von|vor|nach|gegen|und|zwischen|à|a|de|dès|avant|après|entre|et|las|la|desde|hasta|y|"
    r"alle|dalle|ore|e|às|das|até|om|tot|van|tussen|en|do|od|o|po|przed|godz\.?)|[-–—])[ \u00a0]?$",
    re.IGNORECASE,
)
_HOUR_AFTER = re.compile(
    r"[ \u00a0]?(?:[-–—]|to\b|until\b|till\b|bis\b|in the (?:morning|evening|afternoon)|at night|o['’]clock|Uhr|h\b)",
    re.IGNORECASE,
)
_ORDINAL = re.compile(r"(?:st|nd|rd|th|\.|º|ª|er)(?!\w)")
_DAY_BEFORE = re.compile(
    r"(?:\b(?:the|den|dem|am|le|el|il|dia|día|giorno|dal|del|al|a|de|do|dnia|op)|[-–—]) $", re.IGNORECASE
)
_DATES_BEFORE = re.compile(r"\b[A-Z][a-z]{2,8}\.? \d{1,2}(?:, \d{1,2}){0,4},? (?:and|&|or) $")
_DOTTED = re.compile(r"(?P<d>[0-3]?\d)[./](?P<m>[01]?\d)")
_SPAN = re.compile(r"(?P<n>\d{1,4}) (?P<unit>day|week|month|year)")
_BELOW_NOUGHT = re.compile(r"(?:\b(?:minus|meno|menos|moins|min)|[-−–]) ?$", re.IGNORECASE)
_AGED = re.compile(r"[- ]olds?\b")
_POUNDS = re.compile(r"(\d+(?:[.,]\d+)?) ?(?:pounds?|lbs?)", re.IGNORECASE)
_OF_UNIT = re.compile(
    r" (?:of an? |d['’]|de |di |d'un[e']? |einer )?(?P<unit>minute|hour|day|week|month|year|heure|hora|ora|Stunde)\b",
    re.IGNORECASE,
)
_UNITS = {"heure": "hour", "hora": "hour", "ora": "hour", "stunde": "hour"}


def readings(found: Found, text: str) -> tuple[Found, ...]:
    """The readings of a value: `found` first, then what its characters in `text` may mean else, by what stands beside them."""
    before, after = text[max(0, found.start - _NEAR) : found.start], text[found.end : found.end + _NEAR]
    written = text[found.start : found.end]
    others: list[Found] = []
    if found.kind == "number":
        others += _as_hour(found, before, after)
        others += _as_day(found, before, after)
        others += _as_date(found, written)
        others += _as_part(found, after)
        if _BELOW_NOUGHT.search(before) and not found.value.startswith("-"):
            others.append(
                replace(found, value=f"-{found.value}", readings=(f"-{found.value}",), magnitudes=(f"-{found.value}",))
            )
    elif found.kind == "time" and written.isdecimal():
        others += [
            replace(found, kind=kind, value=value, readings=(value,), magnitudes=(written,))
            for kind, value in _bare(written)
        ]
    elif found.kind == "quantity" and (_AGED.match(after) or found.value.endswith((" times", " degree"))):
        number = found.value.partition(" ")[0]
        others.append(Found("number", found.start, found.end, number, (number,), (number,)))
    elif found.kind == "money" and (weight := _POUNDS.fullmatch(written)):
        value = f"{found.value.partition(' ')[0]} lb"
        others.append(Found("quantity", found.start, found.end, value, (value,), (weight[1],)))
    if found.kind in ("money", "quantity", "percent") and found.value.startswith("-") and not written[0].isdigit():
        forms = tuple(form.removeprefix("-") for form in found.forms)  # minus 5 € of what is left of 37,45 €
        others.append(replace(found, value=forms[0], readings=forms))
    if found.kind == "quantity" and (days := _SPAN.fullmatch(found.value)):
        ago = (f"relative:{days['unit']}{sign}{days['n']}" for sign in ("-", "+"))
        others += [Found("date", found.start, found.end, value) for value in ago]
    return (found, *others)


def is_age(found: Found, text: str) -> bool:
    """True if the value is a person's age: the nine years of "your nine-year-old"."""
    return found.kind == "quantity" and _AGED.match(text, found.end) is not None


def _bare(written: str) -> tuple[tuple[Kind, str], ...]:
    number = str(int(written))
    return (("number", number), ("percent", f"{number}%"))


def _as_hour(found: Found, before: str, after: str) -> list[Found]:
    if (
        not found.value.isdecimal()
        or int(found.value) > 24
        or not (_HOUR_BEFORE.search(before) or _HOUR_AFTER.match(after))
    ):
        return []
    hour = int(found.value) % 24
    forms = (f"{hour:02d}:00",) if hour > 12 else (f"{hour:02d}:00", f"{(hour + 12) % 24:02d}:00")
    return [Found("time", found.start, found.end, forms[0], forms, half_given=len(forms) > 1)]


def _as_day(found: Found, before: str, after: str) -> list[Found]:
    """A day of a month that is told elsewhere: any month's, then."""
    if not found.value.isdecimal() or not 1 <= int(found.value) <= 31:
        return []
    named = weekdays_in(before.rstrip())
    beside = bool(named) and named[-1].end >= len(before.rstrip(" ,"))
    if dated := _DATES_BEFORE.search(before):
        listed = dates_in(f"{dated.group()}{found.value}.")
        return [replace(d, start=found.start, end=found.end) for d in listed[-1:] if d.value.startswith("--")]
    if not (beside or _ORDINAL.match(after) or _DAY_BEFORE.search(before)):
        return []
    forms = tuple(f"--{month:02d}-{int(found.value):02d}" for month in range(1, 13))
    return [Found("date", found.start, found.end, forms[0], forms)]


def _as_date(found: Found, written: str) -> list[Found]:
    match = _DOTTED.fullmatch(written)
    if match is None or not (1 <= int(match["d"]) <= 31 and 1 <= int(match["m"]) <= 12):
        return []
    form = f"--{int(match['m']):02d}-{int(match['d']):02d}"
    return [Found("date", found.start, found.end, form, (form,))]


def _as_part(found: Found, after: str) -> list[Found]:
    """A quarter of a minute, three quarters of an hour."""
    match = _OF_UNIT.match(after)
    if match is None or found.value not in ("0.5", "0.25", "0.75", "0.333333"):
        return []
    unit = match["unit"].lower()
    value = f"{found.value} {_UNITS.get(unit, unit)}"
    return [Found("quantity", found.start, found.end, value, (value,), (found.value,))]
