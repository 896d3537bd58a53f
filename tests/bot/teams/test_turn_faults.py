"""A fault of ours in any stage of a turn, in the channel: said plainly, with its record; and outside of the turn, apologised for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bot.records import Ask, OnStage, Reply
from bot.reply import FAILED
from bot.teams.turns import APOLOGY
from tests.bot.teams.conftest import REPLY, Bots, FakeAnswer
from tests.bot.test_pipeline import ASK
from tests.e2e.support import World
from tests.fakes.channel import FakeChannel
from tests.fakes.planted import PLANTED, SECRET, answering, is_recorded, part, planted


@pytest.mark.parametrize("stage", PLANTED)
async def test_in_teams_it_is_said_plainly(stage: str, tmp_path: Path, bots: Bots, channel: FakeChannel) -> None:
    w = await planted(tmp_path / "kb", stage)
    bot = await bots.start(answer=Answering(w))
    await bot.post(channel.inbound(ASK.question, channelId="emulator"))
    [message] = await channel.until_messages(1)
    assert FAILED[None] in message["text"]
    assert SECRET not in str(message)
    [entry] = [entry async for entry in w.ledger.entries()]
    assert await is_recorded(w, entry.entry_id)


class Answering(FakeAnswer):
    """A bot's answer that is a real turn."""

    def __init__(self, w: World) -> None:
        super().__init__()
        self._answer = answering(w)

    async def __call__(self, ask: Ask, on_stage: OnStage | None) -> Reply:
        return await self._answer(ask, on_stage)


async def test_in_teams_a_fault_outside_the_turn_is_apologised_for_and_the_next_is_answered(
    bots: Bots, channel: FakeChannel
) -> None:
    """The reply cannot be drawn: the person who waits is told, and the line of the conversation goes on."""
    broken = replace(REPLY, answer=part(None))
    bot = await bots.start(answer=FakeAnswer(reply=broken))
    for _ in range(2):
        await bot.post(channel.inbound("hello?", channelId="emulator"))
    messages = await channel.until_messages(2)
    assert [message["text"] for message in messages] == [APOLOGY, APOLOGY]


async def test_what_cannot_be_kept_takes_nothing_back_and_holds_up_nothing(bots: Bots, channel: FakeChannel) -> None:
    """The answer is there: no apology follows it, the activity is done with, and the next is answered."""
    bot = await bots.start(answer=FakeAnswer(reply=replace(REPLY, entry_id=part(object()))))
    for _ in range(2):
        await bot.post(channel.inbound("hello?", channelId="emulator"))
    messages = await channel.until_messages(2)
    assert APOLOGY not in [message["text"] for message in messages]
    await bots.stop()
    assert len(channel.messages) == 2
