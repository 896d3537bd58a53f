"""Calls at the same time: results in order, and after a failure none is left under way."""

from __future__ import annotations

import asyncio

import pytest

from grounding.services.together import together


async def test_results_come_in_the_order_of_the_calls() -> None:
    async def after(seconds: float) -> float:
        await asyncio.sleep(seconds)
        return seconds

    assert await together(after(s) for s in (0.02, 0.0, 0.01)) == [0.02, 0.0, 0.01]


async def test_the_first_failure_cancels_the_others() -> None:
    cancelled = asyncio.Event()

    async def waits() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async def fails() -> None:
        await asyncio.sleep(0)
        raise LookupError("none")

    with pytest.raises(LookupError):
        await together([waits(), fails()])
    await asyncio.wait_for(cancelled.wait(), 1)
