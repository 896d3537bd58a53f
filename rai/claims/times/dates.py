"""Dates: every form together, with ranges that share a year and weekdays that belong to a date.

Normal forms are those of ISO 8601, with its truncated forms for what is not said: 2026-05-05, 2026-05, --05-05 (a day of any
year), --05 (a month of any year), --05-05-W-2 (a Tuesday, the 5th of May); more in `periods` and `weekdays`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

from rai.claims.found import Found
from rai.claims.times import holidays, months_and_days, periods, weekdays
from rai.claims.times.months_and_days import dated, iso

_FULL = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_NORMAL = re.compile(
    rf"(?:{_FULL}(?:\|{_FULL})?|--[0-9]{{2}}(?:-[0-9]{{2}}(?:-W-[1-7]|\|--[0-9]{{2}}-[0-9]{{2}})?)?|--Q[1-4]|[0-9]{{3}}X|"
    r"[0-9]{4}(?:-(?:[0-9]{2}|Q[1-4]|H[12]|spring|summer|autumn|winter|W[0-5][0-9](?:-[1-7])?))?|-W-[1-7](?:/-W-[1-7])?)"
)
_YEAR_FIRST = re.compile(r"[12](?<![\w./-][12])[0-9]{3}([-/.])([0-9]{1,2})\1([0-9]{1,2})(?![\d-])")
_YEAR_LAST = re.compile(
    r"[0-9](?<![\w./,-][0-9])[0-9]?([/.-])[0-9]{1,2}\1(?:(?:19|20)[0-9]{2}|[0-9]{2})(?![\w/-]|[.,]\d)"
)
_YEARLESS = re.compile(
    r"[0-9](?<![\w./,-][0-9])[0-9]?(?:\.[0-9]{1,2}\.(?!\d)|/[0-9]{1,2}(?![\w/%]|[.,]\d| \d\d \d\d| (?:of|the|cup|tea|tbsp|tsp|inch)))"
)
_MONTH_YEAR = re.compile(
    r"[01](?<![\w./,:$€£-][01])[0-9]?/(?:19|20)[0-9]{2}(?![\w/%-]|[.,]\d)|[1-9](?<![\w./,:$€£-][1-9])/20[0-9]{2}(?![\w/%-]|[.,]\d)"
)
_DOTTED_CUE = re.compile(
    r"\b(?:am|vom|bis|bis zum|zum|ab|ab dem|seit|dem|\w{3,8}(?:tag|woch)s?,?|[0-9]{1,2}\.(?:[0-9]{1,2}\.)? ?[-–]|[0-9]{1,2}\.[0-9]{1,2}\. (?:to|until|till|and|und|au|al|a|e|y|tot|do)) ?$",
    re.IGNORECASE,
)
# no sentence ends where a comma or a small letter follows: the full stop is that of a date
_TWO_DIGITS = re.compile(r"[0-3]\d\.[01]\d\.")
_GOES_ON = re.compile(r"[,;:)]|[ ]?[-–—]| (?:[a-zäöü(]|[–—-])|[ ]*(?:\n|$)")
_LISTED = re.compile(r"(?:day|tag|di|[ao]s?|\)),? $", re.IGNORECASE)
_TO_SLASHED = re.compile(r" ?(?:[-–—&]|to|until|and|bis|und|au|et|al|a|y|e|en|i) ?[0-3]\d/[01]\d")
_SLASHED_TO = re.compile(r"(?<![\d/])[0-3]\d/[01]\d ?(?:[-–—]|to|until|bis|au|al|a) ?$")
_TWO_SLASHED = re.compile(r"[0-3]\d/[01]\d")
_SLASHED_CUE = re.compile(r"\b(?:on|until|till|through|due|due by) $", re.IGNORECASE)
_LATE_DAY = re.compile(r"(?:1[3-9]|2\d|3[01])/(?:0[1-9]|1[0-2])")
_LATE_CUE = re.compile(
    r"\b(?:by|before|after|from|since|to|and|or|vor|nach|ab|vom|bis|und|avant|après|dès|le|du|au|et|antes del|desde el|hasta el|el|prima del|dal|al|il|e|y|até|desde|op|vanaf|tot|voor|en|do|od|przed) $",
    re.IGNORECASE,
)
"""Before a day after the twelfth, which is no fraction then: by 20/12."""
_PAIRED = re.compile(r"(?<![\w./-])([0-3]?\d)\. ?/ ?([0-3]?\d)\.([01]?\d)\.((?:19|20)\d\d(?!\d)|(?!\d))")
"""Two days of a month: 20./21.02.2027."""
_VERSION = re.compile(
    r"(?:\b(?:versions?|release|build|firmware|ios|ipados|macos|android|python|driver|ip|section|chapter|clause|v)\.? ?|[§#] ?)$",
    re.IGNORECASE,
)
_TO = re.compile(
    r"[ ]?[-–—][ ]?|,? (?:to|through|thru|until|till|and|bis|bis zum|und|au|al|à|a|hasta el|y el|e) (?:the )?",
    re.IGNORECASE,
)
_BESIDE_BEFORE = re.compile(r"\.?,?[ ](?:(?:the|den|dem|le|el|il|dem) )?")
_BESIDE_AFTER = re.compile(r",? \(?|, ")


def find(text: str) -> list[Found]:
    """Finds every date, ascending. 05/06/2026 keeps both readings, in `value` joined by a bar, unless another date of the text tells the
    order; impossible days are no dates.

    A weekday beside the date it belongs to is part of it; one that does not belong to it stands for itself.
    A text that is nothing but a normal form is that date.
    """
    if len(text) <= 24 and _NORMAL.fullmatch(text) and (itself := _itself(text)):
        return [itself]
    found = [
        *_numeric(text),
        *months_and_days.find(text),
        *periods.find(text),
        *weekdays.find(text),
        *holidays.find(text),
    ]
    return _with_weekdays(text, _with_years(text, _apart(found)))


def _itself(text: str) -> Found | None:
    readings = tuple(text.split("|"))
    for part in readings:
        month, day = re.fullmatch(r"(?:\d{4}|-)-(\d\d)(?:-(\d\d))?(?:-W-\d)?", part), None
        if month:
            day = month[2]
            year = part[:4] if part[0] != "-" else None
            if iso(year, int(month[1]), day) is None:
                return None
    year = text[:4] if text[:4].isdigit() and len(readings) == 1 else ""
    return Found("date", 0, len(text), text, readings if len(readings) > 1 else (), (year,) if year else ())


def _apart(found: list[Found]) -> list[Found]:
    """The dates that do not overlap: the longest of what begins earliest; nothing twice."""
    out: list[Found] = []
    for item in sorted(found, key=lambda f: (f.start, -f.end)):
        if not out or item.start >= out[-1].end:
            out.append(item)
    return out


def _numeric(text: str) -> list[Found]:
    found: list[Found] = []
    for match in _YEAR_FIRST.finditer(text):
        year, month, day = re.split("[-/.]", match.group())
        found += _read(match, ((month, day),), year)
    orders = _orders_of(text)
    for match in _YEAR_LAST.finditer(text):
        first, second, year = re.split("[-/.]", match.group())
        dotted = match.group(1) == "."
        if dotted and _VERSION.search(text, max(0, match.start() - 12), match.start()):
            continue
        both = {1: (first, second), -1: (second, first)}
        found += _read(match, (both[-1],) if dotted else tuple(both[way] for way in orders), periods.full(year))
    for match in _MONTH_YEAR.finditer(text):
        month, _, year = match.group().partition("/")
        value = iso(year, int(month), None)
        found += [Found("date", match.start(), match.end(), value, (), (year,))] if value else []
    for match in _PAIRED.finditer(text):
        for first, last, day in ((match.start(1), match.end(1) + 1, match[1]), (match.start(2), match.end(), match[2])):
            value = iso(match[4] or None, int(match[3]), day)
            found += [Found("date", first, last, value, (), (match[4],) if match[4] else ())] if value else []
    for match in _YEARLESS.finditer(text):
        dotted = match.group().endswith(".")
        cue = _DOTTED_CUE if dotted else _SLASHED_CUE
        listed = _TWO_SLASHED.fullmatch(match.group()) and (
            text[match.end() : match.end() + 1] in (":", ",", ")")
            or _LISTED.search(text, max(0, match.start() - 12), match.start())
            or _TO_SLASHED.match(text, match.end())
            or _SLASHED_TO.search(text, max(0, match.start() - 14), match.start())
            or (
                _LATE_DAY.fullmatch(match.group()) and _LATE_CUE.search(text, max(0, match.start() - 14), match.start())
            )
        )
        goes_on = listed or (dotted and _TWO_DIGITS.fullmatch(match.group()) and _GOES_ON.match(text, match.end()))
        if goes_on or cue.search(text, max(0, match.start() - 14), match.start()):
            first, second = re.split("[/.]", match.group())[:2]
            found += _read(match, ((second, first),) if dotted else ((first, second), (second, first)), None)
    return found


def _orders_of(text: str) -> tuple[int, ...]:
    """The orders in which a text writes dates with slashes: 1 month first, -1 day first; both, the month first, where nothing tells.

    A text keeps to one: beside 17/04/2027 the day of 05/03/2027 comes first too.
    """
    told = set()
    for match in _YEAR_LAST.finditer(text):
        first, second, _ = re.split("[-/.]", match.group())
        if match.group(1) != "." and (int(first) > _MONTHS) != (int(second) > _MONTHS):
            told.add(-1 if int(first) > _MONTHS else 1)
    return tuple(told) if len(told) == 1 else (1, -1)


_MONTHS = 12


def _read(match: re.Match[str], orders: tuple[tuple[str, str], ...], year: str | None) -> list[Found]:
    readings = tuple(dict.fromkeys(v for m, d in orders if (v := iso(year, int(m), d))))
    if not readings:
        return []
    return [Found("date", match.start(), match.end(), "|".join(readings), readings, (year,) if year else ())]


def _with_years(text: str, found: list[Found]) -> list[Found]:
    """The dates, of a range the first end with the year of the second. 28 April – 3 May 2026: it is of the same year, or of the year before where the range would run backwards."""
    out = list(found)
    for at in range(len(out) - 2, -1, -1):
        first, last = out[at], out[at + 1]
        if not (re.fullmatch(r"--\d\d(?:-\d\d)?", first.value) and re.match(r"\d{4}-\d\d", last.value)):
            continue
        if last.start - first.end > 14 or not _TO.fullmatch(text[first.end : last.start]):
            continue
        backwards = first.value[2:] > last.value[5 : 5 + len(first.value) - 2]
        year = str(int(last.value[:4]) - backwards)
        if iso(year, int(first.value[2:4]), first.value[5:] or None):
            out[at] = dated(first.start, first.end, f"{year}{first.value[1:]}")
    return out


def _with_weekdays(text: str, found: list[Found]) -> list[Found]:
    out: list[Found] = []
    for item in found:
        previous = out[-1] if out else None
        if previous and (joined := _joined(text, previous, item)):
            out[-1] = joined
        else:
            out.append(item)
    return out


def _joined(text: str, first: Found, second: Found) -> Found | None:
    """The date with its weekday, or None if they are not neighbours or the weekday belongs to another day."""
    gap = text[first.end : second.start] if second.start - first.end <= 8 else "\n"
    leading = _is_weekday(first) and _BESIDE_BEFORE.fullmatch(gap)
    trailing = _is_weekday(second) and _BESIDE_AFTER.fullmatch(gap)
    if not leading and not trailing:
        return None
    day, other = (first, second) if leading else (second, first)
    number = int(day.value[-1])
    readings = tuple(v for form in other.forms if (v := _on_weekday(form, number)))
    if not readings:
        return None
    end = second.end + (gap.endswith("(") and text[second.end : second.end + 1] == ")")
    return replace(
        other, start=first.start, end=end, value="|".join(readings), readings=readings if len(readings) > 1 else ()
    )


def _is_weekday(found: Found) -> bool:
    return len(found.value) == 4 and found.value.startswith("-W-")


def _on_weekday(form: str, number: int) -> str | None:
    if re.fullmatch(r"\d{4}-\d\d-\d\d", form):
        return form if date.fromisoformat(form).isoweekday() == number else None
    return f"{form}-W-{number}" if re.fullmatch(r"--\d\d-\d\d", form) else None


def coarser(value: str) -> tuple[str, ...]:
    """What a date also says: 2026-05-05 says --05-05, 2026-05, 2026-Q2, 2026-W19, 2026; Monday to Friday says Tuesday."""
    if value.startswith("-W-") and len(value) > 4:
        return tuple(f"-W-{n}" for n in sorted(weekdays.days_of(value)))
    if re.fullmatch(_FULL, value):
        day = date.fromisoformat(value)
        week = day.isocalendar()
        of_any_year = (f"-{value[4:]}", f"-{value[4:]}-W-{week.weekday}")
        return (*of_any_year, f"{week.year}-W{week.week:02d}", value[:7], f"-{value[4:7]}", *coarser(value[:7]))
    if re.fullmatch(r"\d{4}-\d\d", value):
        month = int(value[5:])
        return (
            f"{value[:4]}-Q{(month + 2) // 3}",
            f"{value[:4]}-H{(month + 5) // 6}",
            value[:4],
            f"{value[:3]}X",
            f"-{value[4:]}",
        )
    if re.fullmatch(r"--\d\d-\d\d-W-\d", value):
        return (value[:7], value[-4:], value[:4])
    if re.fullmatch(r"--\d\d-\d\d", value):
        return (value[:4],)
    return _year_of(value)


def _year_of(value: str) -> tuple[str, ...]:
    match = re.fullmatch(r"(\d{3})\d(?:-(Q\d|H\d|[a-z]+|W\d\d(?:-\d)?))?", value)
    if match is None:
        return ()
    quarter = (f"--{match[2]}", f"{value[:4]}-H{(int(value[-1]) + 1) // 2}") if (match[2] or "").startswith("Q") else ()
    return (*quarter, *((value[:4],) if match[2] else ()), f"{match[1]}X")
