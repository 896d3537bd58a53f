"""Reading a large ledger beside the turns of a server without slowing them: work for a while, rest for longer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")
AT_ONCE = 200
"""What is read between two rests: about 50 ms of work."""


async def paced(
    items: AsyncIterable[T],
    share: float,
    *,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> AsyncIterator[T]:
    """The items, with rests between them so that reading them and what the caller does with them take `share` of the time, in (0, 1]."""
    began, number = clock(), 0
    async for item in items:
        yield item
        number += 1
        if share < 1 and number % AT_ONCE == 0:
            await sleep((clock() - began) * (1 / share - 1))
            began = clock()
