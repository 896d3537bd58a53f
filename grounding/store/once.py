"""Work that searches a store several times, and asks once whether it changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Block:
    """Stores that were asked in a block. Searches go on side by side in threads: the second waits for what the first is told."""

    stores: set[int] = field(default_factory=set)
    lock: Lock = field(default_factory=Lock)


_BLOCK: ContextVar[_Block | None] = ContextVar("stores_asked", default=None)


@contextmanager
def asked_once() -> Iterator[None]:
    """Stores are asked for their generation once in the block, also by the threads and tasks that it starts. What a reader may see is asked of the store at each search all the same."""
    token = _BLOCK.set(_Block())
    try:
        yield
    finally:
        _BLOCK.reset(token)


def once(store: object, ask: Callable[[], T], last: Callable[[], T]) -> T:
    """What `ask` finds; within a block, where that was asked of this store before, what was found `last`. Outside of one it is asked each time; raises what `ask` raises."""
    block = _BLOCK.get()
    if block is None:
        return ask()
    with block.lock:
        if id(store) in block.stores:
            return last()
        found = ask()
        block.stores.add(id(store))
        return found
