"""Items grouped into requests by the limits of a service."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def grouped(items: Iterable[T], size: Callable[[T], int], *, most: int, most_size: int) -> Iterator[list[T]]:
    """`items` in order, in groups of at most `most` that come to at most `most_size`; a larger item is a group by itself."""
    group: list[T] = []
    total = 0
    for item in items:
        own = size(item)
        if group and (len(group) == most or total + own > most_size):
            yield group
            group, total = [], 0
        group.append(item)
        total += own
    if group:
        yield group
