"""Dates: ISO, day and month in words, slashed, month and year, year, weekday.

Normal forms are those of ISO 8601, with its truncated forms for what is not said: 2026-05-05, 2026-05, 2026,
--05-05 (a day of any year), -W-7 (a Sunday).
"""

from __future__ import annotations

import re
from datetime import date

from rai.claims.found import Found

_MONTHS: dict[str, int] = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar jänner janvier janv enero gennaio janeiro",
            "february feb februar février fevrier févr febrero febbraio fevereiro",
            "march mar märz mars marzo março",
            "april apr avril avr abril aprile",
            "may mai mayo maggio maio",
            "june jun juni juin junio giugno junho",
            "july jul juli juillet juil julio luglio julho",
            "august aug août aout agosto",
            "september sep sept septembre septiembre settembre setembro",
            "october oct oktober okt octobre octubre ottobre outubro",
            "november nov novembre noviembre novembro",
            "december dec dezember dez décembre diciembre dicembre dezembro",
        ),
        1,
    )
    for name in names.split()
}
_MONTH = "(?P<month>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
_YEAR = "(?P<year>(?:1[5-9]|20|21)[0-9]{2})"
_PATTERNS = (
    re.compile(rf"(?<![\w./-]){_YEAR}-(?P<m>[01][0-9])-(?P<d>[0-3][0-9])(?![\d-])"),
    re.compile(
        rf"(?<![\w./-])(?P<d>[0-3]?[0-9])(?:st|nd|rd|th|\.|er)?[ \u00a0-](?:of |de )?{_MONTH}"
        rf"(?:,?(?: of| de)?[ \u00a0-]{_YEAR}(?!\d))?",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?<![\w-]){_MONTH}[ \u00a0-](?:the )?(?P<d>[0-3]?[0-9])(?:st|nd|rd|th)?(?![\d:.%]\d|\d)(?:,?[ \u00a0-]{_YEAR}(?!\d))?",
        re.IGNORECASE,
    ),
    re.compile(rf"(?<![\w-])(?<!\d ){_MONTH},?(?: of)?[ \u00a0-]{_YEAR}(?!\d)", re.IGNORECASE),
)
_SLASHED = re.compile(r"(?<![\w./-])(\d{1,2})([/.-])(\d{1,2})\2((?:19|20)\d{2}|\d{2})(?![\w/-]|\.\d)")
_YEAR_ONLY = re.compile(
    rf"\b(?:in|since|from|until|till|by|year|during|before|after|of|©) {_YEAR}(?![\w%]|[.,:/-]\d)", re.IGNORECASE
)
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEKDAY = re.compile(rf"\b({'|'.join(_DAYS)})s?\b", re.IGNORECASE)
_SHORT = re.compile(
    r"\b(Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)\b(?=\.?\s?[-–—:/&]|\.?,? \d|\.? (?:to|through|thru|and|until)\b)"
    r"|(?<=[-–—&/])\s?(Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)\b"
)
_VERBS = {"may", "march", "mar", "mars", "mai"}  # months in lower case that are words of their own


def find(text: str) -> list[Found]:
    """Every date. 05/06/2026 keeps both readings, in `value` joined by a bar; impossible days are no dates."""
    found = [f for pattern in _PATTERNS for m in pattern.finditer(text) if (f := _named(m))]
    found += [f for m in _SLASHED.finditer(text) if (f := _slashed(m))]
    for match in _YEAR_ONLY.finditer(text):
        year = match["year"]
        found.append(Found("date", match.start("year"), match.end("year"), year, (), (year,)))
    for match in _WEEKDAY.finditer(text):
        found.append(_weekday(match.start(1), match.end(), match.group(1)))
    for match in _SHORT.finditer(text):
        group = 1 if match.group(1) else 2
        found.append(_weekday(match.start(group), match.end(group), match.group(group)))
    return found


def _weekday(start: int, end: int, name: str) -> Found:
    number = next(i for i, day in enumerate(_DAYS, 1) if day.startswith(name.lower()[:3]))
    return Found("date", start, end, f"-W-{number}")


def _named(match: re.Match[str]) -> Found | None:
    groups = match.groupdict()
    name = groups.get("month")
    if name is not None and name in _VERBS and groups.get("year") is None:
        return None
    month = int(groups["m"]) if name is None else _MONTHS[name.lower()]
    day, year = groups.get("d"), groups.get("year")
    value = _iso(year, month, day)
    if value is None:
        return None
    # the full stop after "5 May" ends a sentence; after "5 Jan" it may be either and says nothing
    end = match.start() + len(match.group().rstrip("."))
    return Found("date", match.start(), end, value, (), (year,) if year else ())


def _slashed(match: re.Match[str]) -> Found | None:
    first, second, year = match.group(1), match.group(3), match.group(4)
    full = year if len(year) == 4 else ("20" if year < "70" else "19") + year
    orders = ((second, first),) if match.group(2) == "." else ((first, second), (second, first))
    readings = tuple(dict.fromkeys(v for m, d in orders if (v := _iso(full, int(m), d))))
    return Found("date", match.start(), match.end(), "|".join(readings), readings, (full,)) if readings else None


def _iso(year: str | None, month: int, day: str | None) -> str | None:
    try:
        date(int(year or 2000), month, int(day or 1))
    except ValueError:
        return None
    if day is None:
        return f"{year}-{month:02d}"
    return f"{year or '-'}-{month:02d}-{int(day):02d}"


def coarser(value: str) -> tuple[str, ...]:
    """What a date also says: 2026-05-05 says --05-05, 2026-05 and 2026."""
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", value):
        return (f"-{value[4:]}", value[:7], value[:4])
    return (value[:4],) if re.fullmatch(r"\d{4}-\d{2}", value) else ()
