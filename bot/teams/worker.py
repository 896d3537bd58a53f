"""Work that goes on after the request was answered: bounded, in order within a conversation, drained at the end."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import Context, copy_context
from functools import partial
from typing import Any

log = logging.getLogger(__name__)

Job = Callable[[], Coroutine[Any, Any, None]]


class Busy(Exception):
    """The queue is full, or the server is going down."""


async def _in_context(context: Context, job: Job) -> None:
    """Run a job in the context that it was submitted in: its trace and its log lines are those of its own request."""
    await asyncio.create_task(job(), context=context)


class Worker:
    """Runs jobs in the background: one at a time per line, at most `concurrency` in all, at most `limit` waiting.

    A turn that waits for its channel or its model keeps a place too, so there are as many places as the transport has threads.
    """

    def __init__(self, *, limit: int = 1000, concurrency: int = 64) -> None:
        self._limit = limit
        self._slots = asyncio.Semaphore(concurrency)
        self._lines: dict[str, deque[Job]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._pending = 0
        self._open = True

    @property
    def pending(self) -> int:
        """Jobs that have not ended."""
        return self._pending

    @property
    def room(self) -> int:
        """Jobs that would be taken."""
        return max(0, self._limit - self._pending) if self._open else 0

    def check(self) -> None:
        """Raise Busy if another job would not be taken."""
        if not self._open or self._pending >= self._limit:
            raise Busy

    def submit(self, line: str, job: Job) -> None:
        """Take a job; jobs of one line run in the order of submission. Raises Busy."""
        self.check()
        self._pending += 1
        started = partial(_in_context, copy_context(), job)
        if line in self._lines:
            self._lines[line].append(started)
            return
        self._lines[line] = deque([started])
        task = asyncio.create_task(self._work(line))
        self._tasks.add(task)  # the loop itself keeps only a weak reference
        task.add_done_callback(self._tasks.discard)

    def again(self, line: str, job: Job) -> None:
        """Take a job of a line from within it once more, behind the others of that line; nothing once the server goes down."""
        if self._open:
            self._pending += 1
            self._lines[line].append(partial(_in_context, copy_context(), job))

    async def drain(self, seconds: float) -> None:
        """Take nothing new, wait for what is there, and cancel what has not ended in time."""
        self._open = False
        if self._tasks:
            _, late = await asyncio.wait(set(self._tasks), timeout=seconds)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def _work(self, line: str) -> None:
        jobs = self._lines[line]
        try:
            while jobs:
                job = jobs.popleft()
                try:
                    async with self._slots:
                        await job()
                except Exception as error:  # noqa: BLE001  # one job must not stop its line
                    log.error("a job ended with %s", type(error).__name__)  # noqa: TRY400  # no customer text
                finally:
                    self._pending -= 1
        finally:
            self._pending -= len(jobs)
            del self._lines[line]
