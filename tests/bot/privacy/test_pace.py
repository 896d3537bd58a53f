"""Reading with rests."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from bot.privacy.pace import AT_ONCE, paced


class Seconds:
    """A clock that stands still but for what a test lets pass."""

    def __init__(self) -> None:
        self.passed = 0.0

    def __call__(self) -> float:
        return self.passed


async def numbers(count: int, clock: Seconds) -> AsyncIterator[int]:
    """Each takes a second."""
    for number in range(count):
        clock.passed += 1
        yield number


@pytest.mark.parametrize(("share", "rests"), [(0.2, [4 * AT_ONCE, 4 * AT_ONCE]), (0.5, [AT_ONCE, AT_ONCE]), (1.0, [])])
async def test_it_rests_so_that_work_takes_its_share(share: float, rests: list[float]) -> None:
    clock, rested = Seconds(), list[float]()

    async def sleep(seconds: float) -> None:
        rested.append(seconds)
        clock.passed += seconds

    read = [n async for n in paced(numbers(2 * AT_ONCE + 1, clock), share, clock=clock, sleep=sleep)]
    assert read == list(range(2 * AT_ONCE + 1))
    assert rested == pytest.approx(rests)
