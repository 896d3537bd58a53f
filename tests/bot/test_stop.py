"""The button that ends a turn from outside."""

from __future__ import annotations

import asyncio

import pytest

from bot.stop import Stop


@pytest.mark.parametrize("before", [True, False])
async def test_a_pressed_button_lets_the_limit_run_out(before: bool) -> None:
    stop = Stop()
    if before:
        stop.press()

    async def work() -> None:
        async with asyncio.timeout(600) as limit:
            with stop.ends(limit):
                asyncio.get_running_loop().call_soon(stop.press)
                await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        await work()
    assert stop.pressed


async def test_behind_the_block_it_ends_nothing() -> None:
    stop = Stop()
    async with asyncio.timeout(600) as limit:
        with stop.ends(limit):
            pass
        stop.press()
        await asyncio.sleep(0)
    assert stop.pressed
    assert not limit.expired()
