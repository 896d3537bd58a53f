"""Calculations that an answer writes out before or behind their result: "33,00 + 50,00 = EUR 83,00", "€96 (2 × 3 × €16)"."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise

from rai.check.answer import Answer
from rai.check.context import Finding
from rai.check.operands import amount_of

_FORMULA = re.compile(
    r"(?P<left>(?:[^\d\s]{0,3}\s?\d[\d.,]*\d?\s?[^\W\d]{0,8}\s?[+−×*·x/–-]\s?){1,8}[^\d\s]{0,3}\s?\d[\d.,]*\s?[^\W\d]{0,8})\s?=\s?(?:[^\d\s]{1,3}\s?)?\**$"
)
_OF_A_YEAR = re.compile(r"(?<!\d)20\d\d/\d\d(?!\d)")
"""2,100 litres in 2025/26 × 74p: what is reckoned with stands before it."""
_NUMERAL = re.compile(r"\d+(?:[.,]\d+)*")
_SIGNS = {"+": "+", "−": "-", "–": "-", "-": "-", "×": "*", "*": "*", "·": "*", "x": "*", "/": "/"}


def written_out(n: int, answer: Answer) -> Finding | None:
    """`derived` for a value that is the result of a calculation written beside it, `absent` if one before it comes to something else; else None."""
    value = answer.values[n]
    mine = amount_of(value)
    match = _FORMULA.search(answer.text[max(0, value.start - 120) : value.start])
    if mine is not None and match is None:
        return _written_behind(n, answer, mine)
    if mine is None or match is None:
        return None
    result = _calculated(match["left"])
    if result is None or _OF_A_YEAR.search(match["left"]):
        return None
    written = _LABEL.sub("", match["left"].strip())
    formula = f"{written} = {answer.written(n)}"
    others = {amount_of(replace(value, value=form)) for form in value.forms}
    if result in others or result.quantize(Decimal("0.01")) == mine:
        return Finding("derived", (), formula, rule="written-formula", formula=formula)
    return Finding(
        "absent",
        (),
        f"{written} is {result.normalize():f}, not {answer.written(n)}.",
        rule="written-formula",
    )


_LABEL = re.compile(r"^[^\W\d_]*[:.] ?")
"""The end of what stands before a calculation: pitch of "Comfort pitch: 7 × 29,50"."""
_BEHIND = re.compile(
    r"\** ?[(:] ?(?P<left>(?:[^\d\s()]{0,3}\s?\d[\d.,]*\d?\s?[^\W\d]{0,8}\s?[+−×*·x/–-]\s?){1,8}[^\d\s()]{0,3}\s?\d[\d.,]*\s?[^\W\d]{0,8}€?)\)"
)
_SMALL_COINS = re.compile(r"\d ?(?:p|ct|cents?|¢)\b", re.IGNORECASE)


def _written_behind(n: int, answer: Answer, mine: Decimal) -> Finding | None:
    """`derived` for a value with its calculation behind it: "€96 (2 × 3 × €16)"; the last factor may be in hundredths."""
    match = _BEHIND.match(answer.text, answer.values[n].end)
    result = _calculated(match["left"]) if match else None
    if match is None or result is None:
        return None
    hundredths = {result / 100} if _SMALL_COINS.search(match["left"]) else set()
    if mine not in {result, result.quantize(Decimal("0.01")), *hundredths}:
        return None
    formula = f"{match['left'].strip()} = {answer.written(n)}"
    return Finding("derived", (), formula, rule="written-formula", formula=formula)


def _calculated(written: str) -> Decimal | None:
    """The result of sums and products of numerals, products first; None if a numeral can be read in two ways or a divisor is nought."""
    numbers = [_plain(m.group()) for m in _NUMERAL.finditer(written)]
    gaps = [written[a.end() : b.start()] for a, b in pairwise(_NUMERAL.finditer(written))]
    signs = [next((s for c, s in _SIGNS.items() if c in gap), "") for gap in gaps]
    if None in numbers or "" in signs or len(numbers) < 2:
        return None
    terms: list[Decimal] = []
    held = numbers[0] or Decimal(0)
    for sign, number in zip(signs, numbers[1:], strict=True):
        assert number is not None
        if sign == "*":
            held *= number
        elif sign == "/":
            if not number:
                return None
            held /= number
        else:
            terms.append(held)
            held = number if sign == "+" else -number
    return sum(terms, held)


def _plain(numeral: str) -> Decimal | None:
    """The number that a numeral writes: 1234.5 of "1.234,50" and "1,234.50"; None if its groups of digits make no sense.

    A sign before two digits at the end is that of decimals, before three of thousands.
    """
    parts = re.split(r"[.,]", numeral)
    if len(parts) > 1 and len(parts[-1]) != 3:
        return Decimal("".join(parts[:-1]) + "." + parts[-1])
    return Decimal("".join(parts)) if all(len(p) == 3 for p in parts[1:]) else None
