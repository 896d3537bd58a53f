"""Where the contacts and amounts of a text stand: what changes the form of a text, marks it or cuts it leaves each of them whole."""

from __future__ import annotations

import re

from rai.check.contact_sources import is_contact
from rai.claims.find import find_values

_AMOUNTS = frozenset({"money", "percent", "quantity"})
_SIGNED = re.compile(r"(?m)^[ \t]*[+-][ \t]+\d[\d.,]{0,12}[ \xa0]?°")
"""A temperature with its sign at the beginning of a line, which looks like an item of a list."""
_FORM = re.compile(r"(?m)^[ \t]{0,3}#{1,6}(?=[ \t])|(?<!\S)__(?=\S)|(?<=\S)__(?!\w)")
"""Signs of headings and emphasis that the finders would read as part of what stands beside them."""
_DIALLED = re.compile(r"(?:(?<![\w*#])|(?<=(?<![\w*#])\*\*))[*#]{1,2}\d{1,4}(?:\*[\d*]{0,40})?#(?!\w)")
"""What is dialled at a telephone to set it, its stars included."""


def value_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of each contact and amount of `text`; ascending, none within or into another."""
    read = _FORM.sub(lambda sign: " " * len(sign[0]), text)
    found = [(f.start, f.end) for f in find_values(read) if is_contact(f) or f.kind in _AMOUNTS]
    return joined([*found, *(m.span() for form in (_SIGNED, _DIALLED) for m in form.finditer(text))])


def joined(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """`spans` in order, those that overlap as one."""
    whole: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if whole and start < whole[-1][1]:
            whole[-1] = (whole[-1][0], max(end, whole[-1][1]))
        else:
            whole.append((start, end))
    return whole
