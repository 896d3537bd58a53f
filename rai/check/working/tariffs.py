"""Ways to an amount out of a tariff or bill: a price with so much for each further one, charges by use, several lines as one sum."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING
from itertools import islice, pairwise, permutations

from rai.check.answer import Answer
from rai.check.lexicon.load import pattern
from rai.check.operands import Operand, amount_of, unit_of
from rai.check.reading.keys import line_at
from rai.check.reading.role_words import role_terms
from rai.check.reading.sources import Place, Prepared
from rai.check.rules.amounts import kindred
from rai.check.working.calendar import Reckoned
from rai.check.working.operand_candidates import priced
from rai.check.working.terms import SAID, Wanted, scaled, to_cents

_COST = 0.9
"""The cost of every calculation here (`terms.FormulaTerm`): the form itself says that it is meant."""
MOST_FURTHER, MOST_BASES, MOST_COUNTS = 8, 24, 12
"""Most prices for a further one, most first prices and most counts that are tried."""
MOST_LINES = 6
"""Most lines of a list that are one item of an answer."""
MOST_PLACES = 400
"""Most values of one source that are looked at."""
_AROUND = 48
"""Characters to each side of an amount in which it may be called the first or a further one."""


@dataclass(frozen=True, slots=True)
class _Amount:
    """An amount of a source. `number`: in ten-thousandths; `column`: of its table, -1 in prose; `line`: the characters of its line."""

    place: Place
    number: int
    operand: Operand
    column: int
    line: str


def tariff_ways(wanted: Wanted, answer: Answer, operands: Sequence[Operand]) -> Iterator[Reckoned]:
    """Ways by a price for a number of things and so much for each further one: £135 + (14 - 12) × £8, 12,35 € + (8 kg - 5 kg) × 1,80 €."""
    counts = [o for o in operands if o.far < SAID and o.found.kind in ("number", "quantity")][:MOST_COUNTS]
    if not counts:
        return
    unit = unit_of(wanted.found)
    for text in answer.context.sources:
        amounts = [a for a in _amounts(text) if unit_of(a.operand.found) == unit]
        for further in islice((a for a in amounts if _is_further(a)), MOST_FURTHER):
            bases = [a for a in amounts if a is not further and a.column == further.column and _is_near(a, further)]
            for base in bases[:MOST_BASES]:
                rest = wanted.least - base.number
                if rest > 0 and further.number > 0 and (base.column < 0 or _is_named(base, answer)):
                    yield from _steps(base, further, rest, text, counts)


def _steps(base: _Amount, further: _Amount, rest: int, text: Prepared, counts: Sequence[Operand]) -> Iterator[Reckoned]:
    times, left = divmod(rest, further.number)
    if left or times > 1000:
        return
    for count in counts:
        amount = count.amount
        if amount is None:
            continue
        if times == amount.to_integral_value(ROUND_CEILING) - 1 and _is_first(base):
            written = f"{base.operand.text} + {times} × {further.operand.text}"
            yield Reckoned((base.operand, count, further.operand), written, _COST)
            return
        upto = amount - times
        for place in islice((p for p in text.places if p.found.kind in ("number", "quantity")), MOST_PLACES):
            theirs = amount_of(place.found)
            if theirs == upto and kindred(place.found, count.found):
                span = place.span()
                limit = Operand(place.found, span.text, SAID, (span,))
                written = f"{base.operand.text} + ({count.text} - {span.text}) × {further.operand.text}"
                yield Reckoned((base.operand, count, limit, further.operand), written, _COST)
                return


def _is_first(base: _Amount) -> bool:
    """True of the price of the first hour or thing."""
    text, found = base.place.text(), base.place.found
    near = text[max(base.place.unit.start, found.start - _AROUND) : min(base.place.unit.end, found.end + _AROUND)]
    return pattern("reckoning", "first", parts=True).search(near) is not None


def usage_ways(wanted: Wanted, answer: Answer, operands: Sequence[Operand]) -> Iterator[Reckoned]:
    """Ways by a standing charge and a price for what is used, of one row: 12 × €11.20 + 2,840 kWh × 30.9 ct."""
    counts = [o for o in operands if o.far < SAID and o.found.kind in ("number", "quantity")][:MOST_COUNTS]
    months = [
        (None, 1),
        (None, 12),
        *((o, int(n)) for o in counts if (n := o.amount) is not None and n == int(n) and 2 <= n <= 36),
    ]
    unit = unit_of(wanted.found)
    for text in answer.context.sources:
        rows: dict[int, list[_Amount]] = {}
        for amount in _amounts(text):
            if unit_of(amount.operand.found) == unit and amount.column > 0:
                rows.setdefault(amount.place.unit.number, []).append(amount)
        for row in islice(
            (r for r in rows.values() if 1 < len(r) <= MOST_CELLS and _is_named(r[0], answer)), MOST_ROWS
        ):
            for fixed, used in permutations(row, 2):
                for count in counts:
                    metered = count.amount
                    if metered is None or not unit_of(count.found):
                        continue
                    variable = scaled(metered * (amount_of(used.operand.found) or 0))
                    for month, times in months:
                        total = to_cents(times * fixed.number + variable)
                        if month is not count and wanted.takes(total):
                            each = f"{times} × " if times > 1 else ""
                            written = f"{each}{fixed.operand.text} + {count.text} × {used.operand.text}"
                            parts = (fixed.operand, count, used.operand, *((month,) if month else ()))
                            yield Reckoned(parts, written, _COST)


MOST_CELLS, MOST_ROWS = 5, 12
"""Most amounts of a row that is tried so, and most rows of a source."""


def _is_near(base: _Amount, further: _Amount) -> bool:
    """True of an amount in the same column of the same table, or not far above the further one in a text."""
    if base.column >= 0:
        return base.place.unit.header == further.place.unit.header
    return 0 <= further.place.unit.number - base.place.unit.number <= 2


def _is_named(base: _Amount, answer: Answer) -> bool:
    """True if the answer says a word of the first cell of the amount's row."""
    label = base.line.strip("| ").partition("|")[0]
    return bool(role_terms(label) & role_terms(answer.text[:MOST_TEXT]))


MOST_TEXT = 8000
"""Most characters of an answer that are read for the words of a row."""


def _is_further(amount: _Amount) -> bool:
    said = pattern("reckoning", "further", parts=True)
    if amount.column >= 0:
        return said.search(amount.line.strip("| ").partition("|")[0]) is not None
    text, found = amount.place.text(), amount.place.found
    near = text[max(amount.place.unit.start, found.start - _AROUND) : min(amount.place.unit.end, found.end + _AROUND)]
    return said.search(near) is not None


def _amounts(text: Prepared) -> list[_Amount]:
    """The amounts of a source's text; bare numbers of a table too, where the source names one currency (`priced`)."""
    found = []
    for place in islice(text.places, MOST_PLACES):
        if place.unit.field != "text":
            continue
        value = priced(place, text)
        amount = amount_of(value) if value.kind == "money" else None
        if amount is not None:
            span = place.span()
            operand = Operand(value, span.text, SAID, (span,), id(place.unit))
            begin = place.found.start
            line = line_at(text.source.text, begin)
            words = text.source.text[line.start : line.end]
            found.append(_Amount(place, scaled(amount), operand, line.column(begin), words))
    return found


def lines_ways(n: int, wanted: Wanted, answer: Answer) -> Iterator[Reckoned]:
    """Ways by adding up lines that stand one below the other and are named together: "Oversize and address corrections" for two lines of a bill."""
    said = role_terms(_item(n, answer))
    if not said:
        return
    unit = unit_of(wanted.found)
    for text in answer.context.sources:
        lines = _listed([a for a in _amounts(text) if unit_of(a.operand.found) == unit])
        for run in lines:
            for at in range(len(run) - 1):
                total = run[at].number
                for until in range(at + 1, min(len(run), at + MOST_LINES)):
                    total += run[until].number
                    group = run[at : until + 1]
                    if wanted.takes(total) and all(_label(a) & said for a in group):
                        written = " + ".join(a.operand.text for a in group)
                        yield Reckoned(tuple(a.operand for a in group), written, _COST)


_BREAK = re.compile(r"\n|[;!?] |\. ")


def _item(n: int, answer: Answer) -> str:
    """The line or sentence of the answer that the n-th value stands in, without the value: 200 characters before and 120 behind at most."""
    start = answer.values[n].start
    before = answer.text[max(0, start - 200) : start]
    cut = [m.end() for m in _BREAK.finditer(before)]
    after = _BREAK.split(answer.text[answer.values[n].end : answer.values[n].end + 120], maxsplit=1)[0]
    return f"{before[cut[-1] :] if cut else before} {after}"


def _label(amount: _Amount) -> frozenset[str]:
    """The words of a line before its first figure."""
    label = re.split(r"\d|:|\|", amount.line.strip("|-•* "), maxsplit=1)[0]
    return role_terms(label)


def _listed(amounts: Sequence[_Amount]) -> list[list[_Amount]]:
    """The last amount of each line, in runs of lines without another between them."""
    last: dict[int, _Amount] = {}
    for amount in amounts:
        last[line_at(amount.place.text(), amount.place.found.start).start] = amount
    ordered = [last[at] for at in sorted(last)]
    runs: list[list[_Amount]] = [ordered[:1]] if ordered else []
    for one, other in pairwise(ordered):
        if 0 < other.place.unit.number - one.place.unit.number <= 1:
            runs[-1].append(other)
        else:
            runs.append([other])
    return [run for run in runs if len(run) > 1]
