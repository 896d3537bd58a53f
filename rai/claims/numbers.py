"""Numbers, percentages and quantities with a unit."""

from __future__ import annotations

import re

from rai.claims.found import Found
from rai.claims.numerals import Numeral, numerals

_UNITS: dict[str, str] = {
    "ms": "ms", "millisecond": "ms", "milliseconds": "ms", "sec": "second", "secs": "second", "second": "second",
    "seconds": "second", "min": "minute", "mins": "minute", "minute": "minute", "minutes": "minute", "h": "hour",
    "hr": "hour", "hrs": "hour", "hour": "hour", "hours": "hour", "day": "day", "days": "day", "week": "week",
    "weeks": "week", "month": "month", "months": "month", "year": "year", "years": "year", "yr": "year", "yrs": "year",
    "night": "night", "nights": "night", "mm": "mm", "cm": "cm", "m": "m", "km": "km", "meter": "m", "meters": "m",
    "metre": "m", "metres": "m", "kilometer": "km", "kilometers": "km", "kilometre": "km", "kilometres": "km",
    "inch": "inch", "inches": "inch", "ft": "foot", "feet": "foot", "foot": "foot", "mile": "mile", "miles": "mile",
    "yard": "yard", "yards": "yard", "mg": "mg", "g": "g", "gram": "g", "grams": "g", "kg": "kg", "kgs": "kg",
    "kilo": "kg", "kilos": "kg", "kilogram": "kg", "kilograms": "kg", "lb": "lb", "lbs": "lb", "oz": "oz",
    "ounce": "oz", "ounces": "oz", "ton": "ton", "tons": "ton", "tonne": "t", "tonnes": "t", "ml": "ml", "l": "l",
    "liter": "l", "liters": "l", "litre": "l", "litres": "l", "gallon": "gallon", "gallons": "gallon", "w": "W",
    "watt": "W", "watts": "W", "kw": "kW", "kwh": "kWh", "v": "V", "volt": "V", "volts": "V", "mah": "mAh",
    "hz": "Hz", "khz": "kHz", "mhz": "MHz", "ghz": "GHz", "px": "px", "pixel": "px", "pixels": "px", "dpi": "dpi",
    "kbps": "kbps", "mbps": "Mbps", "gbps": "Gbps", "°c": "°C", "°f": "°F", "kb": "KB", "mb": "MB", "gb": "GB",
    "tb": "TB", "kib": "KiB", "mib": "MiB", "gib": "GiB", "tib": "TiB", "mph": "mph", "km/h": "km/h",
}  # fmt: skip
_BITS = {"Kb": "kbit", "Mb": "Mbit", "Gb": "Gbit", "Tb": "Tbit"}  # eight times less than KB, MB, GB, TB
_UNIT = re.compile(
    r"(?P<gap>[ \u00a0\u202f-]{0,2})(?P<adjective>(?:business|working|calendar|full) )?"
    r"(?P<unit>km/h|°[cf]|[a-z]{1,12})(?![\w])",
    re.IGNORECASE,
)
_PERCENT = re.compile(r"[ \u00a0\u202f-]?(?:%|percent\b|per cent\b|pct\b)", re.IGNORECASE)
_ORDINAL = re.compile(r"(?:st|nd|rd|th)\b", re.IGNORECASE)
_DIMENSION = re.compile(r"\s?[xX×]\s?[0-9]")


def find_percent(text: str) -> list[Found]:
    """Percentages: 50%, 50 per cent, fifty percent. The value is "50%"."""
    found: list[Found] = []
    for numeral in numerals(text):
        match = _PERCENT.match(text, numeral.end)
        if match:
            readings = tuple(f"{r}%" for r in numeral.readings)
            found.append(Found("percent", numeral.start, match.end(), readings[0], readings, numeral.readings))
    return found


def find_quantity(text: str) -> list[Found]:
    """Numbers with a unit: 30 days, 24-hour, 5 GB, 60cm. The value is "30 day": one canonical unit, never converted."""
    found: list[Found] = []
    for numeral in numerals(text):
        match = _UNIT.match(text, numeral.end)
        unit = _unit(match) if match else None
        if match and unit:
            readings = tuple(f"{r} {unit}" for r in numeral.readings)
            found.append(Found("quantity", numeral.start, match.end(), readings[0], readings, numeral.readings))
    return found


def _unit(match: re.Match[str]) -> str | None:
    word, gap = match["unit"], match["gap"]
    unit = _BITS.get(word) or _UNITS.get(word.lower())
    if unit is None or (len(word) == 1 and len(gap) > 1) or (len(word) == 1 and word.isupper() and word not in "WV"):
        return None
    adjective = (match["adjective"] or "").strip().lower()
    # business and working days are one thing, calendar days are days
    return f"business {unit}" if adjective in ("business", "working") else unit


def find_number(text: str) -> list[Found]:
    """Bare numbers, ordinals (2nd) and number words; "one" alone is a pronoun more often than a number."""
    return [
        Found("number", n.start, n.end, n.readings[0], n.readings, n.readings)
        for n in numerals(text)
        if not (n.spelled and text[n.start : n.end].lower() == "one") and _ends_here(text, n)
    ]


def _ends_here(text: str, numeral: Numeral) -> bool:
    following = text[numeral.end : numeral.end + 1]
    if not (following.isalpha() or following == "_"):
        return True
    return bool(_ORDINAL.match(text, numeral.end) or _DIMENSION.match(text, numeral.end))


def unit_words(value: str) -> frozenset[str]:
    """Every spelling of the unit of a quantity's value: {"day", "days"} of "30 day"."""
    unit = value.rsplit(" ", maxsplit=1)[-1]
    return frozenset(word for word, canonical in _UNITS.items() if canonical == unit) | {unit.lower()}
