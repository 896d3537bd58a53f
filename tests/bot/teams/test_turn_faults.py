"""A fault of ours in any stage of a turn, in the channel: said plainly, with its record; and outside of the turn, apologised for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bot.http.rate_limit import Limits, RateLimiter
from bot.records import Ask, OnStage, Reply
from bot.settings.load import load_settings
from bot.teams.handler import ActivityHandler
from bot.teams.inbox import Abandoned, ActivityKey, Attempt
from bot.teams.worker import Worker
from bot.turn.entries.delivery import Deliveries
from bot.wording.conversation.teams import APOLOGY
from bot.wording.notices import FAILED
from grounding.errors import StoreError
from tests.bot.teams.conftest import REPLY, Bots, FakeAnswer, FakeLedger
from tests.bot.turn.test_pipeline import ASK
from tests.e2e.support import World
from tests.fakes.channel import FakeChannel
from tests.fakes.planted import FAULT, PLANTED, SECRET, answering, is_recorded, part, planted


@pytest.mark.parametrize("stage", PLANTED)
async def test_in_teams_it_is_said_plainly(stage: str, tmp_path: Path, bots: Bots, channel: FakeChannel) -> None:
    w = await planted(tmp_path / "kb", stage)
    bot = await bots.start(answer=Answering(w))
    await bot.post(channel.inbound(ASK.question, channelId="emulator"))
    [message] = await channel.until_messages(1)
    assert FAILED[None] in message["text"]
    assert SECRET not in str(message)
    [entry] = [entry async for entry in w.ledger.entries() if entry.kind == "turn"]
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
    broken = replace(REPLY, claims=part(None))
    bot = await bots.start(answer=FakeAnswer(reply=broken))
    for _ in range(2):
        await bot.post(channel.inbound("hello?", channelId="emulator"))
    messages = await channel.until_messages(2)
    assert [message["text"] for message in messages] == [APOLOGY, APOLOGY]


class Done:
    """An inbox that remembers what it is done with."""

    def __init__(self) -> None:
        self.keys: list[ActivityKey] = []

    async def take(self, key: ActivityKey, activity: object, *, left_to_others: bool = False) -> bool:
        return True

    async def holds(self, held: Attempt) -> bool:
        return True

    def earlier(self, key: ActivityKey) -> object:
        raise FAULT

    async def done(self, key: ActivityKey, attempt: int) -> None:
        self.keys.append(key)


class Broken:
    """A channel that raises what is not its own error, whatever is asked of it."""

    def __getattr__(self, name: str) -> object:
        raise FAULT


def over_broken(inbox: Done, home: Path, worker: Worker) -> ActivityHandler:
    """A handler of which only inbox and worker are whole."""
    return ActivityHandler(
        load_settings(home=home),
        FakeAnswer(),
        FakeLedger(),
        inbox=part(inbox),
        history=part(Broken()),
        outbox=part(Broken()),
        undelivered=part(Broken()),
        deliveries=Deliveries(FakeLedger()),
        worker=worker,
        limits=Limits(RateLimiter(60), None),
    )


async def test_a_fault_around_the_turn_leaves_no_activity_undone(tmp_path: Path, channel: FakeChannel) -> None:
    """One that stays undone is taken for that of a dead process, and asked again."""
    inbox, worker, key = Done(), Worker(), ActivityKey("emulator", "a:chat-1", "in-1")
    turns = over_broken(inbox, tmp_path, worker)
    await turns.receive(channel.inbound("hello?", channelId="emulator"))
    await worker.drain(30)
    assert (inbox.keys, turns.working) == ([key], {})


class Unwritable(Done):
    """An inbox whose state cannot be written for a while."""

    is_up = False

    async def done(self, key: ActivityKey, attempt: int) -> None:
        if not self.is_up:
            raise StoreError("the state cannot be used: the connection was lost")
        await super().done(key, attempt)


async def test_what_is_done_is_held_until_its_end_can_be_stored(tmp_path: Path, channel: FakeChannel) -> None:
    """Else the conversation stands still until this server ends, and then another answers once more."""
    inbox, worker, key = Unwritable(), Worker(), ActivityKey("emulator", "a:chat-1", "in-1")
    turns = over_broken(inbox, tmp_path, worker)
    await turns.receive(channel.inbound("hello?", channelId="emulator"))
    await worker.drain(30)
    assert (inbox.keys, turns.working) == ([], {key: 1}), "its lease is renewed"
    with pytest.raises(StoreError):
        await turns.end_rest()
    inbox.is_up = True
    await turns.end_rest()
    assert (inbox.keys, turns.working) == ([key], {})
    await turns.end_rest()
    assert inbox.keys == [key]


async def test_what_an_older_program_left_of_a_reaction_is_ended(tmp_path: Path) -> None:
    inbox, key = Done(), ActivityKey("msteams", "a:1", "reaction-1")
    turns = over_broken(inbox, tmp_path, Worker())
    await turns.resume(Abandoned(key, {}, number=2, deaths=1, age_s=4.0))
    assert (inbox.keys, turns.working) == ([key], {})
