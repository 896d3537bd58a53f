"""Work that searches a store several times, and asks once whether it changed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_ASKED: ContextVar[set[int] | None] = ContextVar("stores_asked", default=None)


@contextmanager
def asked_once() -> Iterator[None]:
    """Stores are asked for their generation once in the block, also by the threads and tasks that it starts. What a reader may see is asked of the store at each search all the same."""
    token = _ASKED.set(set())
    try:
        yield
    finally:
        _ASKED.reset(token)


def was_asked(store: object) -> bool:
    """Whether this store was asked in the block that this runs in; it is now. False outside of one."""
    asked = _ASKED.get()
    if asked is None or id(store) in asked:
        return asked is not None
    asked.add(id(store))
    return False
