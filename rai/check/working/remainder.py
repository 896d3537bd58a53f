"""Remainders that an answer works out wrongly: "of her 24 credits she has used nine, which leaves 16"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal

from rai.check.answer import Answer
from rai.check.context import Finding
from rai.check.lexicon.load import pattern
from rai.check.operands import amount_of
from rai.check.rules.amounts import kindred
from rai.claims.found import Found
from rai.records import SUPPORTED

_TWO = 2
_KINDS = ("number", "money", "quantity")
_BEHIND = 24
"""Characters behind a value in which it may be called what is left."""
_LEAVES = re.compile(r"\b(?:leav(?:es|ing)|lässt|laisse|deja|lascia|deixa|laat|zostawia)\b", re.IGNORECASE)


def wrong_remainder(n: int, answer: Answer, findings: Mapping[int, Finding]) -> Finding | None:
    """`absent`, with the right result, for a value that its sentence calls the rest of the two before it, and that is not; else None.

    `findings`: of the values that are decided; the two have to be supported.
    """
    value = answer.values[n]
    mine = amount_of(value) if value.kind in _KINDS else None
    before = [m for m in answer.near(n, 0) if m < n and kindred(answer.values[m], value)]
    if (
        mine is None
        or len(before) != _TWO
        or not all(m in findings and findings[m].status in SUPPORTED for m in before)
    ):
        return None
    if not _is_left(value, answer.values[before[-1]].end, answer.text):
        return None
    (less, small), (more, large) = sorted((amount_of(answer.values[m]) or Decimal(0), m) for m in before)
    left = (more - less).normalize()
    if left in (0, mine):
        return None
    formula = f"{answer.written(large)} - {answer.written(small)} = {left:f}"
    spans = tuple(dict.fromkeys(e for m in before for e in findings[m].evidence[:1]))
    why = f"{formula}, not {answer.written(n)}."
    return Finding("absent", spans, why, rule="remainder", formula=formula)


def _is_left(value: Found, since: int, text: str) -> bool:
    """True if the value is called what is left, between the last of the two and it, or right behind it."""
    between, behind = text[since : value.start], text[value.end : value.end + _BEHIND].split(".", maxsplit=1)[0]
    return bool(_LEAVES.search(between) or _left().search(between) or _left().match(behind.lstrip()))


def _left() -> re.Pattern[str]:
    return pattern("derivation", "left")
