"""Wrapper around every call of a remote service: deadline, bounded retries, circuit breaker, bulkhead.

The wrapper decides on our own error types alone, so a seam translates foreign errors before they reach it:

    ServiceUnavailable    tried again, up to `retries` times
    ServiceReplyInvalid   tried again once: a proxy's page or a cut stream is often gone the next time
    ServiceRejected       tried again only if it is `Throttled`: the service itself said when to come back
    everything else       passed on
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import TypeVar

from grounding.errors import (
    AttestError,
    ContentFiltered,
    ServiceError,
    ServiceRejected,
    ServiceReplyInvalid,
    ServiceTimeout,
    ServiceUnavailable,
)
from grounding.observe import RemoteCall, RemoteOutcome, observed
from grounding.services.breaker import Breaker

T = TypeVar("T")
BACKOFF_S = 0.5
BACKOFF_CAP_S = 8.0
TRIAL_S = 0.05
"""Seconds between two looks at how a trial ends."""
GIVEN_UP = 0.5
"""Share of a call's deadline from which an attempt that its caller calls off counts as failed: nobody waits so long for a service
that is well, and a service that hangs is otherwise never found out by callers of less patience.
"""


class Throttled(ServiceRejected):
    """HTTP 429: the service asks for a pause. `retry_after` in seconds, 0.0 when it names none."""

    def __init__(self, service: str, message: str, *, retry_after: float = 0.0) -> None:
        super().__init__(service, message, here_alone=True)
        self.retry_after = retry_after


class Overloaded(ServiceUnavailable):
    """HTTP 503 with Retry-After: the service is up and cannot serve now. `retry_after` in seconds."""

    def __init__(self, service: str, message: str, *, retry_after: float = 0.0) -> None:
        super().__init__(service, message)
        self.retry_after = retry_after


class CircuitOpen(ServiceUnavailable):
    """The circuit breaker is open: the service was not called."""


class Remote:
    """Caller of one service. `deadline_s` bounds the whole call in seconds: waiting for a place, every attempt and every pause.

    `retries`: further attempts after the first. `limit`: attempts under way at the same time (the bulkhead); a call that is pausing holds
    no place. `clock`, `sleep` and `jitter` (a number in [0, 1)) are given by tests.

    `replaceable`, which `grounding.services.backends` sets, tells whether another service can take over now: then a failure is not tried
    again, and opens the breaker at once.
    """

    def __init__(
        self,
        service: str,
        *,
        deadline_s: float = 20.0,
        retries: int = 2,
        breaker: Breaker | None = None,
        limit: int = 16,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.service = service
        self.deadline_s = deadline_s
        self.breaker = breaker or Breaker(clock=clock)
        self._retries = retries
        self.replaceable: Callable[[], bool] = _never
        self._places = asyncio.Semaphore(limit)
        self._clock = clock
        self._sleep = sleep
        self._jitter = jitter

    @property
    def trouble(self) -> str | None:
        """Reason why the service is not called now (open breaker), or None while calls of it pass."""
        return self.breaker.why or "failed several times in a row" if self.breaker.state == "open" else None

    async def call(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """Call the service: the result of the first attempt that succeeds.

        Raises what the last attempt raised, or ServiceTimeout when the deadline passes. A shorter deadline of the caller, and any other
        cancellation, passes through untouched.
        """
        with observed(RemoteCall(self.service, self.breaker)) as seen:
            try:
                return await self._call(attempt, seen)
            except BaseException as error:
                seen.outcome = _outcome(error)
                if isinstance(error, ServiceError) and not isinstance(error, CircuitOpen):
                    self.breaker.why = str(error)
                raise

    async def _call(self, attempt: Callable[[], Awaitable[T]], seen: RemoteCall) -> T:
        bound = asyncio.timeout(self.deadline_s)
        last: AttestError | None = None
        try:
            async with bound:
                until = self._clock() + self.deadline_s
                tried = 0
                while True:
                    try:
                        return await self._once(attempt, bound, seen)
                    except ServiceError as error:
                        tried += 1
                        pause = self._pause(error, tried)
                        if pause is None or pause >= until - self._clock():
                            raise
                        last = error
                    await self._sleep(pause)
        except TimeoutError:
            if not bound.expired():
                raise
            raise ServiceTimeout(self.service, f"no answer within {self.deadline_s:g} s") from last

    async def _once(self, attempt: Callable[[], Awaitable[T]], bound: asyncio.Timeout, seen: RemoteCall) -> T:
        async with self._places:
            ticket = await self._ticket()
            seen.attempts += 1
            began = self._clock()
            ok: bool | None = None
            at_once, asked = False, 0.0
            try:
                result = await attempt()
                ok = True
                return result
            except ServiceReplyInvalid:
                ok = False
                raise
            except (ServiceUnavailable, ServiceTimeout) as error:
                ok, at_once, asked = False, self.replaceable(), _asked(error)
                raise
            except AttestError as error:
                refused = isinstance(error, ServiceRejected) and error.here_alone
                at_once, asked = refused and self.replaceable(), _asked(error)
                ok = not at_once  # it answered, if only to say no
                raise
            except asyncio.CancelledError:
                slow = self._clock() - began >= GIVEN_UP * self.deadline_s
                ok = False if bound.expired() or slow else None
                at_once = self.replaceable()
                raise
            finally:
                self.breaker.report(ticket, ok=ok, at_once=at_once, pause_s=asked)

    async def _ticket(self) -> int:
        """Permission of the breaker for one attempt. Raises CircuitOpen.

        While a service that was left alone is on trial, others wait for how that ends: if they were sent away, whoever needs several
        answers at once would call its own trial off, for ever.
        """
        while (ticket := self.breaker.admit()) is None:
            if self.breaker.state == "open":
                raise CircuitOpen(self.service, "failed several times in a row and is left alone for a while")
            await self._sleep(TRIAL_S)
        return ticket

    def _pause(self, error: ServiceError, tried: int) -> float | None:
        """Seconds until the next attempt, or None when there is to be none.

        Exponential backoff with full jitter (Brooker, AWS Architecture Blog, 2015), after what the service asked for.
        """
        allowed = 0 if self.replaceable() else _allowed(error, self._retries)
        if tried > allowed or self.breaker.state == "open":
            return None
        return _asked(error) + self._jitter() * min(BACKOFF_CAP_S, BACKOFF_S * 2.0 ** (tried - 1))


def _never() -> bool:
    return False


def _asked(error: AttestError) -> float:
    """Seconds that the service asks to be left alone; 0.0 if it says nothing."""
    return error.retry_after if isinstance(error, Throttled | Overloaded) else 0.0


def _outcome(error: BaseException) -> RemoteOutcome:
    named: tuple[tuple[type[BaseException], RemoteOutcome], ...] = (
        (CircuitOpen, "left_alone"),
        (Throttled, "throttled"),
        (ServiceTimeout, "timeout"),
        (ServiceUnavailable, "unavailable"),
        (ServiceRejected, "rejected"),
        (ServiceReplyInvalid, "invalid"),
        (ContentFiltered, "filtered"),
        (asyncio.CancelledError, "cancelled"),
    )
    return next((outcome for kind, outcome in named if isinstance(error, kind)), "failed")


def _allowed(error: ServiceError, retries: int) -> int:
    match error:
        case CircuitOpen():
            return 0
        case ServiceUnavailable() | Throttled():
            return retries
        case ServiceReplyInvalid():
            return min(1, retries)
        case _:
            return 0


def retry_after(value: str | None, *, milliseconds: str | None = None, now: float | None = None) -> float | None:
    """Seconds that a `Retry-After` header asks for (RFC 9110, 10.2.3: seconds or a date), or None if it says nothing.

    `milliseconds` is the `retry-after-ms` header of Azure OpenAI, preferred when present. `now`: seconds since the epoch.
    """
    for text, unit in ((milliseconds, 1000.0), (value, 1.0)):
        seconds = _number(text)
        if seconds is not None:
            return seconds / unit
    try:
        when = parsedate_to_datetime(value or "").timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
    return max(0.0, when - (time.time() if now is None else now))


def _number(text: str | None) -> float | None:
    try:
        seconds = float(text or "")
    except ValueError:
        return None
    return seconds if isfinite(seconds) and seconds >= 0 else None
