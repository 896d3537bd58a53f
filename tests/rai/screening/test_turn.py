"""The memory of a turn is its own."""

from __future__ import annotations

import asyncio

from rai.embedded.screen import EmbeddedScreen
from rai.screening.decision import RememberingScreen
from rai.screening.model import ScreenedModel
from rai.screening.turn import screened_turn
from tests.rai.screening.fakes import Model, Screen


async def test_memory_ends_with_the_turn_and_is_not_shared_between_turns() -> None:
    inner = Screen()
    screen = RememberingScreen(inner)

    async def turn(text: str) -> int:
        with screened_turn() as memory:
            await screen.screen(text)
            await asyncio.sleep(0)
            return len(memory.requests)

    sizes = await asyncio.gather(turn("first question here"), turn("second question here"))
    assert list(sizes) == [1, 1]
    inner.asked.clear()
    await ScreenedModel(Model(), screen).complete("", "first question here", purpose="compose")
    assert inner.asked == [("first question here", ())]


async def test_tasks_of_a_turn_share_its_memory() -> None:
    screen = RememberingScreen(EmbeddedScreen())
    with screened_turn() as turn:
        await asyncio.gather(screen.screen("one question"), screen.screen("another question"))
        assert turn.requests == {"one question", "another question"}
