"""Greedy batching of items for requests that are bounded in number of items and in total size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def in_batches(items: Iterable[T], size: Callable[[T], int], *, most_items: int, most_size: int) -> Iterator[list[T]]:
    """Split `items`, in order, into batches of at most `most_items` whose sizes sum to at most `most_size`.

    `size` gives one item's size in the unit of `most_size` (characters, bytes, tokens). An item larger than `most_size` is a batch
    of its own. No batch is empty.
    """
    batch: list[T] = []
    total = 0
    for item in items:
        needs = size(item)
        if batch and (len(batch) == most_items or total + needs > most_size):
            yield batch
            batch, total = [], 0
        batch.append(item)
        total += needs
    if batch:
        yield batch
