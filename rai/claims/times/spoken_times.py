"""Times in words: noon, half past two, quarter to nine, nine o'clock, two in the afternoon."""

from __future__ import annotations

import re

from rai.claims.found import Found
from rai.claims.word_spans import words

_HOURS = {
    name: hour
    for hour, name in enumerate(
        ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"), 1
    )
}
_NOON = frozenset({"noon", "midday", "mittags", "mediodía", "mezzogiorno"})
_MIDNIGHT = frozenset({"midnight", "mitternacht", "minuit", "medianoche", "mezzanotte"})
_TWELVE = re.compile(r"(?<![\w:.,])12(?: o['’]clock)?[ -]$")
_HOUR = rf"(?:(?P<word>{'|'.join(_HOURS)})|(?P<h>1[0-2]|[1-9]))(?![\w:]|[.,]\d)"
_HALF_PAST = re.compile(rf"(?: |-)past {_HOUR}", re.IGNORECASE)
_HALF_AN_HOUR = re.compile(
    rf"[ -]{_HOUR}(?! (?:hours?|minutes?|days?|of|percent|million|billion)\b)", re.IGNORECASE
)  # British: half past
_QUARTER = re.compile(
    rf" (?:(?P<past>past|after)|to|before|of|till) {_HOUR}(?! (?:percent|million|billion|users|people))", re.IGNORECASE
)
_PAST = re.compile(rf" {_HOUR}", re.IGNORECASE)
_MINUTES = re.compile(
    r"(?<![\w.,-])(?:(?P<word>five|ten|twenty-five|twenty)|(?P<m>[1-5]?[0-9]))(?P<unit> minutes?)? $", re.IGNORECASE
)
_AT = re.compile(r"\b(?:at|by|until|till|before|after) $", re.IGNORECASE)
_MINUTE_WORDS = {"five": 5, "ten": 10, "twenty": 20, "twenty-five": 25}
_A = re.compile(r"\ba $", re.IGNORECASE)
_AFTER_WORD = re.compile(
    r"(?: (?P<half>thirty|fifteen|forty-five))?(?: (?P<oclock>o['’]?clock\b)| (?P<ap>[ap])(?:\.[ ]?m\b\.?|m\b))",
    re.IGNORECASE,
)
_WORD_MINUTES = {None: "00", "thirty": "30", "fifteen": "15", "forty-five": "45"}
_HALF_OF_DAY = re.compile(r" ?(?P<ap>[ap])(?:\.[ ]?m\b\.?|m\b)", re.IGNORECASE)
_PART = re.compile(
    r" (?:(?P<a>in the morning|morgens|vormittags)|du (?P<a2>matin)|de la (?P<a3>mañana)"
    r"|(?P<p>in the (?:afternoon|evening)|nachmittags|abends)|(?:du |de l['’]|de la )(?P<p2>après-midi|soir|tarde)"
    r"|(?P<n>at night|nachts|de la noche))(?!\w)",
    re.IGNORECASE,
)
_LAST = re.compile(r"\b(?:for|last|first|next|in|within|about) $", re.IGNORECASE)


def find(text: str) -> list[Found]:
    """Finds times that are said in words. Without a half of the day an hour has both readings, the morning first."""
    found: list[Found] = []
    for word, start, end in words(text):
        if word in _NOON or word in _MIDNIGHT:
            twelve = _TWELVE.search(text, max(0, start - 12), start)
            value = "12:00" if word in _NOON else "00:00"
            found.append(Found("time", twelve.start() if twelve else start, end, value, (value,), half_given=True))
        elif word == "half":
            found += _past(text, start, _HALF_PAST.match(text, end) or _HALF_AN_HOUR.match(text, end), 30)
        elif word == "quarter":
            match = _QUARTER.match(text, end)
            article = _A.search(text, max(0, start - 3), start)
            found += _past(text, article.start() if article else start, match, 15 if match and match["past"] else -15)
        elif word in ("past", "to"):
            found += _minutes(text, word, start, end)
        elif word in _HOURS:
            found += _hour(text, word, start, end)
    return found


def part_of_day(text: str, at: int, hour: int) -> tuple[str, int] | None:
    """The half of the day ("a" or "p") that words at `at` say, and where they end: " in the morning", " at night"."""
    match = _PART.match(text, at)
    if match is None:
        return None
    if match["n"]:
        return ("p" if 6 <= hour <= 11 else "a"), match.end()
    return ("a" if match["a"] or match["a2"] or match["a3"] else "p"), match.end()


def _past(text: str, start: int, match: re.Match[str] | None, minutes: int) -> list[Found]:
    if match is None:
        return []
    hour = int(match["h"]) if match["h"] else _HOURS[match["word"].lower()]
    at = (hour * 60 + minutes) % 720
    end, half = _half(text, match.end(), hour)
    return [_time(start, end, at, half)]


def _minutes(text: str, word: str, start: int, end: int) -> list[Found]:
    """The time that begins with minutes: ten past five, twenty minutes to six; "ten to six" without "minutes" is a range as often, "twenty to six" and "at ten to six" are none."""
    before, after = _MINUTES.search(text, max(0, start - 24), start), _PAST.match(text, end)
    if before is None or after is None:
        return []
    if word == "to" and not before["unit"]:
        spoken = (before["word"] or "").lower()
        if not spoken or not (
            spoken.startswith("twenty") or _AT.search(text, max(0, before.start() - 8), before.start())
        ):
            return []
    minutes = int(before["m"]) if before["m"] else _MINUTE_WORDS[before["word"].lower()]
    return _past(text, before.start(), after, minutes if word == "past" else -minutes)


def _hour(text: str, word: str, start: int, end: int) -> list[Found]:
    match = _AFTER_WORD.match(text, end)
    if match is None:
        part = part_of_day(text, end, _HOURS[word])
        if part is None or _LAST.search(text, max(0, start - 8), start):
            return []
        return [_time(start, part[1], _HOURS[word] * 60 % 720, part[0])]
    minute = _WORD_MINUTES[match["half"].lower() if match["half"] else None]
    half = (match["ap"] or "").lower()
    stop = match.end()
    if not half:
        stop, half = _half(text, stop, _HOURS[word])
    return [_time(start, stop, _HOURS[word] * 60 % 720 + int(minute), half)]


def _half(text: str, at: int, hour: int) -> tuple[int, str]:
    match = _HALF_OF_DAY.match(text, at)
    if match:
        return match.end(), match["ap"].lower()
    part = part_of_day(text, at, hour)
    return (part[1], part[0]) if part else (at, "")


def _time(start: int, end: int, at: int, half: str) -> Found:
    forms = tuple(f"{(at + add) // 60 % 24:02d}:{at % 60:02d}" for add in (0, 720))
    if half:
        form = forms[1] if half == "p" else forms[0]
        return Found("time", start, end, form, (form,), half_given=True)
    # nobody says "half past nine" by the 24-hour clock: both halves of the day are meant
    return Found("time", start, end, forms[0], forms, half_given=True)
