"""Time zones as they are written behind a time: CET, UTC+2, Eastern Time, Z.

A name keeps its season: EST is winter time and EDT summer time, ET is whichever holds. Offsets are minutes east of UTC, of the
standard months and of the daylight-saving months of the northern summer; from the IANA time zone database's current rules.
"""

from __future__ import annotations

import re

from grounding.tables import table

Offsets = tuple[int | None, int | None]

_TABLE = table(__file__)
_HOURS: dict[str, tuple[float | None, float | None]] = {name: tuple(hours) for name, hours in _TABLE["hours"].items()}
_ALSO: dict[str, str] = _TABLE["also"]
_REGIONS: dict[str, str] = _TABLE["regions"]
_NAMES = "|".join(sorted([*_HOURS, *_ALSO], key=len, reverse=True))
_ZONE = re.compile(
    rf"Z(?![\w])|[ \u00a0]?(?P<open>\()?(?:(?P<base>UTC|GMT)[ ]?(?P<sign>[+−–-])[ ]?(?P<h>1[0-4]|0?[0-9])(?::?(?P<m>[0-5][0-9]))?(?![\w:])"
    rf"|(?P<name>{_NAMES})(?![\w/+])|(?P<region>[Ee]astern|[Cc]entral|[Mm]ountain|[Pp]acific)"
    r"(?P<season> (?:[Ss]tandard|[Dd]aylight))?(?: [Tt]ime(?!\w)|(?= ?[.,;)\n]|$))(?! \w+ time))(?(open)\))"
)
_OFFSET = re.compile(r"(?P<sign>[+−-])(?P<h>[01][0-9]):?(?P<m>[0-5][0-9])(?![\w:])")
_VALUE = re.compile(r"UTC([+-])(\d\d):(\d\d)")


def read(text: str, at: int) -> tuple[str, int] | None:
    """The zone that begins at `at` (a space before it and parentheses around it included) and where it ends."""
    match = _ZONE.match(text, at)
    if match is None:
        return None
    if match["base"]:
        return _fixed(match), match.end()
    if match["region"]:
        season = (match["season"] or " ").strip()[:1].upper()
        return f"{_REGIONS[match['region'].lower()]}{season}T", match.end()
    name = match["name"] or "Z"
    return _ALSO.get(name, name), match.end()


def read_offset(text: str, at: int) -> tuple[str, int] | None:
    """The offset of an ISO 8601 time: +02:00."""
    match = _OFFSET.match(text, at)
    return (_fixed(match), match.end()) if match else None


def _fixed(match: re.Match[str]) -> str:
    hours, minutes = int(match["h"]), match["m"] or "00"
    if hours == 0 and minutes == "00":
        return "UTC"
    return f"UTC{'+' if match['sign'] == '+' else '-'}{hours:02d}:{minutes}"


def offsets(zone: str) -> Offsets:
    """The minutes east of UTC of a zone, in the standard and the daylight-saving months; None where the name is not used. KeyError if unknown."""
    match = _VALUE.fullmatch(zone)
    if match:
        minutes = (int(match[2]) * 60 + int(match[3])) * (1 if match[1] == "+" else -1)
        return minutes, minutes
    standard, daylight = _HOURS[zone]
    return (None if standard is None else round(standard * 60)), (None if daylight is None else round(daylight * 60))
