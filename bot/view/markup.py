"""Text cut where spans begin and end, so that overlapping spans can be drawn without nesting."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

_UNSEEN = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u200b\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


@dataclass(frozen=True, slots=True)
class Mark:
    """A span to draw, half open in code points, with the identifier of what it belongs to."""

    start: int
    end: int
    key: str


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of text and the keys of all marks that cover it, in the order given."""

    text: str
    keys: tuple[str, ...]


def segments(text: str, marks: Iterable[Mark]) -> list[Segment]:
    """Pieces whose texts joined are `text`. A mark that does not lie in the text is left out, never moved."""
    inside = [m for m in marks if 0 <= m.start < m.end <= len(text)]
    begins: dict[int, list[int]] = {}
    ends: dict[int, list[int]] = {}
    for order, mark in enumerate(inside):
        begins.setdefault(mark.start, []).append(order)
        ends.setdefault(mark.end, []).append(order)
    pieces = []
    open_marks: set[int] = set()
    for begin, end in pairwise(sorted({0, len(text), *begins, *ends})):
        open_marks.difference_update(ends.get(begin, ()))
        open_marks.update(begins.get(begin, ()))
        keys = dict.fromkeys(inside[order].key for order in sorted(open_marks))
        pieces.append(Segment(text[begin:end], tuple(keys)))
    return pieces


def visible(text: str) -> str:
    """`text` with every character that is not seen, or that reorders what is, named instead: `⟦U+202E⟧`.

    Controls but tab and line breaks, bidirectional overrides and isolates, zero-width and tag characters. Direction marks
    and joiners stay: scripts need them.
    """
    return _UNSEEN.sub(lambda match: f"⟦U+{ord(match[0]):04X}⟧", text)
