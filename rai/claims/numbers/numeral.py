"""One number as written, and the plain decimal that is its normal form."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

PLACES = 6
"""Decimals kept of a fraction that has no end: 1/3 is 0.333333."""


@dataclass(frozen=True, slots=True)
class Numeral:
    """A number as written. `readings`: canonical decimals, likeliest first (1.200 is 1.2 or 1200).

    `spelled`: in words. `power`: the power of ten of a scale that it was written with (6 in "2 million"). `unit`: what a
    word counts that holds its own unit ("twice", "an hour"), else "": such a word is no bare number. `ordinal`: a rank.
    """

    start: int
    end: int
    readings: tuple[str, ...]
    spelled: bool = False
    power: int = 0
    unit: str = ""
    ordinal: bool = False


def canonical(number: Decimal) -> str:
    """The shortest plain decimal: 19, 19.5, -3; never an exponent."""
    plain = format(number, "f")
    if "." in plain:
        plain = plain.rstrip("0").rstrip(".")
    return "0" if plain in ("-0", "") else plain


def decimal_of(number: Fraction) -> str:
    """`number` as a canonical decimal of at most `PLACES` decimals, rounded half to even."""
    scaled = round(number * 10**PLACES)
    return canonical(Decimal(scaled).scaleb(-PLACES))


def scaled(reading: str, power: int) -> str:
    """`reading` times ten to the `power`."""
    return canonical(Decimal(reading).scaleb(power))
