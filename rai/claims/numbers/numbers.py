"""Numbers, percentages and quantities with a unit."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache

from rai.claims.found import Found
from rai.claims.numbers.numeral import scaled
from rai.claims.numbers.ranges import Joint, joints
from rai.claims.numbers.rates import per_of
from rai.claims.numbers.read_digits import Numeral, canonical, lowered, numerals, plain
from rai.claims.numbers.units import LENGTHS, per_second, prefixed, spellings_of, unit_of, with_hours

_UNIT = re.compile(
    r"(?P<gap>[ \u00a0\u202f-]{0,2})(?P<adjective>(?:business|working|calendar|full|consecutive) )?"
    r"(?P<prefix>(?:square|cubic|fluid|degrees?|sq|cu|fl)\.?[ \u00a0]|°[ \u00a0]?)?"
    r"(?P<unit>[kKmMgG]?(?:m|b|B|bit)/[hs](?![\w])|[°℃℉]|[^\W\d_]{1,14}[²³23]?)(?![\w])",
    re.IGNORECASE,
)
_WORKING = re.compile(
    r" (?:ouvr(?:é|able)s?|hábil(?:es)?|laborables?|lavorativ[oi]|út(?:il|eis)|robocz\w{1,3}|naturales|naturais|calendaires|corridos)\b",
    re.IGNORECASE,
)
_PLAIN_DAYS = ("naturales", "naturais", "calendaires", "corridos")
_OF = re.compile(
    r" of an? (?P<unit>second|minute|hour|day|week|month|year|gigabyte|mile|kilomet(?:er|re)|lit(?:er|re))\b",
    re.IGNORECASE,
)
_PRIME = re.compile(r" ?[″”\"](?=,? ?(?:display|screen|monitor|tv|panel|laptop|tablet|wide|x\b))", re.IGNORECASE)
_BELOW_ZERO = re.compile(r" below (?:zero|freezing)\b", re.IGNORECASE)
_HOURS = re.compile(r"[ -]hours?\b", re.IGNORECASE)
_ASSIGNED = re.compile(r"[=:] ?$")
_SECTION = re.compile(r"(?:§|\b(?:section|clause|article|artikel|art\.|paragraph)) ?$", re.IGNORECASE)
_CURRENT = re.compile(
    r"\b(?:adapter|charger|charging|usb|fuse|amps?|ampere|current|battery|circuit|breaker|output|input|volts?|[0-9] ?V|socket|strom)\b",
    re.IGNORECASE,
)
_AND_A_PART = re.compile(
    r" and (?:a (half|quarter)|(three) quarters)\b| (und eine halbe|et demie?|y media|y medio|e mezz[ao]|e meia|e meio|en een half|i pół)\b",
    re.IGNORECASE,
)
_PARTS = {"half": "0.5", "quarter": "0.25", "three": "0.75"}
_PERCENT = re.compile(
    r"[ \u00a0\u202f-]?(?:(?P<points>percentage[ -]points?\b|percent points?\b|%[ -]points?\b|pp\b|prozentpunkte?n?\b|ppts?\b)"
    r"|(?P<basis>basis[ -]points?\b|bps\b)|(?P<mille>‰|per mille\b)"
    r"|%|percent\b|per cent\b|pct\b|prozent\b|pour cent\b|por ciento\b|per cento\b|por cento\b)",
    re.IGNORECASE,
)
_ORDINAL = re.compile(r"(?:st|nd|rd|th|ème|eme|er|re)\b|[º°ª]", re.IGNORECASE)
_AGES = re.compile(r"['’]?s(?!\w)")
"""14s and 15s: people of that age."""
_DIMENSION = re.compile(r"\s?[xX×]\s?[0-9]")
_TIMES = re.compile(r"[ -]?[x×](?![\w]|[ ]?[0-9])")
_PERIOD = re.compile(r"(?: ?/ ?| per | an )[^\W\d_]{1,7}", re.IGNORECASE)
_SMALLER = {
    ("year", "month"): 12,
    ("week", "day"): 7,
    ("day", "hour"): 24,
    ("hour", "minute"): 60,
    ("minute", "second"): 60,
    ("foot", "inch"): 12,
    ("lb", "oz"): 16,
}
_AND = re.compile(r" and ")
_PIECES = re.compile(r",? (?:and )?|(?: ?, ?)?")

Read = tuple[str, int]


def find_percent(text: str) -> list[Found]:
    """Finds percentages: 50%, 50 per cent, fifty percent, both ends of 10-20%. The value is "50%", of percentage points "5pp".

    5‰ is 0.5%; 50 basis points are 0.5pp.
    """
    found: list[Found] = []
    every = numerals(text)
    for numeral, read in zip(every, _read_all(text, every, _percent_at), strict=True):
        if read:
            mark, end = read
            power = {"‰": -1, "bp": -2}.get(mark, 0)
            sign = {"‰": "%", "bp": "pp"}.get(mark, mark)
            readings = tuple(f"{scaled(r, power)}{sign}" for r in numeral.readings)
            found.append(Found("percent", numeral.start, end, readings[0], readings, numeral.readings))
    return found


def _percent_at(text: str, numeral: Numeral) -> Read | None:
    following = text[numeral.end : numeral.end + 2].lower()
    if not following or following[0] not in " \u00a0\u202f-%‰pb":
        return None
    match = _PERCENT.match(text, numeral.end)
    if match is None or numeral.unit:
        return None
    sign = "pp" if match["points"] else "bp" if match["basis"] else "‰" if match["mille"] else "%"
    return sign, match.end()


def find_quantity(text: str) -> list[Found]:
    """Finds numbers with a unit: 30 days, 24-hour, 5 GB, both ends of 5-8 days, all sides of 85x60x60cm, twice a week, an hour.

    The value is "30 day": one canonical unit, never converted but that 2 hours 30 minutes is one quantity, "150 minute".
    """
    return list(_quantities(text))


@lru_cache(maxsize=16)
def _quantities(text: str) -> tuple[Found, ...]:
    every = numerals(text)
    kept = plain(text)
    found: list[Found] = []
    last = -1
    for at, (numeral, read) in enumerate(zip(every, _read_all(kept, every, _unit_at), strict=True)):
        if read is None:
            continue
        fresh = _quantity(kept, numeral, *read)
        if found and at == last + 1 and (joined := _together(kept, found[-1], fresh)):
            found[-1] = joined
        elif not found or found[-1].end <= fresh.start:  # the half of "5 hours and a half month" belongs to one of them
            found.append(fresh)
        last = at
    lasting = [_lasting(m) for m in LASTING.finditer(kept)]
    apart = [f for f in found if not any(a.start < f.end and f.start < a.end for a in lasting)]
    return tuple(sorted((*apart, *lasting), key=lambda f: f.start))


LASTING = re.compile(
    r"(?<![\d.,:])(?<!à )(?<!at )(?<!bis )(?<!um )(?<!las )(?<!until )(?P<hours>\d{1,2}) ?h ?(?P<minutes>[0-5]\d)(?= (?:before|after|prior|ahead|earlier|later|long|vor|nach|avant|après|antes|después|prima|dopo|depois|voor|na|przed|po)\b)",
    re.IGNORECASE,
)
"""2 h 30 before departure: how long, not when."""


def _lasting(match: re.Match[str]) -> Found:
    value = f"{int(match['hours']) * 60 + int(match['minutes'])} minute"
    return Found("quantity", match.start(), match.end(), value, (value,), (value.partition(" ")[0],))


def _read_all(text: str, every: Sequence[Numeral], read: Callable[[str, Numeral], Read | None]) -> list[Read | None]:
    """What each numeral is followed by; the low end of a range and the sides of a measure have what the last one has."""
    own = [read(text, n) for n in every]
    if not any(own):
        return own
    joined = joints(text, every)
    for at in range(len(every) - 2, -1, -1):
        after = own[at + 1]
        if own[at] is None and after and joined[at] and _shared(joined[at], after[0]):
            own[at] = (after[0], every[at].end)
    return own


def _shared(joint: Joint, unit: str) -> bool:
    """True if a unit behind the second of two numerals is that of the first too: of 85 x 60 cm, two sides; not of 4 x 100 g, four packs."""
    return joint == "range" or unit in LENGTHS


def _unit_at(text: str, numeral: Numeral) -> Read | None:
    if numeral.unit:
        return numeral.unit, numeral.end
    if numeral.ordinal or numeral.end >= len(text):
        return None
    match = _UNIT.match(text, numeral.end)
    unit = _unit(match) if match else None
    if match and not match["prefix"] and len(match["unit"]) == 1:
        unit = _letter(text, numeral, match, unit)
    if (
        match
        and unit in ("day", "week")
        and (working := _WORKING.match(text, match.start("unit") + len(_plain_word(match))))
    ):
        plainly = working[0].strip().lower() in _PLAIN_DAYS
        return (unit if plainly else f"business {unit}"), working.end()
    part = _OF.match(text, numeral.end) if numeral.spelled and numeral.readings[0].startswith("0.") else None
    if part:
        return unit_of(part["unit"]) or part["unit"], part.end()
    if match and unit:
        return unit, match.end() if match["prefix"] else match.start("unit") + len(_plain_word(match))
    if match and match["prefix"] and (alone := unit_of(match["prefix"].strip())):
        return alone, match.start("prefix") + len(match["prefix"].rstrip())  # 20 degrees below zero
    times = _TIMES.match(text, numeral.end)
    if times and not numeral.spelled:
        return "times", times.end()
    prime = _PRIME.match(text, numeral.end)
    return ("inch", prime.end()) if prime else None


def _letter(text: str, numeral: Numeral, match: re.Match[str], unit: str | None) -> str | None:
    """The unit of one letter behind a numeral, which words around it decide: 30s is a stretch of time behind "=", § 312g is no weight."""
    letter, gap = match["unit"], match["gap"]
    if letter == "s" and not gap and _ASSIGNED.search(text, max(0, numeral.start - 2), numeral.start):
        return "second"
    if letter == "A" and gap in ("", " ") and not match["adjective"]:
        before, behind = text[max(0, numeral.start - 60) : numeral.start], text[numeral.start : match.end() + 30]
        near = (
            before.rpartition("\n")[2] + behind.partition("\n")[0]
        )  # the next line speaks of something else, and a source may have another one there
        return "amp" if _CURRENT.search(near) else None
    if unit and not gap and _SECTION.search(text, max(0, numeral.start - 11), numeral.start):
        return None
    return unit


def _plain_word(match: re.Match[str]) -> str:
    word = match["unit"]
    return word if unit_of(word) or word in "℃℉°A" else word[:-1]


def _unit(match: re.Match[str]) -> str | None:
    word, gap = match["unit"], match["gap"]
    if match["prefix"]:
        return prefixed(match["prefix"].replace("\u00a0", " "), word)
    unit = unit_of(word)
    letter = len(word) == 1 and word.isalpha()
    if unit is None or (letter and (len(gap) > 1 or gap == "-" or (word.isupper() and word not in "WV"))):
        return None
    if word == "s" and not gap:
        return None  # the 1990s
    adjective = (match["adjective"] or "").strip().lower()
    # business and working days are one thing, calendar days are days
    return f"business {unit}" if adjective in ("business", "working") else unit


def _quantity(text: str, numeral: Numeral, unit: str, end: int) -> Found:
    readings, per = numeral.readings, per_of(text, end)
    period = _PERIOD.match(text, end)
    speed = per_second(unit, per) if period else None
    if period and speed:
        unit, per, end = speed, "", period.end()
    energy = with_hours(unit)
    if energy and (hours := _HOURS.match(text, end)):
        unit, end, per = energy, hours.end(), per_of(text, hours.end())
    part = _AND_A_PART.match(text, end)
    if part:
        readings = tuple(
            canonical(Decimal(r) + Decimal(_PARTS.get((part[1] or part[2] or "").lower(), "0.5"))) for r in readings
        )
        end = part.end()
    if unit in ("°C", "°F", "degree") and (below := _BELOW_ZERO.match(text, end)):
        readings, end = tuple(scaled(f"-{r.lstrip('-')}", 0) for r in readings), below.end()
    forms = tuple(f"{r} {unit}" for r in readings)
    return Found("quantity", numeral.start, end, forms[0], forms, readings, per=per)


def _together(text: str, large: Found, small: Found) -> Found | None:
    """Two quantities that are one in the smaller unit: 2 hours 30 minutes are 150 minutes, 5 ft 10 in are 70 inches; None if they are two quantities."""
    more, less = large.value.partition(" "), small.value.partition(" ")
    scale = _SMALLER.get((more[2], less[2]))
    pieces = _PIECES if text[large.start].isdigit() else _AND  # "for a day, 2 hours" are two
    if scale is None or large.per or not pieces.fullmatch(text, large.end, small.start):
        return None
    total, rest = Decimal(more[0]) * scale, Decimal(less[0])
    if not 0 <= rest < scale:
        return None  # open 7 days, 24 hours
    plainly = canonical(total + rest)
    value = f"{plainly} {less[2]}"
    magnitudes = (*large.magnitudes, *small.magnitudes, plainly)
    return replace(small, start=large.start, value=value, readings=(value,), magnitudes=magnitudes)


def find_number(text: str) -> list[Found]:
    """Finds bare numbers, ordinals (2nd, third) and number words; "one" alone is a pronoun more often than a number."""
    return [
        Found("number", n.start, n.end, n.readings[0], n.readings, n.readings, per=per_of(text, n.end))
        for n in numerals(text)
        if not n.unit and not (n.spelled and lowered(text[n.start : n.end]) == "one") and _ends_here(text, n)
    ]


def _ends_here(text: str, numeral: Numeral) -> bool:
    following = text[numeral.end : numeral.end + 1]
    if not (following.isalpha() or following == "_"):
        return True
    return bool(
        _ORDINAL.match(text, numeral.end)
        or _DIMENSION.match(text, numeral.end)
        or (_AGES.match(text, numeral.end) and not numeral.spelled)
    )


def unit_words(value: str) -> frozenset[str]:
    """Every spelling of the unit of a quantity's value: {"day", "days", "tage", …} of "30 day"."""
    unit = value.partition(" ")[2]
    return spellings_of(unit.removeprefix("business "))
