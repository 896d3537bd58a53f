"""Removal of overlap between passages of one document, which chunks have that were cut with overlap.

Otherwise one sentence would stand in the evidence twice, under two numbers, and look like two sources.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from grounding.records import Passage
from grounding.text import sentences
from grounding.tokens import count_tokens

Place = tuple[int, int]
"""Start and end of a sentence in its document."""


def apart(passages: Sequence[Passage]) -> list[Passage]:
    """`passages` in their order, without the sentences at their ends that another of them holds.

    Of equal sentences the first stays, of one that the end of a chunk has cut short the whole one. A passage of which nothing is left is
    left out. Ids stay, and starts stay exact. What shares nothing is returned as it is.
    """
    neighbours = [
        [j for j, other in enumerate(passages) if j != i and _share(p, other)] for i, p in enumerate(passages)
    ]
    if not any(neighbours):
        return list(passages)
    places = [_places(p) if near else [] for p, near in zip(passages, neighbours, strict=True)]
    out = []
    for i, (passage, near) in enumerate(zip(passages, neighbours, strict=True)):
        told = [(j < i, place) for j in near for place in places[j]]
        left = [place for place in places[i] if not any(_is_told(place, other, first) for first, other in told)]
        if not near:
            out.append(passage)
        elif left:
            out.append(_cut(passage, left[0][0], left[-1][1]))
    return out


def _share(one: Passage, other: Passage) -> bool:
    """True if the same characters of the same document stand in both."""
    low, high = max(one.start, other.start), min(one.start + len(one.text), other.start + len(other.text))
    same = one.origin == other.origin == "kb" and (one.doc_id, one.version) == (other.doc_id, other.version)
    return same and low < high and _part(one, low, high) == _part(other, low, high)


def _part(passage: Passage, start: int, end: int) -> str:
    return passage.text[start - passage.start : end - passage.start]


def _places(passage: Passage) -> list[Place]:
    return [(passage.start + s.start, passage.start + s.end) for s in sentences(passage.text)]


def _is_told(mine: Place, other: Place, other_is_first: bool) -> bool:
    return other[0] <= mine[0] and mine[1] <= other[1] and (mine != other or other_is_first)


def _cut(passage: Passage, start: int, end: int) -> Passage:
    if start == passage.start and end == passage.start + len(passage.text):
        return passage
    text = _part(passage, start, end)
    return replace(passage, text=text, start=start, tokens=count_tokens(text))
