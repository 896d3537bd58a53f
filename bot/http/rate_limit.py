"""Token buckets: how often one caller may ask.

A bucket holds at most `per_minute` tokens and refills evenly; a request takes `cost` of them. The table of
buckets is bounded: the caller that was quiet for longest is forgotten first, which can only be in its favour.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress

from sqlalchemy import Connection, CursorResult, delete, text

from bot.events.digests import Digests
from bot.state import State, rates
from grounding.errors import StoreError

CHECK_COST = 0.1
"""What calls no model, a check, a search, what is said of an answer, takes a tenth of a turn from the caller's bucket."""
MAX_CALLERS = 10_000
FULL_AFTER_S = 60.0
"""Seconds in which an empty bucket is full again."""
CLOCK_STEP_S = 0.001
"""What a file's clock goes forward by."""
ROUNDING = 1e-6
"""Tokens are sums of floats: whoever waited as long as they were told must not be told to wait again."""

_TAKE = (
    "INSERT INTO rates (caller, full_at) SELECT :caller, {clock} + :cost_s WHERE :cost_s <= :most_s "
    "ON CONFLICT (caller) DO UPDATE SET full_at = CASE WHEN rates.full_at > {clock} THEN rates.full_at ELSE {clock} END + :cost_s "
    "WHERE CASE WHEN rates.full_at > {clock} THEN rates.full_at ELSE {clock} END + :cost_s <= {clock} + :most_s"
)

_LEFT = "SELECT full_at - {clock} FROM rates WHERE caller = :caller"


class RateLimiter:
    """Buckets by caller. `clock` gives seconds that never run backwards."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._capacity = float(per_minute)
        self._refill = per_minute / FULL_AFTER_S
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


class SharedRateLimiter:
    """The same buckets for all processes over one `state`, which its opener closes, as the time at which each is full again: one round trip for a request that is allowed.
    Whom they belong to stands there as a digest of `digests`.
    """

    def __init__(self, per_minute: int, state: State, digests: Digests) -> None:
        self._second = FULL_AFTER_S / per_minute
        self._state = state
        self._digests = digests
        self._take, self._left = (text(statement.format(clock=state.clock)) for statement in (_TAKE, _LEFT))

    async def take(self, caller: str, cost: float = 1.0) -> float:
        """Seconds to wait, as of `RateLimiter`. Raises StoreError."""
        name, cost_s = self._digests.of("rate", caller), cost * self._second
        values = {"caller": name, "cost_s": cost_s, "most_s": FULL_AFTER_S + CLOCK_STEP_S}

        def taken(connection: Connection) -> bool:
            done = connection.execute(self._take, values)
            return isinstance(done, CursorResult) and done.rowcount > 0

        if await self._state.ask(taken):
            return 0.0
        full_in = await self._state.ask(lambda connection: connection.execute(self._left, {"caller": name}).scalar())
        return max(CLOCK_STEP_S, max(0.0, full_in or 0.0) + cost_s - FULL_AFTER_S)

    async def tidy(self) -> None:
        """Forget the buckets that are full: they are as if nobody had asked. Raises StoreError."""

        def say(connection: Connection) -> None:
            connection.execute(delete(rates).where(rates.c.full_at < self._state.now()))

        await self._state.write(say, repeatable=True)


class Limits:
    """How often a caller may ask: what all processes count together, or this one alone, also where the shared state cannot be asked."""

    def __init__(self, own: RateLimiter, shared: SharedRateLimiter | None) -> None:
        self._own = own
        self.shared = shared

    async def take(self, caller: str, cost: float = 1.0) -> float:
        """Seconds to wait, as of `RateLimiter`."""
        if self.shared is not None:
            with suppress(StoreError):  # what else the request needs of the state says so
                return await self.shared.take(caller, cost)
        return self._own.take(caller, cost)
