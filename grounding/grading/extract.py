"""Locating a model's extract in its passage: verbatim, or but for case, white space and marks, or not at all."""

from __future__ import annotations

from collections.abc import Sequence

from grounding.records import Span
from grounding.text import caseless

_UNQUOTED = " \t\r\n\"'“”‘’„«».…"
_BRACKETS = {ord("‹"): "<", ord("›"): ">"}
"""As `spotlight.quoted` writes them."""
_JOINTS = ".,-/"
"""What can stand inside a number or a code."""


def locate(extract: str, text: str) -> Span | None:
    """The first span of `text` that says `extract`, cutting no word and no number in two; None if there is none.

    First verbatim, then whatever the case, white space, accents, dashes and quotation marks, then without the marks that stand around a
    quotation.
    """
    wanted = extract.strip()
    if not wanted:
        return None
    plain, places = _normal(text)
    verbatim = (wanted, text, None)
    normal = (_normal(wanted)[0], plain, places)
    unquoted = (_normal(wanted.strip(_UNQUOTED))[0], plain, places)
    for needle, hay, at in (verbatim, normal, unquoted):
        if (found := _find(needle, hay)) is not None:
            start = found if at is None else at[found]
            end = found + len(needle) if at is None else at[found + len(needle) - 1] + 1
            return Span(start, end, text[start:end])
    return None


def _normal(text: str) -> tuple[str, Sequence[int]]:
    """`text` caseless, runs of white space as one space, none around; and for each of its characters the place in `text`."""
    kept: list[tuple[str, int]] = []
    for place, char in enumerate(caseless(text).translate(_BRACKETS)):
        if not char.isspace():
            kept.append((char, place))
        elif kept and kept[-1][0] != " ":
            kept.append((" ", place))
    if kept and kept[-1][0] == " ":
        kept.pop()
    return "".join(char for char, _ in kept), [place for _, place in kept]


def _find(needle: str, hay: str) -> int | None:
    at = hay.find(needle) if needle else -1
    while at >= 0:
        if not _cuts(hay, at) and not _cuts(hay, at + len(needle)):
            return at
        at = hay.find(needle, at + 1)
    return None


def _cuts(text: str, at: int) -> bool:
    """True if a word or a number of `text` goes on from before `at` to after it: "5 GB" is not what "2.5 GB" says."""
    before, after = text[max(0, at - 2) : at], text[at : at + 2]
    if not before or not after:
        return False
    if before[-1].isalnum() and after[0].isalnum():
        return True
    left, right = before[:-1] + after[0], before[-1] + after[1:]
    return (before[-1] in _JOINTS and _digits(left)) or (after[0] in _JOINTS and _digits(right))


def _digits(pair: str) -> bool:
    return len(pair) == 2 and pair.isdigit()
