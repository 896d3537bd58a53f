"""What an order comes to: so many of this and so many of that, each at the price that a source has for it: two adults and a child of a table of fares.

An answer says the counts with what they count, and the total; the prices it may leave out. A price is that of what its row, column or line is called.
Where a table has both, one is what is counted and the other is the same for all of the order: the days of the pass, the kind of visitor. All that the
sentence counts and a source has a price of goes into the total, so that few totals are explained by chance. (One price alone is a product.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product

from grounding.records import Span
from rai.check.answer import Answer, named
from rai.check.operands import Operand, amount_of, unit_of
from rai.check.reading.keys import Spoken, axes_of, line_at, spoken
from rai.check.reading.sources import Prepared
from rai.check.working.calendar import Reckoned
from rai.check.working.operand_candidates import LONGEST, priced
from rai.check.working.terms import SAID, Wanted, scaled
from rai.claims.found import Found

_COST = 0.9
"""The cost of every calculation here (`terms.FormulaTerm`): that what is counted has a price in one table says that it is meant."""
MOST_COUNTS, MOST_PRICES, MOST_PLACES, MOST_COUNT = 6, 8, 400, 200
"""Most things that are counted, most prices of one, most values of a source that are looked at, and the largest count."""
_ONE = re.compile(r"\b(?:one|an?|eine?n?|une?|una|uno|uma?|één|een|jed[ea]n|jedna)(?= )", re.IGNORECASE)
"""One of something, which finders leave out."""
_BEHIND = re.compile(r"(?:[ \u00a0×x]{1,3}|[ ]of )(?P<what>[^\W\d_][\w'’-]*(?: [^\W\d_][\w'’-]*){0,3})")
_ENDS = re.compile(
    r"[.;:!?,(]| (?:and|und|et|y|e|en|i|plus|for|at|is|are|comes?|makes?|ride|go|for)\b.*", re.IGNORECASE
)


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
    unit = unit_of(wanted.found)
    for counts in _counted(n, answer):
        for text in answer.context.sources:
            offered = [(count, found) for count in counts if (found := _prices(text, count, unit, n, answer))]
            for chosen in product(*(found[:MOST_PRICES] for _, found in offered)):
                if len({p.beside for p in chosen}) > 1 or len({p.operand.passage for p in chosen}) < len(chosen):
                    continue
                pairs = [(count, price) for (count, _), price in zip(offered, chosen, strict=True)]
                if len(pairs) > 1 and wanted.takes(sum(c.number * p.number for c, p in pairs)):
                    written = " + ".join(f"{c.operand.text} × {p.operand.text}" for c, p in pairs)
                    yield Reckoned(tuple(o for c, p in pairs for o in (c.operand, p.operand)), written, _COST)


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


def _prices(text: Prepared, count: _Count, unit: str, n: int, answer: Answer) -> list[_Price]:
    """The prices of what is counted, in one source; those in the row or column that the answer or the question names, where they name one."""
    found: list[tuple[bool, _Price]] = []
    for place in islice(text.places, MOST_PLACES):
        value = priced(place, text)
        if value.kind != "money" or unit_of(value) != unit or place.unit.field != "text":
            continue
        amount = amount_of(value)
        axes = axes_of(place.text(), place.found.start)
        counted = [a for a in axes if a.own in a.named(count.what)]
        if amount is None or not counted:
            continue
        rest = [a for a in axes if a is not counted[0]]
        said = all(_is_said(a.own, [a.named(layer) for layer in _layers(n, answer)]) for a in rest)
        beside = (rest[0].by, rest[0].own) if rest else (counted[0].by, line_at(place.text(), place.found.start).group)
        span = place.span()
        found.append((said, _Price(Operand(value, span.text, SAID, (span,), id(place)), scaled(amount), beside)))
    chosen = [price for said, price in found if said]
    return chosen or [price for _, price in found]


def _is_said(own: int, layers: Sequence[frozenset[int]]) -> bool:
    return next((own in keys for keys in layers if keys), False)


def _layers(n: int, answer: Answer) -> tuple[Spoken, ...]:
    before = answer.sentences[answer.at[n] - 1].text if answer.at[n] > 0 else ""
    return named(answer.sentence(n)), named(before), answer.asked
