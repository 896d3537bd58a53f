"""Areas and volumes out of sides: 60 x 40 x 35 cm are 84,000 cm³, also divided by what a source divides by, as for the weight of a parcel."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import ROUND_CEILING, Decimal
from itertools import pairwise

from rai.check.answer import Answer
from rai.check.operands import LARGEST, Operand, amount_of, unit_of
from rai.check.working.calendar import Reckoned
from rai.check.working.terms import Wanted, scaled
from rai.claims.found import Found

_SIDES = re.compile(
    r"(?<![\w.,])(?P<a>\d{1,5}(?:[.,]\d{1,3})?) ?(?:cm|mm|m|in|ft)? ?[x×] ?(?P<b>\d{1,5}(?:[.,]\d{1,3})?) ?(?:cm|mm|m|in|ft)?"
    r"(?: ?[x×] ?(?P<c>\d{1,5}(?:[.,]\d{1,3})?))?(?![\w.,]?\d)"
)
_LENGTH, MOST = 6000, 6
"""Most characters of a text that are read for sides, and most measures that are reckoned with."""
_CUBED, _SQUARED = ("cm³", "m³", "cu foot", "l"), ("cm²", "m²", "sq foot", "sq inch")


def measured_ways(wanted: Wanted, answer: Answer, operands: Sequence[Operand]) -> Iterator[Reckoned]:
    """Ways to a value by multiplying sides that the question or the answer gives; a volume also divided by an operand, and rounded up."""
    unit = unit_of(wanted.found)
    for written, product, sides in _products(answer):
        whole = Operand(Found("number", 0, 0, f"{product:f}"), written, 0.5)
        if wanted.takes(scaled(product)) and (not unit or unit in (_CUBED if sides == 3 else _SQUARED)):
            yield Reckoned((whole,), written, 0.5)
        for divisor in operands:
            number = divisor.amount
            if divisor.found.kind != "number" or number is None or number < 2 or sides < 3:
                continue
            for exact in {Decimal(form) for form in divisor.found.forms if re.fullmatch(r"\d{1,9}", form)}:
                if exact >= _LEAST:
                    quotient = product / exact
                    up = quotient.to_integral_value(ROUND_CEILING)
                    if wanted.takes(scaled(quotient)) or (unit and wanted.takes(scaled(up))):
                        yield Reckoned((whole, divisor), f"{written} / {divisor.text}", 0.5)


_TOLERANCE = re.compile(
    r"(?:,? ?(?:give or take|plus or minus|plus/minus|\+/[-–−]|±|mehr oder weniger|plus ou moins|más o menos|più o meno|mais ou menos|plusminus))(?: (?:a|about|another))? ?$",
    re.IGNORECASE,
)
_TOLERATED = 0.5
"""The cost of what a tolerance leaves (`terms.FormulaTerm`): the source says that it is so."""


def tolerance_ways(wanted: Wanted, answer: Answer) -> Iterator[Reckoned]:
    """The least and the most of a value that a source gives with its tolerance: 53 and 57 of "55 °F, give or take two degrees"."""
    unit = unit_of(wanted.found)
    for text in answer.context.sources:
        for middle, by in pairwise(text.kinds.get("quantity", ())):
            between = middle.text()[middle.found.end : by.found.start]
            if middle.unit is not by.unit or len(between) > _BETWEEN or not _TOLERANCE.fullmatch(between):
                continue
            one, other = amount_of(middle.found), amount_of(by.found)
            if one is None or other is None or (unit and unit_of(middle.found) != unit):
                continue
            operands = tuple(Operand(p.found, p.span().text, _TOLERATED, (p.span(),)) for p in (middle, by))
            for sign, amount in (("-", one - other), ("+", one + other)):
                if wanted.takes(scaled(amount)):
                    yield Reckoned(operands, f"{middle.span().text} {sign} {by.span().text}", _TOLERATED)


_BETWEEN = 32
_LEAST = 100
"""The least divisor of a volume: it is divided by thousands to be reckoned as a weight, by less to be shared out."""


def _products(answer: Answer) -> Iterator[tuple[str, Decimal, int]]:
    question = answer.context.question.source.text if answer.context.question else ""
    seen = 0
    for text in (question, answer.text):
        for match in _SIDES.finditer(text[:_LENGTH]):
            sides = [Decimal(side.replace(",", ".")) for side in match.groups() if side]
            product = Decimal(1)
            for side in sides:
                product *= side
            if product <= LARGEST:
                yield match.group().strip(), product, len(sides)
            seen += 1
            if seen == MOST:
                return
