"""How many turns one person may ask in a minute."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

WINDOW_S = 60.0
MAX_PEOPLE = 10_000


class TurnLimit:
    """A sliding window per person, in this process. `clock` is monotonic seconds."""

    def __init__(self, limit: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = limit
        self._clock = clock
        self._asked: dict[str, deque[float]] = {}

    def allow(self, who: str) -> bool:
        """True, and counted, if `who` may ask now."""
        now = self._clock()
        if who not in self._asked and len(self._asked) >= MAX_PEOPLE:
            self._asked = {p: times for p, times in self._asked.items() if times and now - times[-1] < WINDOW_S}
        times = self._asked.setdefault(who, deque())
        while times and now - times[0] >= WINDOW_S:
            times.popleft()
        if len(times) >= self._limit:
            return False
        times.append(now)
        return True
