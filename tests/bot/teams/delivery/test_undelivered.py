"""What the channel could not be given: it waits, arrives in order and once, and after an hour the conversation is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.records import Reply
from bot.state import State
from bot.teams.delivery.dispatch import TOLD_S, TRIED_S, Dispatch, StopPressed
from bot.teams.delivery.outbox import Outbox
from bot.teams.delivery.undelivered import Undelivered, Waiting
from bot.teams.history import ConversationHistory
from bot.teams.ports import SendFailed
from bot.teams.shown.render import notice
from bot.turn.entries.delivery import Deliveries
from grounding.records import Turn
from rai.records import Outcome
from tests.bot.teams.conftest import REPLY, Bots, FakeAnswer, FakeLedger
from tests.bot.teams.test_sending import INBOUND, Json, Wire
from tests.bot.teams.test_state import Clock
from tests.fakes.channel import FakeChannel, Fault

DOWN = SendFailed(None, unsent=True)
LOST = notice("it never arrived")


@dataclass
class Desk:
    """A dispatch over a wire, with its clock and what it writes."""

    wire: Wire
    undelivered: Undelivered
    history: ConversationHistory
    ledger: FakeLedger
    dispatch: Dispatch
    clock: Clock

    async def answer(self, text: str, inbound: Json = INBOUND, stream_id: str | None = None) -> bool:
        message = notice(text)
        waiting = Waiting(inbound, message, stream_id, f"entry of {text}", turns=(Turn("user", f"asked {text}"),))
        return await self.dispatch.deliver(waiting, lambda: self.wire.send(message))

    async def later(self, seconds: float) -> list[str]:
        """The texts that were sent so much later."""
        self.clock.now += seconds
        before = len(self.wire.sent)
        for waiting in await self.undelivered.claim_due():
            await self.dispatch.again(waiting)
        return [sent["text"] for sent in self.wire.sent[before:]]

    def fail(self, error: SendFailed = DOWN, times: int = 1) -> None:
        self.wire.failures.extend([("message", error)] * times)


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    state, clock, wire, ledger = State(tmp_path / "state.db"), Clock(), Wire(), FakeLedger()
    await state.open()
    undelivered, history = Undelivered(state, clock=clock), ConversationHistory(state, days=30)
    dispatch = Dispatch(Outbox(wire), undelivered, history, Deliveries(ledger), lambda _: LOST)
    yield Desk(wire, undelivered, history, ledger, dispatch, clock)
    await state.close()


@pytest.mark.parametrize("error", [DOWN, SendFailed(429), SendFailed(503), SendFailed(504)])
async def test_an_answer_waits_and_arrives_with_its_record_and_its_turns(desk: Desk, error: SendFailed) -> None:
    desk.fail(error)
    assert not await desk.answer("a")
    assert (desk.ledger.appended, (await desk.history.kept(INBOUND)).turns) == ([], ())
    assert await desk.later(1) == []
    assert await desk.later(5) == ["a"]
    [body] = desk.ledger.of("delivery")
    assert (body["entry_id"], body["failed"], body["message"]) == ("entry of a", None, "out-1")
    assert body["handed_over"] <= body["delivered"]
    assert (await desk.history.kept(INBOUND)).turns == (Turn("user", "asked a"),)
    assert await desk.history.entry_of(INBOUND, "out-1") == "entry of a"
    assert await desk.later(9999) == []


@pytest.mark.parametrize("error", [SendFailed(400), SendFailed(500), SendFailed(None)])
async def test_what_may_have_arrived_or_is_refused_does_not_wait(desk: Desk, error: SendFailed) -> None:
    desk.fail(error)
    with pytest.raises(SendFailed):
        await desk.answer("a")
    assert await desk.later(3600) == []
    assert len(desk.ledger.of("delivery")) == 1
    assert (await desk.history.kept(INBOUND)).turns == (Turn("user", "asked a"),)


async def test_what_waits_goes_before_what_is_new(desk: Desk) -> None:
    desk.fail(times=2)
    await desk.answer("a")
    await desk.answer("b")
    assert desk.wire.sent == []
    await desk.answer("c")
    assert [sent["text"] for sent in desk.wire.sent] == ["a", "b", "c"]
    elsewhere = {**INBOUND, "conversation": {"id": "a:2", "conversationType": "personal"}}
    desk.fail()
    await desk.answer("d")
    assert await desk.answer("e", elsewhere)


async def test_after_an_hour_the_conversation_is_told_and_the_record_says_so(desk: Desk) -> None:
    desk.fail()
    await desk.answer("a")
    for minute in range(61):
        desk.fail()
        assert await desk.later(60) == [], minute
    [body] = desk.ledger.of("delivery")
    assert (body["entry_id"], body["failed"], body["delivered"]) == ("entry of a", "unreachable", None)
    assert await desk.later(60) == [LOST["text"]]
    assert (await desk.history.kept(INBOUND)).turns == (Turn("user", "asked a"),), "it was asked, and goes on"
    assert len(desk.ledger.of("delivery")) == 1
    assert await desk.later(TRIED_S) == []


async def test_what_cannot_be_told_for_a_day_is_let_go(desk: Desk) -> None:
    desk.fail(times=3)
    await desk.answer("a")
    await desk.later(TRIED_S)
    await desk.later(TOLD_S)
    assert await desk.later(TOLD_S) == []


async def test_the_answer_takes_the_place_of_a_stream_that_is_over(desk: Desk) -> None:
    desk.fail(times=2)
    await desk.answer("a", stream_id="stream-1")
    assert await desk.later(5) == []
    assert [(sent["id"], sent["text"]) for sent in desk.wire.updated] == [("stream-1", "a")]


async def test_two_processes_never_try_the_same_one(desk: Desk) -> None:
    desk.fail()
    await desk.answer("a")
    desk.clock.now += 5
    claimed = await asyncio.gather(*(desk.undelivered.claim_due() for _ in range(8)))
    assert sum(map(len, claimed)) == 1


async def test_stop_is_no_reason_to_wait(desk: Desk) -> None:
    async def stopped() -> str | None:
        raise StopPressed

    assert await desk.dispatch.deliver(Waiting(INBOUND, LOST, entry_id="e"), stopped) is False
    assert [body["failed"] for body in desk.ledger.of("delivery")] == ["stopped"]
    assert await desk.later(3600) == []


async def test_what_was_taken_back_is_not_delivered(desk: Desk) -> None:
    desk.fail()
    await desk.answer("a")
    await desk.undelivered.forget(INBOUND, "another message")
    await desk.undelivered.forget(INBOUND, "in-1")
    assert await desk.later(60) == []


async def test_a_channel_that_is_down_for_a_while_loses_nothing(bots: Bots, channel: FakeChannel) -> None:
    bot = await bots.start()
    channel.faults.append(Fault(503, applies=lambda body: body.get("type") == "message"))
    await bot.post(channel.inbound("first", channelId="emulator"))
    await channel.until(lambda c: not c.faults)
    await bot.post(channel.inbound("second", channelId="emulator"))
    await channel.until(lambda c: len(c.messages) == 3)
    assert [message["replyToId"] for message in channel.messages] == ["in-1", "in-1", "in-2"]
    assert all(message["text"].startswith(REPLY.answer) for message in channel.messages)


async def test_it_is_tried_again_by_itself(bots: Bots, channel: FakeChannel) -> None:
    bot = await bots.start(lease_s=1)
    channel.faults.append(Fault(503, applies=lambda body: body.get("type") == "message"))
    await bot.post(channel.inbound("first", channelId="emulator"))
    await channel.until(lambda c: len(c.messages) == 2)
    assert (await bot.ledger.delivery())["failed"] is None


@pytest.mark.parametrize("down", [1, 2])
async def test_a_question_goes_on_from_an_answer_that_has_not_arrived_yet(
    bots: Bots, channel: FakeChannel, down: int
) -> None:
    bot = await bots.start(lease_s=1)
    channel.faults.extend([Fault(503, applies=lambda body: body.get("type") == "message")] * down)
    await bot.post(channel.inbound("What does Watch Plus cost?", channelId="emulator"))
    await channel.until(lambda c: len(c.faults) < down)
    await bot.post(channel.inbound("And Watch Pro?", channelId="emulator"))
    await channel.until(lambda c: len(c.messages) == 2 + down, within_s=90)
    said = (Turn("user", "What does Watch Plus cost?"), Turn("assistant", REPLY.answer))
    assert bot.answer.asked[1].history == said
    assert [m["replyToId"] for m in channel.messages[-2:]] == ["in-1", "in-2"]


async def test_what_failed_or_was_refused_by_the_channel_was_asked_all_the_same(
    bots: Bots, channel: FakeChannel
) -> None:
    bot = await bots.start(answer=FakeAnswer(Reply(Outcome.FAILED, "Later.", entry_id="e1")))
    await bot.post(channel.inbound("What does Watch Plus cost?"))
    await channel.until_messages(1)
    await bot.post(channel.inbound("And Watch Pro?"))
    await channel.until_messages(2)
    assert bot.answer.asked[1].history == (Turn("user", "What does Watch Plus cost?"),)


async def test_another_customer_does_not_inherit_what_waits(desk: Desk) -> None:
    desk.fail()
    await desk.answer("a")
    desk.fail()
    assert [waiting.turns for waiting in await desk.dispatch.older(INBOUND)] == [(Turn("user", "asked a"),)]
    await desk.undelivered.forget_turns(INBOUND)
    assert await desk.later(60) == ["a"]
    assert (await desk.history.kept(INBOUND)).turns == ()
