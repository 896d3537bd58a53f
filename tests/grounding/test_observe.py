"""Watchers see what happens in their block, in tasks and threads started from it, and how it ended; nobody else does."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from grounding.errors import ContentFiltered, ServiceRejected, ServiceReplyInvalid, ServiceUnavailable
from grounding.observe import GoneWithout, Operation, RemoteCall, StageRun, observed, record_degraded, watched_by
from grounding.services.breaker import Breaker
from grounding.services.remote import Remote, Throttled
from tests.fakes.clock import at_once


class Seen:
    """A watcher that keeps what began and what ended."""

    def __init__(self) -> None:
        self.begun: list[Operation] = []
        self.ended: list[Operation] = []

    @contextmanager
    def __call__(self, operation: Operation) -> Iterator[None]:
        self.begun.append(operation)
        try:
            yield
        finally:
            self.ended.append(operation)

    @property
    def calls(self) -> list[RemoteCall]:
        return [operation for operation in self.ended if isinstance(operation, RemoteCall)]


def test_nobody_watches_outside_of_the_block() -> None:
    seen = Seen()
    with watched_by(seen), observed(StageRun("query")):
        assert seen.ended == []
    with observed(StageRun("grade")):
        pass
    assert seen.begun == seen.ended == [StageRun("query")]


def test_a_watcher_is_told_once_however_often_it_is_set() -> None:
    seen = Seen()
    with watched_by(seen), watched_by(seen):
        record_degraded("web")
    assert seen.ended == [GoneWithout("web")]


async def test_tasks_and_threads_are_watched_too() -> None:
    seen = Seen()

    async def in_task() -> None:
        with observed(StageRun("compose")):
            await asyncio.to_thread(record_degraded, "model")

    with watched_by(seen):
        task = asyncio.create_task(in_task())
    await task
    assert seen.begun == [StageRun("compose"), GoneWithout("model")]


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (ServiceUnavailable("openai", "failed (status 500)"), "ServiceUnavailable", "openai: failed (status 500)"),
        (ValueError("Maria Lopez, 4111 1111 1111 1111"), "ValueError", ""),
        (asyncio.CancelledError("Maria"), "CancelledError", ""),
    ],
)
def test_only_our_own_words_on_a_service_are_told(error: BaseException, kind: str, message: str) -> None:
    """A foreign exception may hold anything: its type is told, and no more."""
    seen = Seen()
    with watched_by(seen), pytest.raises(type(error)), observed(StageRun("check")):
        raise error
    (operation,) = seen.ended
    assert operation.fault is not None
    assert (operation.fault.type, operation.fault.message) == (kind, message)


OUTCOMES = [
    (ServiceUnavailable("s", "x"), "unavailable", 3),
    (Throttled("s", "x"), "throttled", 3),
    (ServiceRejected("s", "x"), "rejected", 1),
    (ServiceReplyInvalid("s", "x"), "invalid", 2),
    (ContentFiltered("x"), "filtered", 1),
    (RuntimeError("x"), "failed", 1),
]


@pytest.mark.parametrize(("error", "outcome", "attempts"), OUTCOMES, ids=lambda v: type(v).__name__)
async def test_a_remote_call_tells_its_outcome_and_attempts(error: Exception, outcome: str, attempts: int) -> None:
    seen, remote = Seen(), Remote("s", retries=2, sleep=at_once)

    async def failing() -> None:
        raise error

    with watched_by(seen), pytest.raises(type(error)):
        await remote.call(failing)
    (call,) = seen.calls
    assert (call.service, call.outcome, call.attempts) == ("s", outcome, attempts)


async def test_a_call_that_succeeds_late_is_ok_and_tells_its_attempts() -> None:
    seen, remote, left = Seen(), Remote("s", sleep=at_once), [ServiceUnavailable("s", "x")]

    async def once_failing() -> str:
        if left:
            raise left.pop()
        return "there"

    with watched_by(seen):
        assert await remote.call(once_failing) == "there"
    assert [(c.outcome, c.attempts, c.fault) for c in seen.calls] == [("ok", 2, None)]


async def test_an_open_breaker_is_told_apart_from_a_service_that_fails() -> None:
    seen = Seen()
    remote = Remote("s", retries=0, breaker=Breaker(failures=1))

    async def failing() -> None:
        raise ServiceUnavailable("s", "x")

    with watched_by(seen):
        for _ in range(2):
            with pytest.raises(ServiceUnavailable):
                await remote.call(failing)
    assert [(c.outcome, c.attempts, c.breaker.state) for c in seen.calls] == [
        ("unavailable", 1, "open"),
        ("left_alone", 0, "open"),
    ]


async def test_deadline_and_cancellation_are_told_apart() -> None:
    seen, remote = Seen(), Remote("s", deadline_s=0.02)
    never = asyncio.Event()

    async def silent() -> None:
        await never.wait()

    with watched_by(seen):
        with pytest.raises(Exception, match="no answer within"):
            await remote.call(silent)
        task = asyncio.create_task(Remote("s").call(silent))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert [c.outcome for c in seen.calls] == ["timeout", "cancelled"]
