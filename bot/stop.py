"""A turn's end that comes from outside: whoever waits for the answer no longer wants it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class Stop:
    """A button that ends a turn: what it does is cut off as at its deadline, a call of a model with it, and the record says that it was stopped."""

    def __init__(self) -> None:
        self._limit: asyncio.Timeout | None = None
        self.pressed = False

    def press(self) -> None:
        """End the turn. Called from the event loop that the turn runs on; a second time does nothing."""
        self.pressed = True
        if self._limit is not None:
            self._limit.reschedule(asyncio.get_running_loop().time())

    @contextmanager
    def ends(self, limit: asyncio.Timeout) -> Iterator[None]:
        """For as long as the block lasts, the button lets `limit` run out."""
        self._limit = limit
        try:
            if self.pressed:
                self.press()
            yield
        finally:
            self._limit = None
