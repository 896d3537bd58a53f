"""How a service that was left alone is taken up again, and how one that hangs is found out by callers of little patience."""

from __future__ import annotations

import asyncio

import pytest

from grounding.errors import ServiceUnavailable
from grounding.remote import Breaker, LeftAlone, Remote


def resting(rest_s: float = 0.05) -> Remote:
    return Remote("svc", deadline_s=1.0, retries=0, breaker=Breaker(1, rest_s))


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
    svc = resting()
    await left_alone(svc)
    await asyncio.sleep(0.06)
    assert await asyncio.gather(*(svc.call(well) for _ in range(5))) == ["fine"] * 5
    assert svc.breaker.state == "closed"
    assert svc.trouble is None


async def test_if_the_trial_fails_the_others_are_sent_away() -> None:
    svc = resting(rest_s=0.5)
    await left_alone(svc)
    await asyncio.sleep(0.55)
    ended = await asyncio.gather(*(svc.call(down) for _ in range(3)), return_exceptions=True)
    assert [type(error) for error in ended].count(LeftAlone) == 2
    assert svc.breaker.state == "open"


@pytest.mark.parametrize(("patience", "ends"), [(0.05, "closed"), (0.7, "open")])
async def test_a_caller_that_gives_up_late_counts_against_the_service(patience: float, ends: str) -> None:
    """Half of the call's deadline is long: the service hangs. A person who goes away at once says nothing of it."""
    svc = resting(rest_s=30)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(patience):
            await svc.call(asyncio.Event().wait)
    assert svc.breaker.state == ends
