"""Text cut where spans begin and end, so that overlapping spans can be drawn without nesting."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise


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
    cuts = sorted({0, len(text), *(m.start for m in inside), *(m.end for m in inside)})
    pieces = []
    for begin, end in pairwise(cuts):
        keys = dict.fromkeys(m.key for m in inside if m.start <= begin and end <= m.end)
        pieces.append(Segment(text[begin:end], tuple(keys)))
    return pieces
