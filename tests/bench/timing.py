"""Latency and throughput of calls made one after the other, in milliseconds and calls a second."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")
Clock = Callable[[], float]
"""Seconds since some moment: `time.perf_counter` by the wall, `time.process_time` of this process's processor."""


def ms_of(call: Callable[[], object]) -> float:
    """Milliseconds of one call."""
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1000


async def timed(work: Awaitable[R], *, clock: Clock = time.perf_counter) -> tuple[float, R]:
    """Milliseconds until `work` is done, and what it came to."""
    began = clock()
    result = await work
    return (clock() - began) * 1000, result


async def each_ms(
    call: Callable[[T], Awaitable[object]], items: Iterable[T], *, clock: Clock = time.perf_counter
) -> list[float]:
    """Milliseconds of `call` with each of `items`, in their order."""
    return [(await timed(call(item), clock=clock))[0] for item in items]


async def warm(call: Callable[[T], Awaitable[object]], items: Iterable[T]) -> None:
    """Call with each of `items` without timing: libraries are loaded, tables built, answers remembered."""
    for item in items:
        await call(item)


async def rate(call: Callable[[T], Awaitable[object]], items: Sequence[T]) -> float:
    """Items a second of `call` over all of `items`."""
    ms, _ = await timed(warm(call, items))
    return len(items) / (ms / 1000)
