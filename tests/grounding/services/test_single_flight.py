"""One call for all who ask at once: its result, its error, and what happens when the one who makes it is called off."""

from __future__ import annotations

import asyncio

import pytest

from grounding.services.single_flight import SingleFlight


class Counted:
    """A call that waits for `go` and counts how often it was begun; fails if it has an `error`."""

    def __init__(self, error: Exception | None = None) -> None:
        self.begun = 0
        self.go = asyncio.Event()
        self.error = error

    async def __call__(self) -> int:
        self.begun += 1
        mine = self.begun
        await self.go.wait()
        if self.error is not None:
            raise self.error
        return mine


async def _settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_all_who_ask_at_once_get_one_result() -> None:
    one, made = SingleFlight[str, int](), Counted()
    asking = [asyncio.create_task(one("a", made)) for _ in range(20)]
    other = asyncio.create_task(one("b", made))
    await _settled()
    assert made.begun == 2
    made.go.set()
    assert await asyncio.gather(*asking) == [1] * 20
    assert await other == 2
    assert await one("a", made) == 3  # nothing is kept


async def test_all_who_ask_at_once_get_one_error_and_the_next_tries_anew() -> None:
    one, made = SingleFlight[str, int](), Counted(ValueError("no"))
    asking = [asyncio.create_task(one("a", made)) for _ in range(3)]
    await _settled()
    made.go.set()
    found = await asyncio.gather(*asking, return_exceptions=True)
    assert [str(e) for e in found] == ["no"] * 3
    made.error = None
    assert await one("a", made) == 2


async def test_whoever_waits_takes_over_from_one_who_is_called_off() -> None:
    one, made = SingleFlight[str, int](), Counted()
    first, second, third = (asyncio.create_task(one("a", made)) for _ in range(3))
    await _settled()
    first.cancel()
    await _settled()
    assert made.begun == 2
    third.cancel()
    await _settled()
    made.go.set()
    assert await second == 2
    assert first.cancelled()
    assert third.cancelled()


async def test_a_deadline_of_one_who_waits_ends_that_one_alone() -> None:
    one, made = SingleFlight[str, int](), Counted()
    first = asyncio.create_task(one("a", made))
    await _settled()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await one("a", made)
    made.go.set()
    assert await first == 1
