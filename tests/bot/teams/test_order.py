"""Two servers that answer one conversation: in the order in which its messages came, whichever server got which."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from bot.places import places_of
from bot.records import Ask
from bot.settings.load import load_settings
from bot.state import State
from bot.teams.history import ConversationHistory
from bot.teams.inbox import Inbox, key_of
from tests.bot.teams.conftest import Bots, FakeAnswer
from tests.fakes.channel import FakeChannel
from tests.postgres.state import shared


@pytest.fixture(params=["sqlite", "postgres"])
def over(request: pytest.FixtureRequest) -> dict[str, Any]:
    """The settings of servers that share a state: of one home, or of one database."""
    if request.param == "sqlite":
        return {}
    return {"database_url": shared(request.getfixturevalue("database_url"))}


class Slow:
    """An answer that waits until it is let go; `began` is set when it was asked for."""

    def __init__(self) -> None:
        self.began, self.goes_on = asyncio.Event(), asyncio.Event()

    async def __call__(self, _: Ask) -> None:
        self.began.set()
        await self.goes_on.wait()


async def test_the_second_message_waits_for_the_first_and_knows_of_it(
    over: dict[str, Any], bots: Bots, channel: FakeChannel
) -> None:
    slow = Slow()
    first = await bots.start(answer=FakeAnswer(then=slow), **over)
    second = await bots.start(**over)
    await first.post(channel.inbound("How long do refunds take?"))
    await slow.began.wait()
    await second.post(channel.inbound("And for gift cards?"))
    elsewhere = channel.inbound("Elsewhere", conversation={"id": "a:chat-2", "conversationType": "personal"})
    await second.post(elsewhere)  # another conversation does not wait
    await channel.until_messages(1)
    assert [asked.question for asked in second.answer.asked] == ["Elsewhere"]
    slow.goes_on.set()
    await channel.until_messages(3)
    asked = second.answer.asked[1]
    assert asked.question == "And for gift cards?"
    assert [turn.text for turn in asked.history][:1] == ["How long do refunds take?"]
    assert [message["conversation"]["id"] for message in channel.messages] == ["a:chat-2", "a:chat-1", "a:chat-1"]


async def test_many_messages_to_two_servers_are_answered_in_their_order(
    over: dict[str, Any], bots: Bots, channel: FakeChannel
) -> None:
    order: list[str] = []

    async def note(asked: Ask) -> None:
        order.append(asked.question)
        await asyncio.sleep(0)

    servers = [await bots.start(answer=FakeAnswer(then=note), rate_per_minute=1000, **over) for _ in range(2)]
    for n in range(12):
        await servers[n % 2].post(channel.inbound(f"message {n}"))
    await channel.until_messages(12)
    assert order == [f"message {n}" for n in range(12)]


async def test_what_a_dead_server_left_goes_first(
    over: dict[str, Any], bots: Bots, channel: FakeChannel, tmp_path: Path
) -> None:
    """The message that came later waits in the line of the server that takes the earlier one over."""
    left = channel.inbound("left behind")
    state = State(places_of(load_settings(home=tmp_path / "home", **over)).state)
    await state.open()
    assert await Inbox(state, lease_s=2.0).take(key_of(left), left)
    bot = await bots.start(lease_s=2.0, **over)
    await bot.post(channel.inbound("came later"))
    await channel.until_messages(2)
    await state.close()
    assert [asked.question for asked in bot.answer.asked] == ["left behind", "came later"]


@pytest.mark.parametrize(
    "change", [{"type": "messageDelete", "text": None}, {"type": "messageUpdate", "text": "About Bo"}]
)
async def test_a_message_that_is_changed_at_another_server_is_not_answered_as_it_was(
    over: dict[str, Any], bots: Bots, channel: FakeChannel, change: dict[str, Any]
) -> None:
    """The turn ends where it is in hand: nothing of it is sent, remembered, or taken for another server's."""
    slow = Slow()
    first = await bots.start(answer=FakeAnswer(then=slow), **over)
    second = await bots.start(**over)
    asked = channel.inbound("About Ada")
    await first.post(asked)
    await slow.began.wait()
    words = change["text"]
    await second.post(channel.inbound(words, type=change["type"], id=asked["id"]))
    slow.goes_on.set()
    assert (await first.ledger.delivery())["failed"] == "stopped"
    await second.post(channel.inbound("And now?"))
    await channel.until_messages(2 if words else 1)
    assert [turn.text for turn in second.answer.asked[-1].history][:1] == ([words] if words else [])
    assert len(channel.messages) == (2 if words else 1)


async def test_a_server_that_was_only_slow_writes_nothing_after_another_took_its_message_over(
    over: dict[str, Any], bots: Bots, channel: FakeChannel, tmp_path: Path
) -> None:
    """It stopped while the channel had its answer: both answers are in sight, one turn is remembered, and the second server's attempt is the one that ends the message."""

    async def hold_the_channel(_: Ask) -> None:
        channel.go_on.clear()

    stuck = await bots.start(answer=FakeAnswer(then=hold_the_channel), **over)
    asked = channel.inbound("How long do refunds take?")
    await stuck.post(asked)
    await channel.until(lambda c: any(body.get("type") == "message" for body in c.pending))
    later = time.time() + 60
    state = State(places_of(load_settings(home=tmp_path / "home", **over)).state)
    await state.open()
    inbox = Inbox(state, clock=lambda: later)
    (found,) = await inbox.take_over()
    channel.go_on.set()
    assert (await stuck.ledger.delivery())["message"], "it was sent"
    await bots.stop()
    history = ConversationHistory(state, days=90)
    assert (await history.kept(asked)).turns == ()
    later += 60
    assert [again.number for again in await inbox.take_over()] == [found.number + 1], "it is not done"
    await state.close()
