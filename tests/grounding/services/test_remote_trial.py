"""How a service that was left alone is taken up again, and how one that hangs is found out by callers of little patience."""

from __future__ import annotations

import asyncio

import pytest

from grounding.errors import ServiceUnavailable
from grounding.services.breaker import Breaker
from grounding.services.remote import CircuitOpen, Remote


class Clock:
    """A clock that the test moves."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def resting(clock: Clock) -> Remote:
    """A service that is left alone for half a minute after one failure."""
    return Remote("svc", deadline_s=60.0, retries=0, breaker=Breaker(1, 30.0, clock=clock), clock=clock)


async def down() -> str:
    raise ServiceUnavailable("svc", "refused")


async def well() -> str:
    await asyncio.sleep(0.01)
    return "fine"


async def left_alone(svc: Remote) -> None:
    with pytest.raises(ServiceUnavailable):
        await svc.call(down)
    assert svc.trouble


async def test_whoever_needs_several_answers_at_once_gets_them_after_the_trial() -> None:
    """The others wait for it: sent away, they would call their own trial off, and the service would be left alone for ever."""
    svc = resting(clock := Clock())
    await left_alone(svc)
    clock.now += 30
    assert await asyncio.gather(*(svc.call(well) for _ in range(5))) == ["fine"] * 5
    assert svc.breaker.state == "closed"
    assert svc.trouble is None


async def test_if_the_trial_fails_the_others_are_sent_away() -> None:
    svc = resting(clock := Clock())
    await left_alone(svc)
    clock.now += 30
    ended = await asyncio.gather(*(svc.call(down) for _ in range(3)), return_exceptions=True)
    assert [type(error) for error in ended].count(CircuitOpen) == 2
    assert svc.breaker.state == "open"


@pytest.mark.parametrize(("patience", "ends"), [(29.0, "closed"), (31.0, "open")])
async def test_a_caller_that_gives_up_late_counts_against_the_service(patience: float, ends: str) -> None:
    """Half of the call's deadline is long: the service hangs. A person who goes away at once says nothing of it."""
    svc = resting(clock := Clock())

    async def hangs() -> str:
        clock.now += patience
        return await asyncio.Event().wait() and "never"

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await svc.call(hangs)
    assert svc.breaker.state == ends
