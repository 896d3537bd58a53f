"""Which neighbouring numerals belong together: the ends of a range, the sides of 85x60x60cm. They share unit and scale."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Literal

from rai.claims.numbers.numeral import Numeral, scaled

Joint = Literal["range", "by", ""]

_TO = re.compile(r" ?[-–—‑] ?| ?~ ?")
_WORD = re.compile(r" (?:to|through|thru|till?|until|or|bis|à|a|jusqu’à|up to) ", re.IGNORECASE)
_UNTIL = re.compile(r"\b(?:till?|until)\b", re.IGNORECASE)
_CURRENCY = re.compile(r"[$€£] ?$")
_AND = re.compile(r" (?:and|und|et|y|e) ", re.IGNORECASE)
_BETWEEN = re.compile(r"\b(?:between|zwischen|entre|tra|fra) $", re.IGNORECASE)
_BY = re.compile(r" ?[x×] ?| by ", re.IGNORECASE)
_FAR = 12


def joint(text: str, low: Numeral, high: Numeral) -> Joint:
    """How `low` and the numeral after it are joined: "range" (5-8, 5 to 8, between 5 and 8, 5 or 8), "by" (85x60), or not.

    With a dash the first must be the lesser: 3-1 is a score.
    """
    gap = high.start - low.end
    if not 0 < gap <= _FAR or low.unit or high.unit:
        return ""
    if _TO.fullmatch(text, low.end, high.start):
        return "range" if _ascending(low, high) else ""
    if _WORD.fullmatch(text, low.end, high.start):
        return (
            ""
            if _UNTIL.search(text, low.end, high.start) and _CURRENCY.search(text, max(0, low.start - 2), low.start)
            else "range"
        )
    if _BY.fullmatch(text, low.end, high.start):
        return "by"
    if _AND.fullmatch(text, low.end, high.start) and _BETWEEN.search(text, max(0, low.start - 10), low.start):
        return "range"
    return ""


def joints(text: str, every: Sequence[Numeral]) -> list[Joint]:
    """The joint between each numeral and the next; "" at the end."""
    return [*(joint(text, a, b) for a, b in pairwise(every)), ""]


def share_scale(text: str, every: Sequence[Numeral]) -> list[Numeral]:
    """The numerals, of a range the low end with the scale of the high one: of 5 to 10 million it is five million, and may be five."""
    shared = list(every)
    for at in range(len(shared) - 2, -1, -1):
        low, high = shared[at], shared[at + 1]
        if high.power and not low.power and joint(text, _at_scale(low, high.power), high) == "range":
            larger = tuple(scaled(r, high.power) for r in low.readings)
            if _ascending(replace(low, readings=larger), high):
                shared[at] = replace(low, readings=(*larger, *low.readings), power=high.power)
    return shared


def _at_scale(low: Numeral, power: int) -> Numeral:
    return replace(low, readings=tuple(scaled(r, power) for r in low.readings))


def _ascending(low: Numeral, high: Numeral) -> bool:
    return any(float(a) < float(b) for a in low.readings for b in high.readings)
