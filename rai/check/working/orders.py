"""What an order comes to: so many of this and so many of that, each at the price that a source has for it: two adults and a child of a table of fares.

An answer says the counts with what they count, and the total; the prices it may leave out. A price is that of what its row, column or line is called.
Where a table has both, one is what is counted and the other is the same for all of the order: the days of the pass, the kind of visitor. All that the
sentence counts and a source has a price of goes into the total, so that few totals are explained by chance. (One price alone is a product.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from grounding.records import Span
from rai.check.answer import Answer
from rai.check.operands import Operand, amount_of, unit_of
from rai.check.reading.keys import Axis, Spoken, axes_of, line_at, spoken
from rai.check.reading.sources import Prepared
from rai.check.working.calendar import Reckoned
from rai.check.working.operand_candidates import LONGEST, named_around, priced
from rai.check.working.terms import SAID, Wanted, scaled
from rai.claims.found import Found

_COST = 0.9
"""The cost of every calculation here (`terms.FormulaTerm`): that what is counted has a price in one table says that it is meant."""
MOST_COUNTS, MOST_PLACED, MOST_PLACES, MOST_COUNT = 6, 60, 400, 200
"""Most things that are counted, most rows or columns that are tried, most values of a source that are looked at, and the largest count."""
_ONE = re.compile(r"\b(?:one|an?|eine?n?|une?|una|uno|uma?|één|een|jed[ea]n|jedna)(?= )", re.IGNORECASE)
"""One of something, which finders leave out."""
_BEHIND = re.compile(r"(?:[ \u00a0×x]{1,3}|[ ]of )(?P<what>[^\W\d_][\w'’-]*(?: [^\W\d_][\w'’-]*){0,3})")
_ENDS = re.compile(r" (?:and|und|et|y|e|en|i|plus|for|at|is|are|comes?|makes?)\b.*", re.IGNORECASE)
"""Where the words for what is counted end."""


@dataclass(frozen=True, slots=True)
class _Count:
    """A count of the answer with the words for what it counts."""

    operand: Operand
    number: int
    what: Spoken


@dataclass(frozen=True, slots=True)
class _Price:
    """A price of a source: `number` in ten-thousandths; `beside`: where it stands on the axis that is not counted, the same for a whole order."""

    operand: Operand
    number: int
    beside: tuple[str, int]


def order_ways(n: int, wanted: Wanted, answer: Answer) -> Iterator[Reckoned]:
    """Ways to the n-th value by adding up counts times prices, of all things that its sentence counts, or else the one before, or the question."""
    unit, around = unit_of(wanted.found), named_around(n, answer)
    for counts in _counted(n, answer) if unit else ():
        for text in answer.context.sources:
            for pairs in _orders(counts, _prices(text, counts, unit, around)):
                if len(pairs) > 1 and wanted.takes(sum(c.number * p.number for c, p in pairs)):
                    written = " + ".join(f"{c.operand.text} × {p.operand.text}" for c, p in pairs)
                    yield Reckoned(tuple(o for c, p in pairs for o in (c.operand, p.operand)), written, _COST)


def _orders(counts: Sequence[_Count], prices: Sequence[Sequence[_Price]]) -> Iterator[list[tuple[_Count, _Price]]]:
    """The counts that have a price, each with the one that it has in one row, column or list, once for each of these. `prices`: of each count."""
    every = [
        (count, {p.beside: p for p in reversed(found)}) for count, found in zip(counts, prices, strict=True) if found
    ]
    for beside in islice(every[0][1], MOST_PLACED) if every else ():
        pairs = [(count, found[beside]) for count, found in every if beside in found]
        if len(pairs) == len(every) and len({p.operand.passage for _, p in pairs}) == len(pairs):
            yield pairs


def _counted(n: int, answer: Answer) -> Iterator[list[_Count]]:
    """What is counted in the sentence of the n-th value, in the one before, and in the question: each at least one count, at most `MOST_COUNTS`."""
    at = answer.at[n]
    for where in (at, at - 1):
        here = [v for m, v in enumerate(answer.values) if m != n and answer.at[m] == where]
        if where >= 0 and (
            found := _counts(here, answer.sentences[where], answer.text, far=0.0 if where == at else 0.12)
        ):
            yield found
    if answer.context.question is not None:
        text = answer.context.question
        whole = Span(0, min(len(text.source.text), LONGEST), text.source.text[:LONGEST])
        if found := _counts([p.found for p in text.places], whole, text.source.text, far=0.5):
            yield found


def _counts(values: Sequence[Found], span: Span, text: str, far: float) -> list[_Count]:
    """The counts in a part of a text, `values` and what is one, each with up to four words for what it counts."""
    found = []
    ones = [Found("number", m.start(), m.end(), "1") for m in _ONE.finditer(text, span.start, span.end)]
    for value in sorted([*values, *ones], key=lambda v: v.start):
        amount = amount_of(value) if value.kind in ("number", "quantity") else None
        if amount is None or amount != int(amount) or not 0 < amount <= MOST_COUNT:
            continue
        match = _BEHIND.match(text, value.end if value.kind == "number" else value.start)
        what = _ENDS.sub("", match["what"]) if match else ""
        if what:
            found.append(_Count(Operand(value, text[value.start : value.end], far), int(amount), spoken(what)))
    return found[:MOST_COUNTS]


def _prices(text: Prepared, counts: Sequence[_Count], unit: str, around: Sequence[Spoken]) -> list[list[_Price]]:
    """Of each count the prices in one source of what is counted; those in the row or column that the answer or the question names, where they name one.

    `around`: what is named around the value, the nearest first. An axis is asked once for each of these texts, however many prices it has.
    """
    names: dict[tuple[int, Spoken], frozenset[int]] = {}

    def named(axis: Axis, by: Spoken) -> frozenset[int]:
        key = id(axis.keys), by
        if key not in names:
            names[key] = axis.named(by)
        return names[key]

    found: list[list[tuple[bool, _Price]]] = [[] for _ in counts]
    for place in islice(text.places, MOST_PLACES):
        value = priced(place, text)
        amount = amount_of(value) if value.kind == "money" and unit_of(value) == unit else None
        if amount is None or place.unit.field != "text":
            continue
        axes, span = axes_of(place.text(), place.found.start), place.span()
        price = Operand(value, span.text, SAID, (span,), id(place))
        for count, prices in zip(counts, found, strict=True):
            counted = next((a for a in axes if a.own in named(a, count.what)), None)
            if counted is None:
                continue
            rest = [a for a in axes if a is not counted]
            said = all(next((a.own in keys for layer in around if (keys := named(a, layer))), False) for a in rest)
            beside = rest[0] if rest else counted
            where = (beside.by, beside.own if rest else line_at(place.text(), place.found.start).group)
            prices.append((said, _Price(price, scaled(amount), where)))
    return [[p for said, p in prices if said] or [p for _, p in prices] for prices in found]
