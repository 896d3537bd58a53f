"""Token buckets: how often one caller may ask.

A bucket holds at most `per_minute` tokens and refills evenly; a request takes `cost` of them. The table of
buckets is bounded: the caller that was quiet for longest is forgotten first, which can only be in its favour.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

MAX_CALLERS = 10_000
ROUNDING = 1e-6
"""Tokens are sums of floats: whoever waited as long as they were told must not be told to wait again."""


class RateLimiter:
    """Buckets by caller. `clock` gives seconds that never run backwards."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._capacity = float(per_minute)
        self._refill = per_minute / 60.0
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, caller: str, cost: float = 1.0) -> float:
        """Seconds to wait before this request is allowed: 0.0 means that it is, and its tokens are taken."""
        now = self._clock()
        tokens, seen = self._buckets.pop(caller, (self._capacity, now))
        tokens = min(self._capacity, tokens + (now - seen) * self._refill)
        wait = 0.0 if tokens >= cost - ROUNDING else (cost - tokens) / self._refill
        self._buckets[caller] = (tokens if wait else tokens - cost, now)
        while len(self._buckets) > MAX_CALLERS:
            self._buckets.popitem(last=False)
        return wait
