"""Coalescing of concurrent calls: one call for all who ask for the same thing at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from contextlib import suppress
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class SingleFlight(Generic[K, T]):
    """Coalesces calls by key: the first caller makes the call, others who ask for the same meanwhile get its result, or its error.

    There is no task of its own: if the one who makes the call is cancelled, one of those who wait makes it anew.
    """

    def __init__(self) -> None:
        self._pending: dict[K, asyncio.Future[T]] = {}

    async def __call__(self, key: K, make: Callable[[], Awaitable[T]]) -> T:
        while (pending := self._pending.get(key)) is not None:
            try:
                return await asyncio.shield(pending)
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if not pending.cancelled() or (task is not None and task.cancelling()):
                    raise
        return await self._lead(key, make)

    async def _lead(self, key: K, make: Callable[[], Awaitable[T]]) -> T:
        promise: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._pending[key] = promise
        try:
            result = await make()
            promise.set_result(result)
            return result
        except asyncio.CancelledError:
            promise.cancel()
            raise
        except Exception as error:
            promise.set_exception(error)
            with suppress(Exception):
                promise.exception()  # nobody else may have waited: then it is told to the caller alone
            raise
        finally:
            promise.cancel()  # does nothing unless something else than an Exception ended the call
            del self._pending[key]
