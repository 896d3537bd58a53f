"""Edits of figures: one digit of a value, its unit or currency, its day, month, year or weekday; none that any source holds."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal

from bot.evaluate.suites.provenance.mutate import membership
from bot.evaluate.suites.provenance.mutate.records import Edit, Supported
from bot.evaluate.suites.provenance.mutate.surfaces import MONTHS, NUMBER, WEEKDAYS, Surface, digits_of
from grounding.tables import table

_FIGURES = ("number", "quantity", "money", "percent", "time")
_TABLE = table(__file__)
_SWAPS: list[list[str]] = _TABLE["swaps"]
"""Units, each first of its row, with others of its dimension that may take its place."""
_SINGULAR: dict[str, str] = _TABLE["singular"]
_SIZES = {name: Decimal(size) for name, size in _TABLE["sizes"].items()}
"""Units in the smallest of their dimension: seconds, MB, grams, millimetres, millilitres, watts, MHz."""
_LONG: dict[str, str] = _TABLE["abbreviations"]
_SIGNS: dict[str, str] = _TABLE["signs"]
"""Signs of currencies, with those that may take their place."""
_CURRENCIES: dict[str, str] = _TABLE["currencies"]


def digit(supported: Supported, surface: Surface, rng: random.Random) -> Edit | None:
    """One digit replaced by another; the new value is no source's, not as another form and not by rounding."""
    if surface.kind not in _FIGURES:
        return None
    places = digits_of(surface)
    rng.shuffle(places)
    for at in places[:4]:
        now = _with(surface.text, at, rng.choice([d for d in "0123456789" if d != surface.text[at]]))
        if _plausible(surface, now) and not _held(surface.kind, now, supported):
            return Edit("digit", surface.kind, surface.start, surface.end, now, "one digit")
    return None


def _with(text: str, at: int, digit: str) -> str:
    return text[:at] + digit + text[at + 1 :]


def _plausible(surface: Surface, now: str) -> bool:
    if re.match(r"\D*0\d", now) and surface.kind != "time":
        return False
    if surface.kind == "time":
        hour, _, minute = re.sub(r"[^\d:]", "", now).partition(":")
        return (
            int(hour) <= (12 if re.search("[apAP]", now) else 23) and int(minute or 0) <= 59 and hour not in ("0", "00")
        )
    return any(c in "123456789" for c in now)


def _held(kind: str, now: str, supported: Supported) -> bool:
    if kind == "time":
        return membership.holds_time(now, supported.texts)
    return membership.holds_number(_number(now), supported.texts)


def _number(text: str) -> Decimal:
    match = re.search(NUMBER, text)
    assert match is not None
    return Decimal(match.group().replace(",", ""))


def unit(supported: Supported, surface: Surface, rng: random.Random) -> Edit | None:
    """The unit or the currency replaced by another of its dimension; no text holds the pair or its equal in another unit."""
    if surface.kind == "money":
        return _currency(supported, surface, rng)
    if surface.kind != "quantity":
        return None
    match = re.search(NUMBER, surface.text)
    assert match is not None
    was = surface.text[match.end() :].lstrip(" -")
    choices = [other for row in _SWAPS if was in (row[0], _SINGULAR.get(row[0])) for other in row[1:]]
    rng.shuffle(choices)
    value = _number(surface.text)
    for choice in choices:
        if not _pair_held(value, choice, supported):
            shown = _SINGULAR.get(choice, choice) if was in _SINGULAR.values() else choice
            start = surface.start + len(surface.text) - len(was)
            return Edit("unit", "quantity", start, surface.end, shown, f"{was} to {shown}")
    return None


def _pair_held(value: Decimal, unit_name: str, supported: Supported) -> bool:
    if unit_name not in _SIZES:
        return any(unit_name in text for text in supported.texts)
    size = value * _SIZES[unit_name]
    for text in supported.texts:
        for number, name in _pairs(text):
            if abs(number * _SIZES[name] - size) <= size * Decimal("0.05"):
                return True
    return False


def _pairs(text: str) -> Iterator[tuple[Decimal, str]]:
    """Numbers that stand before a unit in a text; number words stand for their digits; a loose number is paired with none."""
    full = {s: p for p, s in _SINGULAR.items()} | {name: name for name in _SIZES} | _LONG
    for match in re.finditer(r"([^\W_][\w.,]*)[\s-]{0,2}([A-Za-z]{1,8})\b", text):
        name = full.get(match[2]) or full.get(match[2].lower())
        if name is not None:
            for number in membership.numbers(match[1]):
                yield number, name


def _currency(supported: Supported, surface: Surface, rng: random.Random) -> Edit | None:
    sign = next((c for c in surface.text if c in _SIGNS), None)
    if sign is not None:
        choices = [c for c in _SIGNS[sign] if not any(c in text for text in supported.texts)]
        at = surface.start + surface.text.index(sign)
        return Edit("unit", "money", at, at + 1, rng.choice(choices), "currency") if choices else None
    match = re.search(r"[A-Za-z]+$", surface.text)
    now = _CURRENCIES.get(match.group()) if match else None
    if match is None or now is None or any(now.rstrip("s").lower() in text.lower() for text in supported.texts):
        return None
    return Edit("unit", "money", surface.start + match.start(), surface.end, now, "currency")


def shifted(supported: Supported, surface: Surface, rng: random.Random) -> Edit | None:
    """Another day, month, year or weekday; no text has it."""
    if surface.kind != "date":
        return None
    if surface.text in WEEKDAYS:
        other = rng.choice([d for d in WEEKDAYS if d != surface.text])
        held = membership.holds_weekday(other, supported.texts)
        return None if held else Edit("date", "date", surface.start, surface.end, other, "weekday")
    ways = ["day", "month", "year"]
    rng.shuffle(ways)
    for way in ways:
        now = _moved(surface.text, way, rng)
        if now is not None and not _date_held(now[0], now[1], way, supported):
            return Edit("date", "date", surface.start, surface.end, now[0], way)
    return None


def _moved(text: str, way: str, rng: random.Random) -> tuple[str, date] | None:
    """The date moved, written as it was, and as a date (2000 where the year is not said)."""
    iso = re.fullmatch(r"(\d{4})-(\d{2})-(\d{2})", text)
    month = next((m for m in MONTHS if m[:3] in text), None)
    year = re.search(r"\d{4}", text)
    day = re.search(r"(?<!\d)\d{1,2}(?!\d)", re.sub(r"\d{4}", "", text))
    if iso:
        was = date(int(iso[1]), int(iso[2]), int(iso[3]))
    elif month and day:
        try:
            was = date(int(year.group()) if year else 2000, MONTHS.index(month) + 1, int(day.group()))
        except ValueError:
            return None
    else:
        return _other_year(text, rng) if way == "year" and year else None
    new = _step(was, way, rng)
    if new is None or (way == "year" and not year):
        return None
    return (new.isoformat() if iso else _written(text, was, new), new)


def _step(was: date, way: str, rng: random.Random) -> date | None:
    by = rng.choice((-1, 1))
    try:
        if way == "day":
            new = was + timedelta(days=by * rng.choice((1, 1, 2, 3, 7)))
            return new if new.month == was.month else None
        if way == "month":
            return was.replace(month=(was.month - 1 + by) % 12 + 1)
        return was.replace(year=was.year + by)
    except ValueError:
        return None


def _other_year(text: str, rng: random.Random) -> tuple[str, date]:
    year = int(text) + rng.choice((-2, -1, 1, 2, 10))
    return str(year), date(year, 1, 1)


def _written(text: str, was: date, new: date) -> str:
    name = next(n for n in (MONTHS[was.month - 1], "Sept", MONTHS[was.month - 1][:3]) if n in text)
    fresh = MONTHS[new.month - 1] if name == MONTHS[was.month - 1] else MONTHS[new.month - 1][:3]
    if new.year != was.year:
        return text.replace(str(was.year), str(new.year))
    parts = re.split(r"(\d{4})", text.replace(name, fresh))
    ending = {1: "st", 2: "nd", 3: "rd"}.get(new.day % 10 if new.day not in (11, 12, 13) else 0, "th")
    day = re.compile(rf"(?<!\d){was.day:02d}(?!\d)|(?<!\d){was.day}(?!\d)")
    parts = [
        p if re.fullmatch(r"\d{4}", p) else re.sub(r"(?<=\d)(?:st|nd|rd|th)", ending, day.sub(str(new.day), p))
        for p in parts
    ]
    return "".join(parts)


def _date_held(now: str, new: date, way: str, supported: Supported) -> bool:
    if way == "year":
        return membership.holds_number(Decimal(new.year), supported.texts) or any(
            f"{new.year % 100:02d}" in t for t in supported.texts
        )
    return membership.holds_words(now, supported.texts) or membership.holds_day(new.day, new.month, supported.texts)
