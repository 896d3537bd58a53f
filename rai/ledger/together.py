"""What waits is done together: what comes while somebody is at work is done by the next piece of work, all of it at once."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")
MOST = 64
"""Things that one piece of work is given."""


class Together(Generic[T]):
    """Gives `work` what waits, in the order in which it came, 1 to `most` things at a time, and never twice at once. `work` must tell what fails to those whom it concerns:
    it raises nothing. It may take `more` of what has come since, when it has waited for something itself.

    Safe for use by threads.
    """

    def __init__(self, work: Callable[[list[T]], None], *, most: int = MOST) -> None:
        self._work = work
        self._most = most
        self._door = threading.Lock()
        self._waiting: deque[T] = deque()
        self._at_work = False

    def add(self, one: T) -> None:
        """Adds what is to be done. Where nobody is at work this thread is, until nothing waits; else it returns at once."""
        with self._door:
            self._waiting.append(one)
            if self._at_work:
                return
            self._at_work = True
        while group := self._next():
            try:
                self._work(group)
            except BaseException:
                with self._door:
                    self._at_work = False  # else whoever comes later would wait for nobody
                raise

    def more(self, has: int) -> list[T]:
        """For whoever is at work, on `has` things: what waits now, as many as it may be given beside these."""
        with self._door:
            return self._taken(self._most - has)

    def _next(self) -> list[T]:
        with self._door:
            group = self._taken(self._most)
            self._at_work = bool(group)
            return group

    def _taken(self, most: int) -> list[T]:
        return [self._waiting.popleft() for _ in range(min(most, len(self._waiting)))]
