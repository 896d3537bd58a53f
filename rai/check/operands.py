"""Operands: the values of which an answer may have worked out another one, and how near each lies.

An operand is tied to the value: the answer says it beside the value and a source holds it, the person said it in the question, or it
stands in a passage that the sentence speaks of. A search over all numbers of two passages explains nine of ten wrong digits; over those
that are tied, with the nearest first and few of them, it explains few.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from rai.claims.found import Found
from rai.records import EvidenceSpan

_NUMERIC = ("number", "quantity", "money", "percent")
LARGEST = Decimal(10) ** 12
"""The largest amount that is reckoned with, in absolute terms; no answer to a customer has a larger one."""


@dataclass(frozen=True, slots=True)
class Operand:
    """A value to reckon with, and where it is said.

    `text`: its characters; `far`: how far from the value that is worked out it is said, 0 in the same sentence; `evidence`: where a source
    says it, empty if only the person does; `passage`: the number of the sentence or row of the sources it stands in, 0 for what the answer
    or the person says; `of`: the stem of what it counts, or of what it is the price of each: four trays, £20 a tray; "" if no such word stands by it.
    """

    found: Found
    text: str
    far: float
    evidence: tuple[EvidenceSpan, ...] = ()
    passage: int = 0
    of: str = ""

    @property
    def amount(self) -> Decimal | None:
        """The number of the value, None of a date, a time or a name (`amount_of`)."""
        return amount_of(self.found)


def amount_of(found: Found) -> Decimal | None:
    """The number of a value: 1200 of "1200 USD", 4.5 of "4.5%"; None of what is no number, or of one beyond `LARGEST`."""
    if found.kind not in _NUMERIC:
        return None
    try:
        amount = Decimal(found.value.partition(" ")[0].rstrip("%p"))
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and abs(amount) <= LARGEST else None


BARE_AMOUNT = re.compile(r"\d[\d.,]*[.,]\d\d")
"""A number with two decimals and no unit: beside amounts of money it is one."""


def unit_of(found: Found) -> str:
    """The unit of a quantity, the currency of an amount; "" of all else."""
    return found.value.partition(" ")[2] if found.kind in ("quantity", "money") else ""


def nearest(operands: Iterable[Operand], most: int) -> tuple[Operand, ...]:
    """The `most` nearest of `operands`, each value once: what is said twice is one operand."""
    kept: dict[tuple[str, str], Operand] = {}
    for operand in sorted(operands, key=lambda o: o.far):
        kept.setdefault((operand.found.kind, operand.found.value), operand)
        if len(kept) == most:
            break
    return tuple(kept.values())


def spans_of(operands: Sequence[Operand]) -> tuple[EvidenceSpan, ...]:
    """The places of all of `operands`, each once."""
    return tuple(dict.fromkeys(span for operand in operands for span in operand.evidence))


def numbered(operands: Iterable[Operand]) -> Iterator[tuple[Operand, Decimal]]:
    """The operands that are numbers, each with its number."""
    for operand in operands:
        amount = operand.amount
        if amount is not None:
            yield operand, amount
