"""Values for generated pages: drawn from a specification of `generated_pages.yaml` and written in several forms.

Phone numbers, hosts and addresses are of the ranges reserved for fiction and documentation: 555-01xx (NANPA),
the drama numbers of Ofcom, RFC 2606.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from bot.evaluate.suites.provenance.mutate.surfaces import MONTHS, WEEKDAYS
from grounding.tables import table

_TABLE = table(__file__)
BRANDS: list[str] = _TABLE["brands"]
_AREAS: dict[str, list[str]] = _TABLE["phone_areas"]


@dataclass(frozen=True, slots=True)
class Value:
    """A value of one cell: `forms` are the ways to write it, the plainest first. `bare`: the figure without its unit."""

    kind: str
    forms: tuple[str, ...]
    bare: str = ""


def column(spec: str, count: int, brand: str, subjects: tuple[str, ...], rng: random.Random) -> list[Value]:
    """`count` values of a specification, no two alike."""
    out: list[Value] = []
    seen: set[str] = set()
    while len(out) < count:
        value = draw(spec, brand, subjects[len(out)], rng)
        if value.forms[0] not in seen:
            seen.add(value.forms[0])
            out.append(value)
    return out


def draw(spec: str, brand: str, subject: str, rng: random.Random) -> Value:
    """One value of a specification "kind argument…"."""
    kind, *rest = spec.split()
    if kind in ("money", "quantity", "percent", "number"):
        return _figure(kind, rest, rng)
    if kind == "time":
        return _time(int(rest[0]), int(rest[1]), rng)
    if kind == "date":
        return _date(int(rest[0]), rng)
    if kind == "phone":
        area = rng.choice(_AREAS[rest[0]])
        return Value(
            "phone", (f"{area}{rng.randrange(100):02d}" if rest[0] == "us" else f"{area}{rng.randrange(1000):03d}",)
        )
    if kind == "code":
        return Value("code", ("".join(_sign(c, rng) for c in rest[0]),))
    return Value(kind, (_named(kind, brand, subject, rng),))


def _figure(kind: str, rest: list[str], rng: random.Random) -> Value:
    low, high, step = (Decimal(part) for part in rest[:3])
    number = low + step * rng.randrange(int((high - low) / step) + 1)
    plain = f"{number.normalize():f}" if kind != "money" or number == number.to_integral_value() else f"{number:.2f}"
    grouped = f"{number:,.2f}" if "." in plain and kind == "money" else f"{Decimal(plain):,}"
    if kind == "money":
        sign = rest[3]
        words = {"$": "dollars", "€": "euros", "£": "pounds"}[sign]
        return Value(
            kind,
            tuple(dict.fromkeys((f"{sign}{grouped}", f"{sign}{plain}", f"{sign}{number:.2f}", f"{plain} {words}"))),
        )
    if kind == "percent":
        return Value(kind, (f"{plain}%", f"{plain} %", f"{plain} percent"))
    if kind == "quantity":
        return Value(kind, tuple(dict.fromkeys((f"{grouped} {rest[3]}", f"{plain} {rest[3]}"))), plain)
    return Value(kind, tuple(dict.fromkeys((grouped, plain))))


def _time(low: int, high: int, rng: random.Random) -> Value:
    hour, minute = rng.randrange(low, high + 1), rng.choice((0, 0, 15, 30, 45, 10, 20, 50))
    half, twelve = ("pm" if hour >= 12 else "am"), (hour - 1) % 12 + 1
    short = f"{twelve} {half}" if not minute else f"{twelve}:{minute:02d} {half}"
    return Value(
        "time",
        (f"{hour:02d}:{minute:02d}", f"{twelve}:{minute:02d} {half}", short, short.upper(), short.replace(" ", "")),
    )


def _date(year: int, rng: random.Random) -> Value:
    day = date(year, 1, 1) + timedelta(days=rng.randrange(365))
    month = MONTHS[day.month - 1]
    short = f"{day.day} {month[:3]} {year}" if len(month) > 4 else f"{day.day} {month} {year}"
    return Value("date", (f"{day.day} {month} {year}", f"{month} {day.day}, {year}", short, day.isoformat()))


def _sign(sign: str, rng: random.Random) -> str:
    return rng.choice("0123456789") if sign == "#" else rng.choice("ABCDEFGHKLMNPRSTX") if sign.isalpha() else sign


def _named(kind: str, brand: str, subject: str, rng: random.Random) -> str:
    def one_of(of: str) -> str:
        drawn: str = rng.choice(_TABLE[of])
        return drawn

    site = f"{brand.lower()}.{rng.choice(('example', 'example', 'example.com', 'example.org'))}"
    word = "".join(c for c in subject.lower() if c.isalnum())
    if kind in ("person", "doctor"):
        return f"{'Dr ' if kind == 'doctor' else ''}{one_of('first_names')} {one_of('last_names')}"
    made = {
        "organisation": lambda: f"{one_of('companies')} {one_of('company_forms')}",
        "product": lambda: f"{one_of('products')} {one_of('product_lines')}",
        "address": lambda: f"{rng.randrange(1, 190)} {one_of('streets')}, {one_of('towns')}",
        "weekday": lambda: rng.choice(WEEKDAYS),
        "email": lambda: f"{word[:12]}@{site}",
        "url": lambda: f"https://{one_of('hosts')}.{site}/{word[:12]}/{one_of('paths')}".rstrip("/"),
    }
    return made[kind]()
