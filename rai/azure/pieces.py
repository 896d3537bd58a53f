"""Long texts cut to the limits of a service, and put into requests: pure functions.

Sizes are UTF-16 units, which are never fewer than the code points that the services speak of.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grounding.services.batches import in_batches


def sendable(text: str) -> str:
    """`text` with lone surrogates replaced, which no UTF-8 can carry."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def size(text: str) -> int:
    """Length in UTF-16 units."""
    return len(text) + sum(c > "\uffff" for c in text)


def pieces(text: str, most: int, overlap: int) -> list[str]:
    """Pieces of at most `most` units that cover `text`. Neighbours share about `overlap` units (less than half of `most`),
    so that a sentence that long stands whole in one of them. None if there is nothing but space.
    """
    if not text.strip():
        return []
    if size(text) <= most:
        return [text]
    wide = 2 if max(text) > "\uffff" else 1
    length, step = most // wide, (most - overlap) // wide
    return [text[at : at + length] for at in range(0, max(len(text) - overlap // wide, 1), step)]


def batches(sizes: Sequence[int], most_items: int, most_units: int) -> Iterator[list[int]]:
    """Indexes of `sizes` in order, in groups of at most `most_items` and together `most_units`."""
    return in_batches(range(len(sizes)), sizes.__getitem__, most_items=most_items, most_size=most_units)
