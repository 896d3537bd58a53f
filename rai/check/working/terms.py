"""The parts of a calculation: terms with their cost, the value they are to come to, and the fixed-point numbers both are reckoned in."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

from rai.check.operands import Operand
from rai.claims.found import Found
from rai.claims.numbers.units import MEASURES, dimension_of

SCALE = 10_000
"""Units of a number that is reckoned with: ten-thousandths."""
CENT = SCALE // 100
"""A hundredth in these units."""
_WHOLE = Decimal(SCALE)


@dataclass(frozen=True, slots=True)
class FormulaTerm:
    """A part of a calculation. `number`: in ten-thousandths; `written`: as a formula; `product`: whether it was multiplied, divided or added up.

    `cost`: how likely it is to come to a value by chance, as a number that grows with how far its operands lie and how many they are.
    """

    number: int
    operands: tuple[Operand, ...]
    written: str
    cost: float
    product: bool = False


@dataclass(frozen=True, slots=True)
class Wanted:
    """A value that is to be explained. `least`, `most`: the numbers it may stand for, in ten-thousandths: one, or a range where it is hedged."""

    found: Found
    least: int
    most: int

    def takes(self, number: int) -> bool:
        """True if a number, in ten-thousandths, is one that the value may stand for."""
        return self.least <= number <= self.most


def scaled(amount: Decimal) -> int:
    """`amount` in ten-thousandths, half of one rounded up."""
    return int((amount * _WHOLE).to_integral_value(ROUND_HALF_UP))


def of_fraction(number: Fraction) -> int:
    """`number` in ten-thousandths, half of one rounded to the even one."""
    return round(number * SCALE)


def to_cents(number: int) -> int:
    """A number in ten-thousandths, rounded to whole hundredths, half of one up."""
    return (number + CENT // 2) // CENT * CENT


def factor_of(source: str, target: str) -> Fraction | None:
    """The factor that converts an amount in unit `source` into `target`; None if they are of two dimensions or it is not known exactly."""
    mine, theirs = MEASURES.get(source), MEASURES.get(target)
    if mine is None or theirs is None or not dimension_of(source) or dimension_of(source) != dimension_of(target):
        return None
    if mine.factor is None or theirs.factor is None:
        return None
    return mine.factor / theirs.factor


SAID = 1.0
"""An operand as far as this (`Operand.far`), or farther, stands in the sources alone."""


def cost_of(*operands: Operand) -> float:
    """The cost of a calculation with these operands: how far they are, and a quarter for each but the first."""
    return sum(o.far for o in operands) + 0.25 * (len(operands) - 1)
