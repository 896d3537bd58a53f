"""Parts of a calculation: terms, what they are to come to, and what they cost."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

from rai.check.operands import Operand
from rai.claims.found import Found
from rai.claims.numbers.units import MEASURES, dimension_of

SCALE = 10_000


_WHOLE = Decimal(SCALE)


@dataclass(frozen=True, slots=True)
class FormulaTerm:
    """A part of a calculation. `number`: in ten-thousandths. `cost`: how far its operands lie, and how many they are."""

    number: int
    operands: tuple[Operand, ...]
    written: str
    cost: float
    product: bool = False


@dataclass(frozen=True, slots=True)
class Wanted:
    """The value that is to be explained. `least` and `most`: what it may be, in ten-thousandths: one number, or a range where it is hedged."""

    found: Found
    least: int
    most: int

    def takes(self, number: int) -> bool:
        return self.least <= number <= self.most


def scaled(amount: Decimal) -> int:
    """`amount` in ten-thousandths."""
    return int((amount * _WHOLE).to_integral_value(ROUND_HALF_UP))


def of_fraction(number: Fraction) -> int:
    return round(number * SCALE)


def factor_of(source: str, target: str) -> Fraction | None:
    mine, theirs = MEASURES.get(source), MEASURES.get(target)
    if mine is None or theirs is None or not dimension_of(source) or dimension_of(source) != dimension_of(target):
        return None
    if mine.factor is None or theirs.factor is None:
        return None
    return mine.factor / theirs.factor


SAID = 1.0
"""From here on an operand is one of the sources alone."""


def cost_of(*operands: Operand) -> float:
    return sum(o.far for o in operands) + 0.25 * (len(operands) - 1)
