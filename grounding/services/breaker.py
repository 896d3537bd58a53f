"""The circuit breaker of a service: what keeps failing is left alone for a while."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal

FAILURES = 5
"""Failed attempts in a row after which a service is left alone."""
LONGEST_PAUSE_S = 600.0
"""The longest pause that a service is believed to want: a slip in its header must not keep it out for a day."""


class Breaker:
    """Circuit breaker (Nygard, Release It!, 2007) for one service: after repeated failures calls are refused for a while.

    closed: calls pass, and `failures` failed attempts in a row open it. open: nothing passes for `cooldown_s` seconds. half-open: one trial
    passes; if it succeeds the breaker closes, if it fails the breaker opens for another cooldown. An attempt that began before the last
    change of state has no say in the next.
    """

    def __init__(
        self, failures: int = FAILURES, cooldown_s: float = 30.0, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._threshold = failures
        self._cooldown_s = cooldown_s
        self._clock = clock
        self._failures = 0
        self._opened_at: float | None = None
        self._pause_s = cooldown_s
        self._trial = False
        self._epoch = 0
        self.why = ""
        """What the last failed call came to, in a line fit for a person; "" before the first."""

    @property
    def state(self) -> Literal["closed", "open", "half-open"]:
        """State of the breaker now."""
        if self._opened_at is None:
            return "closed"
        return "open" if self._clock() - self._opened_at < self._pause_s else "half-open"

    @property
    def admits(self) -> bool:
        """True if `admit` would give a ticket now."""
        state = self.state
        return state == "closed" or (state == "half-open" and not self._trial)

    def admit(self) -> int | None:
        """A ticket for one attempt, or None if none is allowed. Every ticket is handed back through `report`."""
        if not self.admits:
            return None
        self._trial = self.state == "half-open"
        return self._epoch

    def report(self, ticket: int, *, ok: bool | None, at_once: bool = False, pause_s: float = 0.0) -> None:
        """Tell how an attempt ended: True, False, or None when it was called off and says nothing of the service.

        `at_once`: this failure alone opens the breaker, because another service can take over, and for `pause_s` seconds in place of the cooldown
        where the service asked for a pause.
        """
        if ticket != self._epoch:
            return
        self._trial = False
        if ok:
            self._failures = 0
            if self._opened_at is not None:
                self._change(None)
        elif ok is False:
            self._failures += 1
            if at_once or self._opened_at is not None or self._failures >= self._threshold:
                asked = min(pause_s, LONGEST_PAUSE_S) if at_once else 0.0
                self._pause_s = asked or self._cooldown_s
                self._change(self._clock())

    def _change(self, opened_at: float | None) -> None:
        self._opened_at = opened_at
        self._failures = 0
        self._epoch += 1
