"""Units of measure: their spellings, their dimensions, and when two quantities in different units are the same.

Factors of time, calendar and data are written here, for they are definitions (SI brochure 2019, table 8; ISO/IEC 80000-13
for binary prefixes); those of length, area, volume, mass, temperature, power, energy and speed are those of pint, whose
registry follows the SI brochure and NIST SP 811. Months and years are no number of days; a working day is no day.
Gallons, pints and fluid ounces are those of the United States, a ton is 2,000 lb.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

_EXACT = {
    # eight times less than KB, MB, GB, TB
    "Kb": "kbit",
    "Mb": "Mbit",
    "Gb": "Gbit",
    "Tb": "Tbit",
    "Kb/s": "kbps",
    "Mb/s": "Mbps",
    "Gb/s": "Gbps",
    "mW": "mW",
    "MP": "MP",
    "Tag": "day",
    "Std": "hour",
    "Grad": "degree",
}
_COMPOUND = {
    ("mile", "hour"): "mph",
    ("km", "hour"): "km/h",
    ("m", "second"): "m/s",
    ("kbit", "second"): "kbps",
    ("Mbit", "second"): "Mbps",
    ("Gbit", "second"): "Gbps",
    ("MB", "second"): "MB/s",
    ("GB", "second"): "GB/s",
}
_WITH_HOURS = {"W": "Wh", "kW": "kWh", "MW": "MWh", "mA": "mAh", "amp": "Ah"}
_BINARY = {"KB": 1024, "MB": 1024**2, "GB": 1024**3, "TB": 1024**4, "PB": 1024**5, "byte": 1}
_NEAR = Fraction(3, 100)
"""Most that a rounded conversion may be off: 5 miles for 8 km is, 2 miles for 3 km (7 %) is not."""

Agreement = Literal["same", "rounded"]


@dataclass(frozen=True, slots=True)
class Measure:
    """A canonical unit. `factor`: to the first unit of its dimension, or None where pint knows it by `name`."""

    unit: str
    dimension: str
    factor: Fraction | None
    name: str


def _rows() -> tuple[dict[str, str], dict[str, Measure]]:
    """What `units.tsv` has: a canonical unit a row, its dimension, its factor to the first unit of that or its name in pint, its spellings in lower case."""
    spellings: dict[str, str] = {}
    measures: dict[str, Measure] = {}
    _, *lines = Path(__file__).with_suffix(".tsv").read_text("utf-8").splitlines()
    for line in lines:
        unit, dimension, how, words = line.split("\t")
        known = how[:1].isdigit()
        measures[unit] = Measure(unit, dimension, Fraction(how) if known else None, "" if known else how)
        spellings.update(dict.fromkeys(words.split(), unit))
    return spellings, measures


SPELLINGS, MEASURES = _rows()
"""Canonical unit by lower-case spelling; what is known of each canonical unit."""
LENGTHS = frozenset(u for u, m in MEASURES.items() if m.dimension == "length") | {"px"}
LONG_PREFIXES = (
    "square ",
    "sq. ",
    "sq ",
    "cubic ",
    "cu ",
    "cu. ",
    "fluid ",
    "fl. ",
    "fl ",
    "degrees ",
    "degree ",
    "° ",
)
_AREAS = {
    "mm": "mm²",
    "cm": "cm²",
    "m": "m²",
    "km": "km²",
    "inch": "sq inch",
    "foot": "sq foot",
    "yard": "sq yard",
    "mile": "sq mile",
}
_VOLUMES = {"cm": "cm³", "m": "m³", "foot": "cu foot"}


def unit_of(word: str) -> str | None:
    """The canonical unit that `word` spells: "Days" is day, "Mb" is Mbit, "MB" is MB; None if it spells none."""
    return _EXACT.get(word) or SPELLINGS.get(word.lower())


def prefixed(prefix: str, word: str) -> str | None:
    """The unit of two words: square feet, fluid ounces, degrees Celsius; None if they are none."""
    unit, kind = SPELLINGS.get(word.lower()), prefix.lower().rstrip(" .")
    if unit is None:
        short = {"c": "°C", "f": "°F"}.get(word.lower()) if kind in ("degrees", "degree", "°") else None
        return short or ("sq inch" if kind in ("square", "sq") and word.lower() == "in" else None)
    if kind in ("square", "sq"):
        return _AREAS.get(unit)
    if kind in ("cubic", "cu"):
        return _VOLUMES.get(unit)
    if kind in ("fluid", "fl"):
        return "fl oz" if unit == "oz" else None
    return unit if unit in ("°C", "°F") else None


def with_hours(unit: str) -> str | None:
    """The unit of "kilowatt hours" whose first word is `unit`; None if it has none."""
    return _WITH_HOURS.get(unit)


def per_second(unit: str, period: str) -> str | None:
    """The unit of speed that `unit` per `period` is: mile and hour make mph; None if they make none."""
    return _COMPOUND.get((unit, period))


def spellings_of(unit: str) -> frozenset[str]:
    """Every lower-case spelling of a canonical unit: {"day", "days", "tage", …}."""
    return _SPELLED.get(unit, frozenset()) | {unit.lower()}


_SPELLED = {unit: frozenset(w for w, u in SPELLINGS.items() if u == unit) for unit in MEASURES}


def dimension_of(unit: str) -> str:
    """The dimension of a unit: time, calendar, data, length …; "" for a unit that is converted to no other (night, px) or is unknown."""
    measure = MEASURES.get(unit)
    return measure.dimension if measure else ""


def converted(claim: str, source: str) -> Agreement | None:
    """Tells whether the quantity `claim` ("8 km") says what `source` ("5 mile") says, in another unit of the same dimension.

    "same": the conversion is exact (7 day, 1 week), for KB to PB also with 1024 for 1000. "rounded": `source` in the unit
    of `claim`, rounded to the decimals that `claim` has, is `claim`, and no more than 3 per cent off. Else None, also where
    both have the same unit.
    """
    mine, theirs = claim.partition(" "), source.partition(" ")
    if mine[2] == theirs[2] or not _convertible(mine[2], theirs[2]):
        return None
    stated, told = Fraction(mine[0]), Fraction(theirs[0])
    exact = [scale * told + shift for scale, shift in factors(theirs[2], mine[2])]
    if stated in exact:
        return "same"
    return "rounded" if any(_rounds(stated, value, mine[0]) for value in exact) else None


def same_unit_value(claim: str, source: str) -> bool:
    """True if two quantities of different units are exactly the same; cheap where their dimensions differ."""
    return converted(claim, source) == "same"


@lru_cache(maxsize=4096)
def bases(number: str, unit: str) -> tuple[str, ...]:
    """What a quantity is in the first unit of its dimension, exactly: the same for two that are `same_unit_value`.

    Two of bytes, for 1024 and for 1000; empty where pint converts (`units_beside`) or nothing does.
    """
    measure = MEASURES.get(unit)
    if measure is None or measure.dimension in _BY_PINT or measure.factor is None:
        return ()
    stated = Fraction(number)
    decimal = f"{measure.dimension}:{stated * measure.factor}"
    return (decimal, f"binary:{stated * _BINARY[unit]}") if unit in _BINARY else (decimal,)


def units_beside(unit: str) -> tuple[str, ...]:
    """The other units of the dimension, if pint is needed to convert between any two of it; else none."""
    dimension = dimension_of(unit)
    return tuple(u for u in _BY_PINT.get(dimension, ()) if u != unit)


_BY_PINT = {
    dimension: tuple(u for u, m in MEASURES.items() if m.dimension == dimension)
    for dimension in {m.dimension for m in MEASURES.values() if m.dimension and m.factor is None}
}


def _convertible(mine: str, theirs: str) -> bool:
    dimension = dimension_of(mine)
    return bool(dimension) and dimension == dimension_of(theirs)


def _rounds(stated: Fraction, exact: Fraction, written: str) -> bool:
    if stated == 0 or exact == 0:
        return False
    places = len(written.partition(".")[2])
    step = Fraction(1, 10**places)
    return abs(exact - stated) * 2 <= step and abs(exact - stated) <= _NEAR * abs(exact)


@lru_cache(maxsize=1024)
def factors(source: str, target: str) -> tuple[tuple[Fraction, Fraction], ...]:
    """The ways to convert a unit, as (scale, shift) with target = scale * source + shift; two of them where 1 GB may be 1000 or 1024 MB.

    Both units must be of one dimension. The first pair that needs pint loads it, half a second; `warm` does that ahead.
    """
    mine, theirs = MEASURES[source], MEASURES[target]
    none = Fraction(0)
    if mine.factor is not None and theirs.factor is not None:
        decimal = (mine.factor / theirs.factor, none)
        if source in _BINARY and target in _BINARY:
            return (decimal, (Fraction(_BINARY[source], _BINARY[target]), none))
        return (decimal,)
    registry = _registry()
    zero, one = (registry.Quantity(Fraction(n), mine.name).to(theirs.name).magnitude for n in (0, 1))
    return ((one - zero, zero),)


@lru_cache(maxsize=1)
def _registry() -> Any:
    return importlib.import_module("pint").UnitRegistry(non_int_type=Fraction)
