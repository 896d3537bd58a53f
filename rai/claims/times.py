"""Times of day, each end of a range for itself, as 24-hour HH:MM."""

from __future__ import annotations

import re
from dataclasses import replace

from rai.claims.found import Found

_TWELVE = re.compile(
    r"(?<![\w:.,$€£-])(?<![\d][–—])(?P<h>1[0-2]|0?[1-9])(?:(?:[:.]|: )(?P<m>[0-5][0-9]))?[ \u00a0\u202f]?"
    r"(?:(?P<ap>[ap])(?:\.[ ]?m\b\.?|m\b)|(?P<short>(?<=[0-9])[ap])(?![\w]))",
    re.IGNORECASE,
)
_RANGED = re.compile(_TWELVE.pattern.replace(r"(?<![\w:.,$€£-])(?<![\d][–—])", r"(?<=[-–—])"), re.IGNORECASE)
_CLOCK = re.compile(
    r"(?<![\w:.,$€£])(?P<h>2[0-3]|[01]?[0-9])(?::(?P<m>[0-5][0-9]))(?::[0-5][0-9])?(?![\w:%]|\.\d)|"
    r"(?<![\w:.,$€£])(?P<h2>2[0-3]|[01]?[0-9])(?: Uhr|h(?P<m2>[0-5][0-9])?(?=\b)(?! ?-?\w*hour))(?!\w)"
)
_OCLOCK = re.compile(r"(?<![\w:.,])(1[0-2]|[1-9]) ?o['’]?clock\b", re.IGNORECASE)
_NAMED = re.compile(r"\b(noon|midday|midnight)\b", re.IGNORECASE)
_ALWAYS = re.compile(r"(?<![\w/.])24/7(?![\w/])|\baround the clock\b|\bround[- ]the[- ]clock\b", re.IGNORECASE)
_START = re.compile(
    r"(?<![\w:.,$€£-])(?P<h>1[0-2]|0?[1-9])(?:[:.](?P<m>[0-5][0-9]))?[ \u00a0]?(?:-|–|—|to|until|till)[ \u00a0]?$",
    re.IGNORECASE,
)


def find(text: str) -> list[Found]:
    """2 PM and 14:00 are "14:00"; 2:30 without a half of the day has both readings; 24/7 is "24/7"."""
    found: dict[int, Found] = {}
    for pattern in (_TWELVE, _RANGED):
        for match in pattern.finditer(text):
            half = (match["ap"] or match["short"]).lower()
            if match["short"] and match["m"] is None:
                continue
            closing = (_clock(match["h"], match["m"], half),)
            found[match.start()] = _time(match.start(), match.end(), closing, half_given=True)
            opening = _opening(text, match, half)
            if opening:
                found.setdefault(opening.start, opening)
    for match in _CLOCK.finditer(text):
        found.setdefault(match.start(), _bare(match))
    for match in _OCLOCK.finditer(text):
        readings = (_clock(match.group(1), None, "a"), _clock(match.group(1), None, "p"))
        found.setdefault(match.start(), _time(match.start(), match.end(), readings))
    for match in _NAMED.finditer(text):
        found[match.start()] = _time(
            match.start(),
            match.end(),
            ("00:00" if match.group().lower() == "midnight" else "12:00",),
            half_given=True,
        )
    for match in _ALWAYS.finditer(text):
        found[match.start()] = Found("time", match.start(), match.end(), "24/7")
    return _settled(text, [found[start] for start in sorted(found)])


def _settled(text: str, found: list[Found]) -> list[Found]:
    """Beside 17:30 a bare 9:00 is in the morning: a line that uses the 24-hour clock has one reading for each of its times."""
    out: list[Found] = []
    for time in found:
        start, end = text.rfind("\n", 0, time.start) + 1, text.find("\n", time.end)
        line = [t for t in found if start <= t.start and (end < 0 or t.start < end)]
        whole_day = any(t.value >= "13:00" and not t.half_given for t in line if t.value != "24/7")
        out.append(replace(time, readings=time.readings[:1]) if whole_day and not time.half_given else time)
    return out


def _time(start: int, end: int, readings: tuple[str, ...], *, half_given: bool = False) -> Found:
    return Found("time", start, end, readings[0], readings, half_given=half_given)


def _clock(hour: str, minute: str | None, half: str) -> str:
    hours = int(hour) % 12 + (12 if half == "p" else 0)
    return f"{hours:02d}:{minute or '00'}"


def _bare(match: re.Match[str]) -> Found:
    hour, minute = int(match["h"] or match["h2"]), match["m"] or match["m2"] or "00"
    readings = [f"{hour:02d}:{minute}"]
    written = match["h"] or ""
    if 1 <= hour <= 12 and not written.startswith("0") and match["h2"] is None:
        readings.append(f"{(hour + 12) % 24 if hour != 12 else 0:02d}:{minute}")
    return _time(match.start(), match.end(), tuple(readings))


def _opening(text: str, end: re.Match[str], half: str) -> Found | None:
    """The first end of "9-5 pm": the half that makes the range run forward comes first."""
    match = _START.search(text, max(0, end.start() - 14), end.start())
    if match is None:
        return None
    same, other = _clock(match["h"], match["m"], half), _clock(match["h"], match["m"], "a" if half == "p" else "p")
    closing = _clock(end["h"], end["m"], half)
    readings = (same, other) if same < closing else (other, same)
    stop = match.end("m") if match["m"] else match.end("h")
    return _time(match.start(), stop, readings, half_given=True)
