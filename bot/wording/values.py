"""Where the contacts and amounts of a text stand: what changes the form of a text, marks it or cuts it leaves each of them whole."""

from __future__ import annotations

import re

from grounding.text import sentences
from rai.check.contact_sources import is_contact
from rai.claims.find import find_values

SIGN = "(⚠)"
"""What stands behind a contact that nobody answers for, in a text that can be pasted."""
_AMOUNTS = frozenset({"money", "percent", "quantity"})
_SIGNED = re.compile(r"(?m)^[ \t]*[+-][ \t]+\d[\d.,]{0,12}[ \xa0]?°")
"""A temperature with its sign at the beginning of a line, which looks like an item of a list."""
_FORM = re.compile(r"(?m)^[ \t]{0,3}#{1,6}(?=[ \t])|(?<!\S)__(?=\S)|(?<=\S)__(?!\w)")
"""Signs of headings and emphasis that the finders would read as part of what stands beside them."""
_DIALLED = re.compile(r"(?:(?<![\w*#])|(?<=(?<![\w*#])\*\*))[*#]{1,2}\d{1,4}(?:\*[\d*]{0,40})?#(?!\w)")
"""What is dialled at a telephone to set it, its stars included."""

_MARKED = re.compile(rf"\S {re.escape(SIGN)}")
"""The end of a contact with its sign: they stay together."""
_BEFORE, _BEHIND = 2048, 100
"""Characters to each side of a place that are read to know what stands there: a link can begin far before it."""


def value_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of each contact and amount of `text`; ascending, none within or into another."""
    read = _FORM.sub(lambda sign: " " * len(sign[0]), text)
    found = [(f.start, f.end) for f in find_values(read) if is_contact(f) or f.kind in _AMOUNTS]
    return joined([*found, *(m.span() for form in (_SIGNED, _DIALLED, _MARKED) for m in form.finditer(text))])


def joined(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """`spans` in order, those that overlap as one."""
    whole: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if whole and start < whole[-1][1]:
            whole[-1] = (whole[-1][0], max(end, whole[-1][1]))
        else:
            whole.append((start, end))
    return whole


def value_at(text: str, at: int) -> tuple[int, int]:
    """Start and end of the contact or amount that a cut at `at` would part; of none (at, at)."""
    base = max(0, at - _BEFORE)
    spans = value_spans(text[base : at + _BEHIND])
    return next(((base + start, base + end) for start, end in spans if base + start < at < base + end), (at, at))


def whole_until(text: str, limit: int) -> int:
    """Where to cut `text` so that at most `limit` characters are left and no value is parted, unless it is one value from its beginning on."""
    return value_at(text, limit)[0] or limit


def excerpt(text: str, limit: int) -> str:
    """The beginning of `text`, at most so many characters: up to the end of a sentence or a line, of one that is longer up to that of a word; with an ellipsis if something is left out."""
    if len(text) <= limit:
        return text
    ends = [s.end for s in sentences(text[: limit + _BEHIND]) if s.end <= limit - 2]
    end = next((end for end in reversed(ends) if value_at(text, end) == (end, end)), 0)
    if end:
        return f"{text[:end]} …"
    word = text.rfind(" ", 0, limit)
    return text[: whole_until(text, word if word > 0 else limit - 1)].rstrip() + "…"
