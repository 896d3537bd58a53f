"""The calculations by which answers work out numbers: sums, remainders, products, shares, percentages, ratios.

Each form yields terms: a number, its operands, how it is written, and its cost. A value is worked out if a term or the sum or difference
of few terms is that value; the cheapest way is shown. Amounts are reckoned as whole ten-thousandths, so that equality is exact.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations

from rai.check.operands import Operand, numbered, unit_of
from rai.check.working.products import counts_of, products_of
from rai.check.working.terms import (
    CENT,
    SAID,
    SCALE,
    FormulaTerm,
    Wanted,
    cost_of,
    factor_of,
    of_fraction,
    scaled,
    to_cents,
)
from rai.claims.found import Found
from rai.claims.numbers.units import dimension_of

MOST_PAIRED, MOST_PAIRS = 1500, 20_000
"""Most terms that are paired, the cheapest first, and most pairs that are tried: of a hedged number beside a page of numbers nearly every pair fits."""
MOST_SHARED = 200
"""Most products of which shares are taken, the cheapest first."""
MOST_SUMMED = 8
"""Most amounts of one list or sentence that are added up."""


def calculations(wanted: Wanted, operands: Sequence[Operand]) -> Iterator[FormulaTerm]:
    """Every way in which `operands` give the value, unordered. Time about quadratic in the operands, of which there are few."""
    money = wanted.found.kind == "money"
    said = [o for o in operands if o.far < SAID]
    own = list(_own(wanted.found, operands))
    parts = [*own, *_shares(own, operands)]
    large = wanted.least >= _LARGE * SCALE
    products = list(products_of(wanted.found, operands if wanted.found.kind != "number" or large else said))
    parts += products
    if not money:
        parts += _parts_of(own, operands)
    if money:
        parts += [
            *_shares(sorted(products, key=_term_cost)[:MOST_SHARED], operands),
            *_times_sums(own, operands),
            *_rated(own),
            *_shares(list(_differences(own)), operands),
        ]
    if wanted.found.kind == "percent":
        parts += _percentages(operands)
    whole = wanted.least % CENT == 0 or wanted.most > wanted.least  # 5.5p a unit is worked out of tenths of a penny
    rounded = [_to_cents(p) for p in parts] if money and whole else parts
    yield from (p for p in rounded if wanted.takes(p.number) and len(p.operands) > 1)
    yield from _pairs(wanted, rounded if money else [p for p in rounded if not p.product])
    if money:
        yield from _several(wanted, own, [p for p in rounded if p.product])
    if wanted.found.kind == "quantity":
        yield from _runs(
            wanted, [t for t in own if t.operands[0].far < SAID and t.operands[0].found.kind == "quantity"], 3
        )
    if wanted.found.kind in ("number", "quantity"):
        yield from _ratios(wanted, operands)
    if wanted.found.kind == "number":
        yield from _points(wanted, operands)


def _own(found: Found, operands: Iterable[Operand]) -> Iterator[FormulaTerm]:
    """The operands of the value's own kind and measure as terms; those of another unit of its dimension are converted."""
    unit = unit_of(found)
    for operand, amount in numbered(operands):
        theirs = operand.found
        if found.kind == theirs.kind == "number" and (amount < 1 or not operand.text[:1].isdigit()):
            continue  # half and double are said of something
        if found.kind == "percent" and operand.far >= SAID:
            continue
        if theirs.kind == found.kind and unit_of(theirs) == unit:
            yield FormulaTerm(scaled(amount), (operand,), operand.text, operand.far)
        elif found.kind == theirs.kind == "quantity" and (factor := factor_of(unit_of(theirs), unit)):
            exact = Fraction(amount) * factor
            yield FormulaTerm(of_fraction(exact), (operand,), operand.text, operand.far)
        elif found.kind == "number" and theirs.kind == "quantity":
            yield FormulaTerm(scaled(amount), (operand,), operand.text, operand.far + 0.5)


def _times_sums(own: Sequence[FormulaTerm], operands: Sequence[Operand]) -> Iterator[FormulaTerm]:
    """A count times the sum or difference of two amounts: 12 × ($38.50 + $1), a price with what is added to it each time."""
    counts = [(c, n) for c, n in counts_of(operands) if c.far < SAID]
    for a, b in permutations([t for t in own if t.cost <= _FIRST][:6], 2):
        for count, n in counts[:6]:
            for sign, each in (("+", a.number + b.number), ("-", a.number - b.number)):
                if each > 0 and (sign == "-" or a.number > b.number):
                    number, cost = round(each * Fraction(n)), a.cost + b.cost + count.far + 0.75
                    yield FormulaTerm(
                        number,
                        (count, *a.operands, *b.operands),
                        f"{count.text} × ({a.written} {sign} {b.written})",
                        cost,
                        product=True,
                    )


def _rated(own: Sequence[FormulaTerm]) -> Iterator[FormulaTerm]:
    """An amount at a rate per a round amount, all three said close by: $33.60 for each $1,000, of $3,000."""
    near = sorted((t for t in own if t.cost < SAID), key=_term_cost)[:_MOST_RATED]
    for rate, each, of in permutations(near, 3):
        if each.number in _ROUND and rate.number < each.number < of.number:
            exact = Fraction(rate.number * of.number, each.number)
            written = f"{rate.written} × {of.written} / {each.written}"
            cost = rate.cost + each.cost + of.cost + 0.25
            yield FormulaTerm(round(exact), (*rate.operands, *of.operands, *each.operands), written, cost, product=True)


_ROUND = frozenset(n * SCALE for n in (100, 1000, 10_000))
_MOST_RATED = 6


def _differences(own: Sequence[FormulaTerm]) -> Iterator[FormulaTerm]:
    """One amount less another, for a share of it to be taken: 80 % of ($1,450 - $250)."""
    for a, b in permutations([t for t in own if t.cost <= _FIRST][:8], 2):
        if a.number > b.number:
            yield FormulaTerm(
                a.number - b.number, (*a.operands, *b.operands), f"({a.written} - {b.written})", a.cost + b.cost + 0.25
            )


def _shares(own: Sequence[FormulaTerm], operands: Sequence[Operand]) -> Iterator[FormulaTerm]:
    """Shares of an amount, and it less or plus them: 20 % of $45, $45 less 20 %, $45 plus 19 %, $45 less a third."""
    rates = [(o, Fraction(n) / 100) for o, n in numbered(operands) if o.found.kind == "percent" and n > 0]
    own, rates = sorted(own, key=_term_cost)[:MOST_OF], sorted(rates, key=_rate_far)[:MOST_RATES]
    parts = [
        (o, Fraction(n).limit_denominator(12)) for o, n in numbered(operands) if 0 < n < 1 and o.found.kind == "number"
    ]
    for term in own:
        for fraction, of_one in parts if len(term.operands) < 3 else ():
            left = round(term.number * (1 - of_one))
            cost = term.cost + fraction.far + 0.5
            yield FormulaTerm(left, (*term.operands, fraction), f"{term.written} - {fraction.text}", cost, product=True)
    for term in own:
        for rate, share in rates:
            part = _rounded(term.number * share.numerator, share.denominator)
            cost, used = term.cost + rate.far + 0.5, (*term.operands, rate)
            yield FormulaTerm(part, used, f"{rate.text} of {term.written}", cost, product=True)
            yield FormulaTerm(term.number - part, used, f"{term.written} - {rate.text}", cost, product=True)
            yield FormulaTerm(term.number + part, used, f"{term.written} + {rate.text}", cost, product=True)


MOST_OF, MOST_RATES = 60, 10
"""Most amounts and rates, the nearest, of which shares are taken: a page has more, and no answer means all of them."""


def _rate_far(rate: tuple[Operand, Fraction]) -> float:
    return rate[0].far


def _rounded(number: int, by: int) -> int:
    """`number` / `by` as the nearest whole number, the even one of two, as `round` of a fraction has it, at a tenth of its time."""
    whole, rest = divmod(number, by)
    return whole + (2 * rest > by or (2 * rest == by and whole % 2 == 1))


def _parts_of(own: Sequence[FormulaTerm], operands: Sequence[Operand]) -> Iterator[FormulaTerm]:
    """Parts of a number or quantity: half, a third or a tenth of it."""
    for operand, n in numbered(operands):
        if operand.found.kind == "number" and 0 < n < 1:
            for term in own:
                if term.operands[0] is not operand:
                    yield FormulaTerm(
                        round(term.number * Fraction(n)),
                        (operand, *term.operands),
                        f"{operand.text} × {term.written}",
                        term.cost + operand.far + 0.25,
                        product=True,
                    )


def _percentages(operands: Sequence[Operand]) -> Iterator[FormulaTerm]:
    """One value as a percentage of another of its measure, their difference as one of either, and what a percentage leaves of a hundred."""
    numbers = [(o, n) for o, n in numbered(operands) if n > 0]
    for o, n in numbers:
        if o.found.kind == "percent" and n < 100:
            yield FormulaTerm(scaled(100 - n), (o, o), f"100 % - {o.text}", o.far + 1.25)
    for (a, n), (b, m) in combinations([x for x in numbers if x[0].found.kind != "percent"], 2):
        if a.found.kind != b.found.kind or unit_of(a.found) != unit_of(b.found) or n == m:
            continue
        (small, s), (large, g) = ((a, n), (b, m)) if n < m else ((b, m), (a, n))
        if g == _HUNDRED and large.found.kind == "number":
            continue  # 12 of 100 points are no 12 %: any number would be one of a hundred
        for exact, written in (
            (Fraction(s) / Fraction(g), f"{small.text} / {large.text}"),
            (Fraction(g - s) / Fraction(g), f"({large.text} - {small.text}) / {large.text}"),
            (Fraction(g - s) / Fraction(s), f"({large.text} - {small.text}) / {small.text}"),
        ):
            yield FormulaTerm(of_fraction(exact * 100), (a, b), f"{written} × 100", cost_of(a, b) + 0.5)


_HUNDRED = 100


def _ratios(wanted: Wanted, operands: Sequence[Operand]) -> Iterator[FormulaTerm]:
    """How often one value goes into another of its measure: 4 of $120 and $30."""
    numbers = [(o, n) for o, n in numbered(operands) if n > 0 and o.found.kind in ("money", "quantity")]
    for (a, n), (b, m) in combinations(numbers, 2):
        if a.found.kind != b.found.kind or unit_of(a.found) != unit_of(b.found) or n == m:
            continue
        large, small = (a, b) if n > m else (b, a)
        exact = Fraction(max(n, m)) / Fraction(min(n, m))
        if exact.denominator == 1 and wanted.takes(of_fraction(exact)):
            yield FormulaTerm(
                of_fraction(exact), (large, small), f"{large.text} / {small.text}", cost_of(large, small) + 1.0
            )


def _pairs(wanted: Wanted, terms: Sequence[FormulaTerm]) -> Iterator[FormulaTerm]:
    """Sums and differences of two of the cheapest terms (`MOST_PAIRED`, `MOST_PAIRS`)."""
    cheap = sorted(terms, key=_term_cost)[:MOST_PAIRED]
    yield from _paired(wanted, cheap)


def _paired(wanted: Wanted, terms: Sequence[FormulaTerm]) -> Iterator[FormulaTerm]:
    ordered = sorted(terms, key=_term_number)
    numbers = [t.number for t in ordered]
    tried = 0
    for a in terms:
        for b in _lying(ordered, numbers, wanted.least - a.number, wanted.most - a.number):
            tried += 1
            if _go_together(a, b) and not (a.product and b.product and a.written > b.written):
                yield _pair(a, b, "+")
        for b in _lying(ordered, numbers, a.number - wanted.most, a.number - wanted.least):
            tried += 1
            if _go_together(a, b) and not b.product:
                yield _pair(a, b, "-")
        if tried > MOST_PAIRS:
            return


def _pair(a: FormulaTerm, b: FormulaTerm, sign: str) -> FormulaTerm:
    number = a.number + b.number if sign == "+" else a.number - b.number
    return FormulaTerm(
        number, (*a.operands, *b.operands), f"{a.written} {sign} {b.written}", _joint(a, b), product=True
    )


def _go_together(a: FormulaTerm, b: FormulaTerm) -> bool:
    units = {unit_of(o.found) for t in (a, b) if len(t.operands) == 1 for o in t.operands} - {""}
    if len({dimension_of(u) or u for u in units}) > 1:
        return False  # 48 cm less 20 kg is nothing
    if any("%" in t.written and t.product for t in (a, b)) and any(o.far >= 0.3 for o in (*a.operands, *b.operands)):
        return False
    if any(t.product and " / " in t.written for t in (a, b)):
        return False  # what is divided is a share by itself: as a part of a sum it explains more slips of the pen than answers
    if not _apart(a, b) or (a.product and b.product and not ("×" in a.written and "×" in b.written)):
        return False
    unsaid = [o for o in (*a.operands, *b.operands) if o.far >= SAID]
    if len({o.passage for o in unsaid}) == 1:
        return True
    # two values that only a source says go together where both stand in the passages that the sentence speaks of first
    return len(unsaid) <= 1 or (not a.product and not b.product and max(o.far for o in unsaid) <= _FIRST)


def _lying(ordered: Sequence[FormulaTerm], numbers: Sequence[int], least: int, most: int) -> Sequence[FormulaTerm]:
    """The terms whose numbers lie from `least` to `most`. `ordered`: by their `numbers`, ascending."""
    return ordered[bisect_left(numbers, least) : bisect_right(numbers, most)]


def _apart(a: FormulaTerm, b: FormulaTerm) -> bool:
    """True if no amount is used in both terms, which would explain nothing; a count may be: two adults at £6 and two lunches at £5."""
    twice = any(x is y and x.found.kind not in ("number", "quantity") for x in a.operands for y in b.operands)
    return not twice and a.number != 0 and b.number != 0 and not (len(a.operands) == 1 and a.operands[0] in b.operands)


def _joint(a: FormulaTerm, b: FormulaTerm) -> float:
    return a.cost + b.cost + 0.5 * (len(a.operands) + len(b.operands) - 2)


def _points(wanted: Wanted, operands: Sequence[Operand]) -> Iterator[FormulaTerm]:
    """By how many points two percentages that are said differ: 12 of 40 % and 28 %."""
    said = [(o, n) for o, n in numbered(operands) if o.found.kind == "percent" and o.far < SAID]
    for (a, n), (b, m) in combinations(said, 2):
        if n != m and wanted.takes(scaled(abs(n - m))):
            large, small = (a, b) if n > m else (b, a)
            yield FormulaTerm(scaled(abs(n - m)), (large, small), f"{large.text} - {small.text}", cost_of(large, small))


def _several(wanted: Wanted, own: Sequence[FormulaTerm], products: Sequence[FormulaTerm]) -> Iterator[FormulaTerm]:
    """Sums of three and more amounts: any three that are said close by, less one of them at most, or with one product among them.

    More than three only where the answer says them one after the other, as in a list below its total.
    """
    near = sorted((t for t in own if t.operands[0].far < SAID and not _is_each(t)), key=_term_cost)[:9]
    if len(near) < 3:  # two that are said may have a third that a source says beside them
        near += sorted((t for t in own if t.operands[0].far == SAID), key=_term_cost)[:1]
    for group in combinations(near, 3):
        total = sum(t.number for t in group)
        if wanted.takes(total):
            yield _together(group, total)
        for less in group:
            if wanted.takes(total - 2 * less.number):
                yield _together([t for t in group if t is not less], total - 2 * less.number, less)
    yield from _runs(wanted, near)
    cheap = sorted((t for t in products if t.cost <= _CLOSE), key=_term_cost)[:24]
    for pair in combinations(near, 2):
        for product in cheap:
            if wanted.takes(pair[0].number + pair[1].number + product.number) and all(_apart(product, t) for t in pair):
                yield _together((product, *pair), product.number + pair[0].number + pair[1].number)


def _is_each(term: FormulaTerm) -> bool:
    """True of a price that is said to be that of each: of "four checks at €39 each" not €39 goes into a bill."""
    return term.operands[0].found.per == "item"


_LARGE = 1000
"""A bare number from here on is seldom a product by chance."""
_CLOSE = 2.0
"""Highest cost of a product that is added to two amounts."""
_FIRST = 1.2
"""Highest cost of an operand that stands in one of the passages that the sentence speaks of first."""


def _term_cost(term: FormulaTerm) -> float:
    return term.cost


def _term_number(term: FormulaTerm) -> int:
    return term.number


def _runs(wanted: Wanted, near: Sequence[FormulaTerm], least: int = 4) -> Iterator[FormulaTerm]:
    """Sums of `least` and more amounts or spans that the answer says one after the other."""
    every = sorted((t for t in near if t.operands[0].far < SAID), key=lambda t: t.operands[0].found.start)
    signed = [
        t for t in every if not _BARE.fullmatch(t.operands[0].text)
    ]  # index 1.67 of "Index 1.67: £75" is no amount
    yield from _in_order(wanted, every, least)
    if len(signed) < len(every):
        yield from _in_order(wanted, signed, least)


_BARE = re.compile(r"[\d.,]+")


def _in_order(wanted: Wanted, said: Sequence[FormulaTerm], least: int) -> Iterator[FormulaTerm]:
    for size in range(least, min(MOST_SUMMED, len(said)) + 1):
        for at in range(len(said) - size + 1):
            group = said[at : at + size]
            total = sum(t.number for t in group)
            if wanted.takes(total):
                yield _together(group, total)


def _together(group: Sequence[FormulaTerm], total: int, less: FormulaTerm | None = None) -> FormulaTerm:
    every = (*group, less) if less else tuple(group)
    written = " + ".join(t.written for t in group) + (f" - {less.written}" if less else "")
    operands = tuple(o for t in every for o in t.operands)
    return FormulaTerm(total, operands, written, max(t.cost for t in every) + 0.5 * (len(every) - 1))


def _to_cents(term: FormulaTerm) -> FormulaTerm:
    number = to_cents(term.number)
    return term if number == term.number else FormulaTerm(number, term.operands, term.written, term.cost, term.product)
