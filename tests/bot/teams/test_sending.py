"""Patience with the channel, the end of a stream, and work that drains."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import pytest

from bot.records import Stage
from bot.teams.delivery.outbox import LONGEST_WAIT_S, TRIES, Outbox
from bot.teams.delivery.progress import finish, progress
from bot.teams.ports import SendFailed
from bot.teams.shown.message_limits import check_activity
from bot.teams.shown.render import notice
from bot.teams.worker import Busy, Worker

Json = dict[str, Any]

INBOUND: Json = {
    "type": "message",
    "id": "in-1",
    "channelId": "msteams",
    "serviceUrl": "https://smba.trafficmanager.net/",
    "conversation": {"id": "a:1", "conversationType": "personal"},
    "from": {"id": "u"},
    "recipient": {"id": "b"},
}


@dataclass
class Wire:
    """A transport that keeps what it is given; `failures` are raised first, one per call that they apply to."""

    sent: list[Json] = field(default_factory=list)
    updated: list[Json] = field(default_factory=list)
    failures: deque[tuple[str, SendFailed]] = field(default_factory=deque)
    news: asyncio.Event = field(default_factory=asyncio.Event)

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    async def authenticate(self, activity: Json, authorization: str) -> None: ...

    async def send(self, activity: Json) -> str | None:
        self._fail(activity["type"])
        self.sent.append(activity)
        self.news.set()
        return f"out-{len(self.sent)}"

    async def update(self, activity: Json) -> None:
        self._fail("update")
        self.updated.append(activity)

    def _fail(self, what: str) -> None:
        if self.failures and self.failures[0][0] == what:
            self.news.set()
            raise self.failures.popleft()[1]

    async def until_failed(self) -> None:
        async with asyncio.timeout(60):
            while self.failures:
                self.news.clear()
                await self.news.wait()

    async def until_sent(self, count: int) -> None:
        async with asyncio.timeout(60):
            while len(self.sent) < count:
                self.news.clear()
                await self.news.wait()


class Waits:
    def __init__(self) -> None:
        self.taken: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.taken.append(seconds)


@pytest.mark.parametrize("status", [412, 429, 502, 504])
async def test_a_busy_channel_is_waited_for(status: int) -> None:
    wire, waits = Wire(), Waits()
    wire.failures.extend([("message", SendFailed(status))] * 3)
    assert await Outbox(wire, sleep=waits).deliver(INBOUND, notice("x")) == "out-1"
    assert len(waits.taken) == 3
    assert all(1 <= longer / shorter <= 4 for shorter, longer in zip(waits.taken, waits.taken[1:], strict=False))


async def test_retry_after_is_obeyed_within_a_bound() -> None:
    wire, waits = Wire(), Waits()
    wire.failures.extend([("message", SendFailed(429, retry_after=3)), ("message", SendFailed(429, retry_after=9999))])
    await Outbox(wire, sleep=waits).deliver(INBOUND, notice("x"))
    assert 3 <= waits.taken[0] < 4
    assert waits.taken[1] == LONGEST_WAIT_S


async def test_patience_ends() -> None:
    wire, waits = Wire(), Waits()
    wire.failures.extend([("message", SendFailed(429))] * TRIES)
    with pytest.raises(SendFailed):
        await Outbox(wire, sleep=waits).deliver(INBOUND, notice("x"))
    assert len(waits.taken) == TRIES - 1
    assert wire.sent == []


@pytest.mark.parametrize("failure", [SendFailed(400), SendFailed(403), SendFailed(500), SendFailed(None)])
async def test_what_may_have_arrived_or_never_will_is_not_sent_again(failure: SendFailed) -> None:
    wire, waits = Wire(), Waits()
    wire.failures.append(("message", failure))
    with pytest.raises(SendFailed):
        await Outbox(wire, sleep=waits).deliver(INBOUND, notice("x"))
    assert waits.taken == []


async def test_what_was_surely_not_sent_is_sent_again() -> None:
    wire, waits = Wire(), Waits()
    wire.failures.append(("message", SendFailed(None, unsent=True)))
    assert await Outbox(wire, sleep=waits).deliver(INBOUND, notice("x")) == "out-1"


async def test_a_message_that_teams_would_refuse_goes_out_as_its_text() -> None:
    wire = Wire()
    refused = {**notice("the answer"), "entities": [{"type": "https://schema.org/Message"}] * 2}
    await Outbox(wire).deliver(INBOUND, refused)
    assert wire.sent[0]["text"] == "the answer"
    assert "entities" not in wire.sent[0]


async def test_stages_become_informative_updates_in_order() -> None:
    wire = Wire()
    async with progress(Outbox(wire), INBOUND, every_s=0.01) as shown:
        await wire.until_sent(1)
        for n, label in enumerate(("Searching", "Checking each number"), start=2):
            await shown.stage(Stage(label, label))
            await wire.until_sent(n)
    assert await finish(Outbox(wire), INBOUND, shown, notice("done")) == "out-1"
    assert [s["text"] for s in wire.sent] == ["Looking into it", "Searching", "Checking each number", "done"]
    infos = [s["entities"][0] for s in wire.sent]
    assert [i.get("streamSequence") for i in infos] == [1, 2, 3, None]
    assert [i.get("streamId") for i in infos] == [None, "out-1", "out-1", "out-1"]
    assert [check_activity(s) for s in wire.sent] == [[]] * 4


async def test_stop_pressed_means_nothing_is_sent() -> None:
    wire = Wire()
    cancelled = SendFailed(403, code="ContentStreamNotAllowed", detail="Content stream was canceled by user")
    wire.failures.append(("message", cancelled))
    async with progress(Outbox(wire), INBOUND) as shown:
        await wire.until_sent(1)
    assert await finish(Outbox(wire), INBOUND, shown, notice("done")) is None
    assert [s["type"] for s in wire.sent] == ["typing"]


async def test_stop_pressed_during_an_update_means_nothing_is_sent() -> None:
    wire = Wire()
    async with progress(Outbox(wire), INBOUND, every_s=0.01) as shown:
        await wire.until_sent(1)
        wire.failures.append(("typing", SendFailed(403, detail="Content stream was canceled by user")))
        await shown.stage(Stage("Searching", "Searching"))
        await wire.until_failed()
    assert await finish(Outbox(wire), INBOUND, shown, notice("done")) is None


async def test_a_stage_that_lasts_is_told_again_and_stop_is_heard() -> None:
    wire, pressed = Wire(), asyncio.Event()
    async with progress(Outbox(wire), INBOUND, every_s=0.01, again_s=0.01, on_stop=pressed.set) as shown:
        await wire.until_sent(3)
        wire.failures.append(("typing", SendFailed(403, detail="Content stream was canceled by user")))
        async with asyncio.timeout(60):
            await pressed.wait()
    assert shown.cancelled
    assert [s["text"] for s in wire.sent[:3]] == ["Looking into it"] * 3
    assert [s["entities"][0]["streamSequence"] for s in wire.sent[:3]] == [1, 2, 3]


async def test_after_two_minutes_the_answer_takes_the_place_of_the_stream() -> None:
    wire = Wire()
    over = SendFailed(403, code="ContentStreamNotAllowed", detail="finished due to exceeded streaming time")
    wire.failures.append(("message", over))
    async with progress(Outbox(wire), INBOUND) as shown:
        await wire.until_sent(1)
    assert await finish(Outbox(wire), INBOUND, shown, notice("done")) == "out-1"
    assert [(u["id"], u["text"]) for u in wire.updated] == [("out-1", "done")]


async def test_if_that_fails_the_answer_is_a_message_of_its_own() -> None:
    wire = Wire()
    wire.failures.extend([("message", SendFailed(403)), ("update", SendFailed(405))])
    async with progress(Outbox(wire), INBOUND) as shown:
        await wire.until_sent(1)
    assert await finish(Outbox(wire), INBOUND, shown, notice("done")) == "out-2"
    assert "entities" not in wire.sent[-1]


async def test_where_streaming_is_refused_the_answer_is_a_plain_message() -> None:
    wire = Wire()
    wire.failures.append(("typing", SendFailed(403, detail="Content stream is not allowed")))
    async with progress(Outbox(wire), INBOUND) as shown:
        await wire.until_failed()
    assert await finish(Outbox(wire), INBOUND, shown, notice("done")) == "out-1"
    assert "entities" not in wire.sent[0]


async def test_a_line_keeps_its_order_and_lines_run_side_by_side() -> None:
    worker = Worker()
    ran: list[str] = []
    both = asyncio.Barrier(2)

    async def meet() -> None:
        async with asyncio.timeout(60):
            await both.wait()

    def note(name: str) -> Any:
        async def job() -> None:
            await asyncio.sleep(0)
            ran.append(name)

        return job

    worker.submit("a", meet)
    worker.submit("b", meet)
    for n in range(5):
        worker.submit("a", note(f"a{n}"))
    await worker.drain(20)
    assert ran == [f"a{n}" for n in range(5)]
    assert worker.pending == 0


async def test_no_more_jobs_run_at_once_than_allowed() -> None:
    worker = Worker(concurrency=3)
    running = most = 0

    async def job() -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _ in range(5):
            await asyncio.sleep(0)
        running -= 1

    for n in range(20):
        worker.submit(str(n), job)
    await worker.drain(20)
    assert most == 3


async def test_a_full_queue_and_a_closed_one_take_nothing() -> None:
    worker = Worker(limit=2)
    gate = asyncio.Event()

    async def wait() -> None:
        await gate.wait()

    worker.submit("a", wait)
    worker.submit("a", wait)
    with pytest.raises(Busy):
        worker.submit("b", wait)
    gate.set()
    await worker.drain(20)
    with pytest.raises(Busy):
        worker.submit("a", wait)


async def test_a_job_that_raises_does_not_stop_its_line(caplog: pytest.LogCaptureFixture) -> None:
    worker = Worker()
    ran: list[int] = []

    async def fail() -> None:
        raise ValueError("words of a customer")

    async def note() -> None:
        ran.append(1)

    worker.submit("a", fail)
    worker.submit("a", note)
    await worker.drain(20)
    assert ran == [1]
    assert "words of a customer" not in caplog.text


async def test_what_does_not_end_in_time_is_cancelled() -> None:
    worker = Worker()
    cancelled = asyncio.Event()

    async def forever() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    worker.submit("a", forever)
    worker.submit("a", forever)
    await worker.drain(0.01)
    assert cancelled.is_set()
    assert worker.pending == 0
