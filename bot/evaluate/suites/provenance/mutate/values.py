"""Values for generated pages: drawn from a specification of `domains.yaml` and written in several forms.

Phone numbers, hosts and addresses are of the ranges reserved for fiction and documentation: 555-01xx (NANPA),
the drama numbers of Ofcom, RFC 2606.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from bot.evaluate.suites.provenance.mutate.surfaces import MONTHS, WEEKDAYS

_FIRST = (
    "Anna Boris Chidi Daniela Emre Fiona Gustav Hanna Imran Julia Kwame Lena Marco Nadia Oskar Priya Quentin Rosa Stefan Tara Uma Viktor Wanda Yusuf "
    "Zoe Alasdair Beatriz Connor Delia Ewan"
).split()
_LAST = (
    "Abara Brandt Castellano Dvorak Eriksen Fairweather Gruber Halloran Iversen Jankowski Kimura Lindqvist Moreau Novak Okafor Petrov Quigley Rossi "
    "Sandoval Thornbury Ulrich Vance Whitlock Yamada Zielinski Ashdown Birkett Corrigan Devereux Ellwood"
).split()
_COMPANY = "Alderway Brightmoor Calder Dunmore Eastlake Fernhill Glenrock Hartwell Inverfield Juniper Kingsmere Larkspur Millbrook Northpoint Oakhurst".split()
_FORMS = "Ltd|Trading|Logistics|& Sons|Partners|Group|Services|GmbH".split("|")
_PRODUCT = (
    "Solara Nimbus Tempo Verity Quanta Lumen Zephyr Onyx Cobalt Meridian Pulsar Strata Ember Halcyon Vertex".split()
)
_STREETS = "Mill Lane|High Street|Station Road|Church Walk|Park Avenue|Bridge Street|Orchard Way|Quarry Hill|Victoria Road|Canal Street".split(
    "|"
)
_TOWNS = "Leeds Bristol Cardiff York Brighton Norwich Exeter Durham Lincoln Chester".split()
_AREAS = {
    "uk": ("020 7946 0", "0117 496 0", "0161 496 0", "029 2018 0"),
    "us": ("206-555-01", "604-555-01", "312-555-01", "+1 415-555-01"),
}
BRANDS = "Kestrel Marlow Tindall Harbourne Pellworth Ashcombe Brightwater Corvane Delmore Elmsfield Fairholt Greystone Hollin Ivybridge Jarrow Kelham".split()
_MOVES = ("support", "help", "www", "shop", "my", "service")
_PATHS = ("contact", "help/start", "downloads/latest", "faq", "stores", "support?id=7", "")


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
    site = f"{brand.lower()}.{rng.choice(('example', 'example', 'example.com', 'example.org'))}"
    word = "".join(c for c in subject.lower() if c.isalnum())
    if kind in ("person", "doctor"):
        return f"{'Dr ' if kind == 'doctor' else ''}{rng.choice(_FIRST)} {rng.choice(_LAST)}"
    made = {
        "organisation": lambda: f"{rng.choice(_COMPANY)} {rng.choice(_FORMS)}",
        "product": lambda: f"{rng.choice(_PRODUCT)} {rng.choice(('One', 'Pro', 'Air', 'Plus', 'X', 'Mini', 'Max'))}",
        "address": lambda: f"{rng.randrange(1, 190)} {rng.choice(_STREETS)}, {rng.choice(_TOWNS)}",
        "weekday": lambda: rng.choice(WEEKDAYS),
        "email": lambda: f"{word[:12]}@{site}",
        "url": lambda: f"https://{rng.choice(_MOVES)}.{site}/{word[:12]}/{rng.choice(_PATHS)}".rstrip("/"),
    }
    return made[kind]()
