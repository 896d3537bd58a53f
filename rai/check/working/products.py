"""Calculations by multiplying: n times a price, what goes beyond a free part, a part of a period, so much for each person and night."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from math import ceil

from rai.check.operands import BARE_AMOUNT, Operand, numbered, unit_of
from rai.check.working.terms import SAID, FormulaTerm, cost_of, factor_of, scaled
from rai.claims.found import Found
from rai.claims.numbers.units import dimension_of

MOST_MULTIPLE = 1000
"""The largest count that something is multiplied or divided by."""


_SHARED = frozenset({"", "day", "night", "week", "month", "year", "hour", "minute", "person", "times"})
"""Units of counts that an amount is divided by: how many share it, or how long it lasts."""


def counts_of(operands: Iterable[Operand]) -> list[tuple[Operand, Decimal]]:
    """The operands that something may be multiplied by, each with its number: bare numbers and quantities, no amounts of money."""
    return [
        (o, n)
        for o, n in numbered(operands)
        if o.found.kind in ("number", "quantity")
        and 0 < n <= (MOST_METERED if _is_metered(o) else MOST_MULTIPLE)
        and n != 1
        and not (n > 1 and BARE_AMOUNT.fullmatch(o.text))  # 12,00 × EUR 7,50 is nothing
    ]


MOST_METERED = 1_000_000
"""The largest count in a unit of its own that the answer or the person says: 2,840 kWh."""


def _is_metered(operand: Operand) -> bool:
    return operand.far < SAID and dimension_of(unit_of(operand.found)) not in ("", "time", "calendar")


def products_of(found: Found, operands: Sequence[Operand]) -> Iterator[FormulaTerm]:
    """Products that are of the kind and unit of `found`: n times a value; of a price also started units, what goes beyond a free part, parts of a period."""
    counts = counts_of(operands)
    for operand, amount in numbered(operands):
        if (
            operand.found.kind != found.kind
            or unit_of(operand.found) != unit_of(found)
            or operand.found.kind == "percent"
            or amount <= 0
        ):
            continue
        others = [(c, n) for c, n in counts if c is not operand and _may_count(c, operand)]
        for count, n in others:
            for times, written in _times(operand.found, count, n):
                if not _is_bound(count, operand, n):
                    continue
                number = round(Fraction(scaled(amount)) * times)
                # nine working days are no nine times of a price that nobody says is per day
                loose = 0.75 if unit_of(count.found) and not operand.found.per and count.far + operand.far > 0 else 0.0
                cost = cost_of(count, operand) + loose
                paired = bool(count.of) and count.of == operand.of
                priced = unit_of(count.found) in operand.found.per.split() if unit_of(count.found) else False
                if paired or priced:  # four trays, £20 a tray: the words say that they go together
                    cost = count.far + min(SAID, operand.far) - _FOR_EACH
                yield FormulaTerm(number, (count, operand), f"{written} × {operand.text}", cost, product=True)
        if found.kind == "money":
            yield from _by_two(operand, amount, others)
            yield from _beyond(operand, amount, others)
            yield from _pro_rata(operand, amount, others)
            yield from _divided(operand, amount, others)


_FOR_EACH = 0.5
"""How much nearer a count and a price lie of which the words say that they go together, than the answer and the passages it speaks of."""


def _may_count(count: Operand, each: Operand) -> bool:
    """True if one operand may be multiplied by the other as a count: not 60 cm by 1.5 km. A span of time and a bare number count anything."""
    unit = unit_of(count.found)
    measured = dimension_of(unit) not in ("", "time", "calendar")
    return each.found.kind == "money" or not measured or unit in each.found.per.split(" ")


def _is_bound(count: Operand, price: Operand, n: Decimal) -> bool:
    """True if the answer or the person says one of the two; and the count, where that is 10, 100 or 1000.

    Ten times 25 MB is a slip of the pen more often than a product.
    """
    if count.far >= SAID and price.far >= SAID:
        return False
    if n in (10, 100, 1000):
        unit = unit_of(count.found)
        counted = bool(unit) and (unit in price.found.per.split(" ") or dimension_of(unit) not in ("time", "calendar"))
        return price.found.kind == "money" and count.far < SAID and (price.far < SAID or counted)
    return True


def _times(unit_price: Found, count: Operand, n: Decimal) -> Iterator[tuple[Fraction, str]]:
    """How many times a price is paid, and how that is written: the count in the unit that the price is per; also started units of it."""
    period, unit = unit_price.per.split(" ")[0], unit_of(count.found)
    if not period or not unit or unit in {period, "times"}:
        yield Fraction(n), count.text
        return
    several, _, of = period.rpartition("-")
    factor = factor_of(unit, of)
    if factor is not None:
        factor /= int(several) if several.isdigit() else 1
        exact = Fraction(n) * factor
        yield exact, count.text
        if exact.denominator != 1:
            yield Fraction(ceil(exact)), f"{ceil(exact)} started"


def _by_two(price: Operand, amount: Decimal, counts: Sequence[tuple[Operand, Decimal]]) -> Iterator[FormulaTerm]:
    """A price times two counts: 2 × 3 × €16, what is paid per person and night, or per book and day.

    Ten of another sentence is no factor: it moves the point of any product.
    """
    said = [(c, n) for c, n in counts if c.far < SAID and n == int(n) and n <= MOST_FACTOR and (n != 10 or c.far == 0)][
        :6
    ]
    if len(price.found.per.split()) < 2 and price.far >= SAID:
        return
    for (a, n), (b, m) in combinations(said, 2):
        if not (_is_priced_by(a, price) and _is_priced_by(b, price)):
            continue
        written = f"{a.text} × {b.text} × {price.text}"
        yield FormulaTerm(scaled(amount * n * m), (a, b, price), written, cost_of(a, b, price), product=True)


def _is_priced_by(count: Operand, price: Operand) -> bool:
    """True of a bare count, and of a span or measure that the price is said to be for each of: 31 miles at $1.50 per mile, not 16 kg at 80p."""
    unit = unit_of(count.found)
    return unit in ("", "times") or not {unit, "item"}.isdisjoint(price.found.per.split(" "))


MOST_FACTOR = 31
"""The largest of two counts that a price is multiplied by."""


def _beyond(price: Operand, amount: Decimal, counts: Sequence[tuple[Operand, Decimal]]) -> Iterator[FormulaTerm]:
    """A price times what goes beyond a part that costs nothing or something else: (25 m - 20 m) × EUR 18. Both counts are of one unit."""
    for (a, n), (b, m) in combinations(counts[:12], 2):
        if unit_of(a.found) != unit_of(b.found) or n == m or not _is_priced_by(a, price):
            continue
        (more, large), (less, small) = ((a, n), (b, m)) if n > m else ((b, m), (a, n))
        number = scaled(amount * (large - small))
        written = f"({more.text} - {less.text}) × {price.text}"
        yield FormulaTerm(number, (more, less, price), written, cost_of(more, less, price), product=True)


def _pro_rata(price: Operand, amount: Decimal, counts: Sequence[tuple[Operand, Decimal]]) -> Iterator[FormulaTerm]:
    """The part of a price that a part of its period makes: 10 of 30 days of $60."""
    for (a, n), (b, m) in combinations(counts[:12], 2):
        if not unit_of(a.found) or unit_of(a.found) != unit_of(b.found) or n == m:
            continue
        (whole, large), (part, small) = ((a, n), (b, m)) if n > m else ((b, m), (a, n))
        number = round(Fraction(scaled(amount)) * Fraction(small) / Fraction(large))
        written = f"{price.text} × {part.text} / {whole.text}"
        yield FormulaTerm(number, (price, part, whole), written, cost_of(price, part, whole), product=True)
        if large % small == 0 and min(part.far, whole.far) < SAID:  # € 1.25 per 24 hours, for 48 hours
            number = scaled(amount * large / small)
            written = f"{whole.text} / {part.text} × {price.text}"
            yield FormulaTerm(number, (whole, part, price), written, cost_of(price, part, whole), product=True)


def _divided(whole: Operand, amount: Decimal, counts: Sequence[tuple[Operand, Decimal]]) -> Iterator[FormulaTerm]:
    """An amount divided by a count: how much it is for each person or month."""
    for count, n in counts:
        if n > 1 and min(count.far, whole.far) < SAID and unit_of(count.found) in _SHARED:
            number = round(Fraction(scaled(amount)) / Fraction(n))
            yield FormulaTerm(
                number, (whole, count), f"{whole.text} / {count.text}", cost_of(whole, count) + 0.5, product=True
            )
