"""Choice among several backends of one service: by order and weight, and failover from one that fails to the next.

A backend that fails while another can take over is left alone at once, by its own breaker, so it costs the one call that found it out and then
nothing until the breaker lets a trial pass. The last that is left is treated like a service without a stand-in: it is tried again within its
deadline, and left alone only after failures in a row. Seams that ask the same backends share their breakers.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from grounding.errors import ReplyCut, ServiceError, ServiceRejected
from grounding.services.remote import CircuitOpen, Remote

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Backend(Generic[T]):
    """One backend: its `client`, whose calls go through `remote`. The lowest `order` is asked first, in one order each by its share of `weight`."""

    name: str
    model: str
    client: T
    remote: Remote
    order: int = 1
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Answered(Generic[T, R]):
    """The result of a call and the backend that gave it. `failed`: why the first that was asked did not, None if it was that one."""

    backend: Backend[T]
    result: R
    failed: ServiceError | None


class Backends(Generic[T]):
    """Caller of the first backend that can be called. `service` names them all in messages; `draw` (a number in [0, 1)) is given by tests."""

    def __init__(
        self, service: str, backends: Sequence[Backend[T]], *, draw: Callable[[], float] = random.random
    ) -> None:
        self.service = service
        self.backends = tuple(sorted(backends, key=lambda backend: backend.order))
        self._draw = draw
        for backend in self.backends:
            backend.remote.replaceable = _other_than(backend, self.backends)

    @property
    def usual(self) -> Backend[T]:
        """The backend that is asked first, or one of those."""
        return self.backends[0]

    @property
    def trouble(self) -> str | None:
        """Reason why no backend is called now (every breaker is open), or None while one is."""
        reasons = [backend.remote.trouble for backend in self.backends]
        return "; ".join(why for why in reasons if why) if all(reasons) else None

    async def call(self, ask: Callable[[T], Awaitable[R]]) -> Answered[T, R]:
        """The result of the first backend that answers. Raises what the request itself comes to, and if none answers what the last said that
        was called.
        """
        left, errors = self._drawn(), list[ServiceError]()
        while left:
            backend = next((b for b in left if b.remote.breaker.admits), None)
            if backend is None:
                if any(not isinstance(error, CircuitOpen) for error in errors):
                    break  # the others are left alone
                backend = left[0]  # says so, or waits for how its trial ends
            left.remove(backend)
            try:
                return Answered(backend, await ask(backend.client), errors[0] if errors else None)
            except ServiceError as error:
                if not _passes_on(error):
                    raise
                errors.append(error)
        raise errors[-1]

    def _drawn(self) -> list[Backend[T]]:
        """The backends in the order of this call: of one order a random one first, by weight (Efraimidis and Spirakis, 2006)."""
        return sorted(self.backends, key=lambda b: (b.order, -(self._draw() ** (1.0 / b.weight))))


def _other_than(one: Backend[T], backends: Sequence[Backend[T]]) -> Callable[[], bool]:
    """A function that tells whether another of `backends` than `one` is known to be well."""
    others = [backend.remote.breaker for backend in backends if backend is not one]
    return lambda: any(breaker.state == "closed" for breaker in others)


def _passes_on(error: ServiceError) -> bool:
    """True if another backend may answer what this one did not: not where the request was refused, nor where the reply was too long."""
    if isinstance(error, ServiceRejected):
        return error.here_alone
    return not isinstance(error, ReplyCut)
