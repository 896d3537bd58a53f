"""A job of the queue runs in the context of the request that brought it, whatever job opened its line."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar

from bot.teams.worker import Worker

WHO: ContextVar[str] = ContextVar("who", default="nobody")


async def test_each_job_has_the_context_it_was_submitted_in() -> None:
    """Else the log lines and the trace of a later message would be those of the first one of its conversation."""
    worker, seen, go = Worker(), [], asyncio.Event()

    async def job() -> None:
        await go.wait()
        seen.append(WHO.get())
        WHO.set("left over")

    for name in ("first", "second", "third"):
        WHO.set(name)
        worker.submit("one line", job)
    WHO.set("nobody")
    go.set()
    await worker.drain(5)
    assert seen == ["first", "second", "third"]


async def test_a_job_that_has_to_wait_comes_again_behind_its_line_in_its_context() -> None:
    worker, seen, ended = Worker(), [], asyncio.Event()

    async def waits() -> None:
        seen.append(f"{WHO.get()} looks")
        if len(seen) < 4:
            worker.again("line", waits)
        else:
            ended.set()

    async def other() -> None:
        seen.append(WHO.get())

    for name, job in (("first", waits), ("second", other)):
        WHO.set(name)
        worker.submit("line", job)
    WHO.set("nobody")
    await worker.drain(5)
    assert seen == ["first looks", "second"]  # a server that goes down takes nothing again
    assert worker.pending == 0
    worker = Worker()
    seen.clear()
    for name, job in (("first", waits), ("second", other)):
        WHO.set(name)
        worker.submit("line", job)
    await ended.wait()
    assert seen == ["first looks", "second", "first looks", "first looks"]


async def test_a_job_that_is_late_at_the_end_is_cancelled() -> None:
    worker, ended = Worker(), []

    async def job() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    worker.submit("line", job)
    await asyncio.sleep(0)
    await worker.drain(0.05)
    assert ended == [True]
    assert worker.pending == 0
