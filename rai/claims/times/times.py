"""Times of day, each end of a range for itself, as 24-hour HH:MM with the zone if one is said: "14:00", "09:00 CET"."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import groupby

from rai.claims.found import Found
from rai.claims.numbers.numbers import LASTING
from rai.claims.times import office_hours, spoken_times, zones

_SPACE = "[ \u00a0\u202f]"
_DIGITS = re.compile(
    r"(?P<h>[0-9](?:(?<![\w:.,/$€£][0-9])|(?<=[0-9]T[0-9])|(?<=,[0-9])(?=[0-9]?:[0-5][0-9]))[0-9]?)"
    r"(?:(?P<sep>: ?|\.)(?P<m>[0-5][0-9])(?::[0-5][0-9](?:\.[0-9]{1,6})?)?)?"
    rf"(?:{_SPACE}?(?:(?P<ap>[ap])(?:\.[ ]?m\b\.?|m\b|(?-i: M\b))|(?P<uhr>Uhr\b)|(?P<oclock>o['’]?clock\b))|(?<=[0-9])(?P<short>[ap])(?!\w)"
    r"|(?P<hours>h|[ ]h[ ](?=[0-5][0-9](?!\w)))(?P<m2>[0-5][0-9])?(?!\w| ?min| ?-?hour)|(?P<bare>(?<=:[0-9]{2})(?![\w%]|[.:]\d)|(?<=:[0-9]{2})(?=Z))|(?= (?:in the|at night|du|de la)\b))",
    re.IGNORECASE,
)
_LASTS = re.compile(r"[ ]?(?:min(?:utes?)?|mins)\b|[ ]hours?\b|[ -](?:aspect|ratio)\b", re.IGNORECASE)
_LASTING = re.compile(r"\b(?:takes?|lasts?|for|in|within|about|dure|durée|dauert|dura)[ :]{1,2}$", re.IGNORECASE)
_RATIO = re.compile(r"\b(?:ratio(?: of|:)?|odds(?: of)?) $", re.IGNORECASE)
_HOUR_CUE = re.compile(
    r"(?:\b(?:à|at|dès|vers|from|between|entre|las|alle|to|until|bis|ab)|[0-9]h?[0-9]{0,2}(?: ?[-–—] ?| (?:à|a|to|et|y|e)))[ ]?$",
    re.IGNORECASE,
)
_HOUR_FOLLOWS = re.compile(r"[ ]?(?:[-–—]|à|a)[ ]?[0-9]{1,2}h", re.IGNORECASE)
_ALWAYS = re.compile(
    r"24(?<![\w/.]24)(?:/7(?:/365)?|x7)(?![\w/])|24(?<![\w/.]24)[ -]hours (?:a|per|each|every) day,? (?:and )?(?:7|seven) days (?:a|per|each|every) week\b",
    re.IGNORECASE,
)
_AROUND_THE_CLOCK = re.compile(r"\ba?round[- ]the[- ]clock\b", re.IGNORECASE)
_START = re.compile(
    r"(?<![\w:.,$€£-])(?P<h>2[0-4]|1[0-9]|0?[0-9])(?:[:.h](?P<m>[0-5][0-9]))?(?P<unit>h|[ ]Uhr)?[ \u00a0]?"
    r"(?P<to>-|–|—|to|until|till|bis|through|and|und|à|a)[ \u00a0]?$",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"\b(?:between|zwischen|from|von|de) $", re.IGNORECASE)
_MILITARY = re.compile(
    r"(?<![\w:.,$€£-])(?P<h>[01][0-9]|2[0-3])(?P<m>[0-5][0-9])[ ]?(?:hours|hrs|h)(?!\w)", re.IGNORECASE
)
_MILITARY_CUE = re.compile(r"\b(?:at|from|until|till|by|between|opens|closes|starts|ends) $", re.IGNORECASE)
_HEURES = re.compile(
    r"(?<![0-9] )\b(?:à|dès|vers|jusqu['’]à|avant|après) (?P<h>[01]?[0-9]|2[0-4]) heures?\b(?: (?P<m>[0-5][0-9])(?!\w))?(?! ?(?:de|d['’]|par|avant|après|plus|auparavant|supplémentaires?)\b)",
    re.IGNORECASE,
)
"""A time of day in French: "à 10 heures"; "à 24 heures de" and "de 2 à 3 heures" are none."""
_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d[T ]$")
_RANGE = re.compile(r"[ ]?[-–—][ ]?|[ ](?:to|until|till|through|and|bis|und|à|a)[ ](?:the )?", re.IGNORECASE)


def find(text: str) -> list[Found]:
    """Finds times of day, ascending. 2 PM and 14:00 are "14:00"; 2:30 without a half of the day has both readings; 24/7 is "24/7"."""
    found: dict[int, Found] = {}
    for match in _DIGITS.finditer(text):
        for item in _read(text, match):
            found.setdefault(item.start, item)
    french = [_time(m.start("h"), m.end(), (f"{int(m['h']):02}:{m['m'] or '00'}",)) for m in _HEURES.finditer(text)]
    for item in (*_military(text), *french, *spoken_times.find(text), *office_hours.find(text)):
        found.setdefault(item.start, item)
    for match in (*_ALWAYS.finditer(text), *(_AROUND_THE_CLOCK.finditer(text) if "clock" in text else ())):
        found[match.start()] = Found("time", match.start(), match.end(), "24/7")
    lasting = {m.start() for m in LASTING.finditer(text)}
    return _apart(_zoned(text, _settled(text, _apart([found[at] for at in sorted(found) if at not in lasting]))))


def _military(text: str) -> list[Found]:
    """Finds times such as 0900 and 2200 hours. Without a leading nought only behind a word of time, for 1500 hours may also be how long something lasts."""
    return [
        _time(m.start(), m.end(), (f"{m['h']}:{m['m']}",))
        for m in _MILITARY.finditer(text)
        if m["h"][0] == "0" or _MILITARY_CUE.search(text, max(0, m.start() - 9), m.start())
    ]


def _apart(found: list[Found]) -> list[Found]:
    out: list[Found] = []
    for item in found:
        if not out or item.start >= out[-1].end:
            out.append(item)
    return out


def _read(text: str, match: re.Match[str]) -> list[Found]:
    hour, half = int(match["h"]), (match["ap"] or match["short"] or "").lower()
    if half:
        if match["short"] and match["m"] is None:
            return []
        return _halved(text, match, hour, half)
    part = spoken_times.part_of_day(text, match.end(), hour)
    if part and hour <= 12:
        return _halved(text, match, hour, part[0], part[1])
    if part:  # 19:15 in the evening; 14 in the afternoon is no time of day that anybody writes
        return [_whole(match, hour, match["m"])] if match["m"] and match["sep"] == ":" and hour <= 24 else []
    if match["sep"] == ": " or (match["sep"] == "." and not match["uhr"]):
        return []
    if match["bare"] is not None:
        wrong = _LASTS.match(text, match.end()) or _RATIO.search(text, max(0, match.start() - 14), match.start())
        return [] if wrong or hour > 24 else [_whole(match, hour, match["m"])]
    if match["oclock"]:
        return [_whole(match, hour, match["m"] or "00")] if 1 <= hour <= 12 else []
    if match["uhr"] or (match["hours"] and _is_hour(text, match)):
        return _continental(text, match, hour) if hour <= 24 else []
    return []


def _halved(text: str, match: re.Match[str], hour: int, half: str, end: int | None = None) -> list[Found]:
    """The time with a half of the day, 2 PM; with the first end of a range "9-5 pm" before it. 14:00 PM is what it says."""
    if hour > 24 or (hour > 12 and half == "a"):
        return []
    minute = match["m"] or "00"
    closing = _clock(hour, minute, half if hour <= 12 else "")
    out = [_time(match.start(), end or match.end(), (closing,), half_given=True)]
    opening = _START.search(text, max(0, match.start() - 14), match.start())
    if opening is None or not 1 <= int(opening["h"]) <= 12 or opening["unit"] or not _spans(text, opening):
        return out
    same, other = (_clock(int(opening["h"]), opening["m"] or "00", h) for h in (half, "a" if half == "p" else "p"))
    # the half that makes the range run forward comes first
    readings = (same, other) if same < closing else (other, same)
    stop = opening.end("m") if opening["m"] else opening.end("h")
    return [_time(opening.start(), stop, readings, half_given=True), *out]


def _spans(text: str, opening: re.Match[str]) -> bool:
    """True if two times are a range; "nine and 5 pm" is one only behind "between"."""
    return opening["to"].lower() not in ("and", "und", "a", "à") or bool(
        _BETWEEN.search(text, max(0, opening.start() - 10), opening.start())
    )


def _continental(text: str, match: re.Match[str], hour: int) -> list[Found]:
    """The times of 14 Uhr, 14.30 Uhr and 14h30, on the 24-hour clock; so is the first end of 9–17 Uhr."""
    minute = match["m"] or match["m2"] or "00"
    out = [_time(match.start(), match.end(), (_clock(hour, minute, ""),))]
    opening = _START.search(text, max(0, match.start() - 14), match.start())
    if opening and not opening["unit"] and (match["uhr"] or opening["m"] is None) and _spans(text, opening):
        stop = opening.end("m") if opening["m"] else opening.end("h")
        out.insert(0, _time(opening.start(), stop, (_clock(int(opening["h"]), opening["m"] or "00", ""),)))
    return out


def _is_hour(text: str, match: re.Match[str]) -> bool:
    """True if hours written with an h are a time of day: 14h30 is one, 2h only where a time is expected, else it lasts."""
    if match["m2"]:
        return not _LASTING.search(text, max(0, match.start() - 12), match.start())
    return bool(
        _HOUR_CUE.search(text, max(0, match.start() - 9), match.start()) or _HOUR_FOLLOWS.match(text, match.end())
    )


def _whole(match: re.Match[str], hour: int, minute: str) -> Found:
    """The time without a half of the day: 2:30 is in the morning or in the afternoon, 02:30 and 14:30 are on the 24-hour clock."""
    readings = [_clock(hour, minute, "")]
    if 1 <= hour <= 12 and not match["h"].startswith("0"):
        readings.append(f"{(hour + 12) % 24 if hour != 12 else 0:02d}:{minute}")
    return _time(match.start(), match.end(), tuple(readings))


def _time(start: int, end: int, readings: tuple[str, ...], *, half_given: bool = False) -> Found:
    return Found("time", start, end, readings[0], readings, half_given=half_given)


def _clock(hour: int, minute: str, half: str) -> str:
    hours = hour % 12 + (12 if half == "p" else 0) if half else hour % 24
    return f"{hours:02d}:{minute}"


def _settled(text: str, found: list[Found]) -> list[Found]:
    """The times with one reading where their line settles it. Beside 17:30 a bare 9:00 is in the morning: a line that uses the 24-hour clock has one reading for each of its times."""
    out: list[Found] = []
    line_end = -1

    def line(item: Found) -> int:
        nonlocal line_end
        if item.start > line_end:
            line_end = text.find("\n", item.start) % (len(text) + 1)
        return line_end

    for _, group in groupby(found, key=line):
        items = list(group)
        whole_day = any(t.value >= "13:00" and not t.half_given for t in items if t.value != "24/7")
        out += [replace(t, readings=t.readings[:1]) if whole_day and not t.half_given else t for t in items]
    return out


def _zoned(text: str, found: list[Found]) -> list[Found]:
    """Adds the zone behind a time, and to the first end of a range the zone behind its last."""
    out: list[Found] = []
    for item in found:
        zone = zones.read(text, item.end) if item.value != "24/7" else None
        # behind an ISO date only: 10:00-18:30 is a range
        if zone is None and _ISO_DATE.search(text, max(0, item.start - 11), item.start):
            zone = zones.read_offset(text, item.end)
        out.append(_in_zone(item, zone[0], zone[1]) if zone else item)
    for at in range(len(out) - 2, -1, -1):
        first, last = out[at], out[at + 1]
        gap = text[first.end : last.start] if last.start - first.end <= 12 else ""
        if " " in last.value and " " not in first.value and first.value != "24/7" and _RANGE.fullmatch(gap):
            out[at] = _in_zone(first, last.value.partition(" ")[2], first.end)
    return out


def _in_zone(item: Found, zone: str, end: int) -> Found:
    readings = tuple(f"{form} {zone}" for form in item.forms)
    return replace(item, end=end, value=readings[0], readings=readings)
