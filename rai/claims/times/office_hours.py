"""Bare hours: "open 9 to 5", "Mon-Fri 9-17". Two numbers are hours only behind a word of opening or beside a day."""

from __future__ import annotations

import re

from rai.claims.found import Found

_PAIR = re.compile(
    r"(?P<h>[0-9](?<![\w:.,$€£/-][0-9])[0-9]?)(?:[ ]?[-–—][ ]?|[ ](?:to|till|until|and|bis)[ ])(?P<h2>2[0-4]|1[0-9]|[1-9])"
    r"(?![\w:%/-]|[.,]\d| ?[%$€£°])(?=(?P<after>[^\n]{0,16}))"
)
_DAY = r"(?:daily|weekdays|weekends|every ?day|(?:mon|tues?|wed|wednes|thu|thurs?|fri|sat|satur|sun)(?:days?)?|mo|di|mi|do|fr|sa|so)"
_CUE = re.compile(
    rf"\b(?:opens?|opened|opening hours|hours|work(?:s|ing)?|available|staffed|{_DAY})\b(?:\.?:?,? (?:are |is |from |between )?| \()$",
    re.IGNORECASE,
)
_FOLLOWS = re.compile(rf",? ?\(?(?:on )?{_DAY}\b", re.IGNORECASE)
_TABLED = re.compile(
    rf"\b(?:{_DAY}|hours|öffnungszeiten|horaires|horario|orari|horário|openingstijden|godziny)\b", re.IGNORECASE
)
_HOURS_ALONE = re.compile(r"[\s|]*(?:[0-9]{1,2}[ ]?[-–—][ ]?[0-9]{1,2}[\s,;/|&+]*){1,4}")
_LONGEST_LINE = 600
_FURTHER = re.compile(r",? ?(?:and|und|et|y|e|en|i|&|/|\+)? ?", re.IGNORECASE)
_ENDS = re.compile(r"[ ]?(?:$|[.,;)|]|[A-Z]{2,4}\b|and\b|on\b)")


def find(text: str) -> list[Found]:
    """Finds pairs of bare hours, both ends of each; an afternoon that closes first is meant: 9 to 5 is 09:00 to 17:00, 9-17 is what it says."""
    found: list[Found] = []
    for match in _PAIR.finditer(text):
        opens, closes = int(match["h"]), int(match["h2"])
        cued = _CUE.search(text, max(0, match.start() - 24), match.start()) and _ENDS.match(match["after"])
        further = (
            found and match.start() - found[-1].end <= 6 and _FURTHER.fullmatch(text, found[-1].end, match.start())
        )
        if opens > 23 or not (
            cued or _FOLLOWS.match(match["after"]) or (further and closes > opens) or _is_tabled(text, match)
        ):
            continue
        found.append(_hour(match.start("h"), match.end("h"), opens, opens + 12 if opens <= 12 else None))
        later = closes + 12 if closes <= 12 and closes <= opens else closes
        found.append(_hour(match.start("h2"), match.end("h2"), later, closes if later != closes else None))
    return found


def _is_tabled(text: str, match: re.Match[str]) -> bool:
    """True of a cell with hours alone, in a row or below a header that names a day or hours: "| Wed | 9–12, 13–15 |"."""
    start = max(text.rfind("|", 0, match.start()), text.rfind("\n", 0, match.start()))
    if start < 0 or text[start] != "|" or match.start() - start > 60:
        return False
    end = text.find("|", match.end(), match.end() + 60)
    if end < 0 or not _HOURS_ALONE.fullmatch(text, start, end):
        return False
    first = text.rfind("\n\n", 0, start) + 1
    header = text.find("|", first, start + 1)
    line = text.rfind("\n", 0, start) + 1
    return any(
        _TABLED.search(text[at : min(at + _LONGEST_LINE, (text.find("\n", at) + 1 or len(text) + 1) - 1)])
        for at in (line, header)
    )


def _hour(start: int, end: int, hour: int, other: int | None) -> Found:
    readings = tuple(f"{h % 24:02d}:00" for h in (hour, other) if h is not None)
    return Found("time", start, end, readings[0], readings)
