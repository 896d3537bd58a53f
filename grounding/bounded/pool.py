"""Pool of child processes for work on text from outside, under a time bound that holds whatever the text does.

A pattern that backtracks holds the interpreter: no thread of its process goes on, and no timer of it fires. Here such work costs one child,
which is killed and replaced, and this process answers others meanwhile. Functions of modules are sent by name, what they take and give by
pickle: both ends are our own program, and what runs there parses text and nothing else.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import os
import pickle
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import cache
from typing import ParamSpec, Protocol, TypeVar, cast

from grounding.bounded.child import Child, Ended
from grounding.bounded.limits import Limits
from grounding.bounded.worker import HEAD, WorkerReply
from grounding.errors import WorkFailed, WorkOverran, kind_and_place

P = ParamSpec("P")
R = TypeVar("R")

LIMITS = Limits(seconds=6.0, seconds_per_byte=5e-5, patience=2.0, memory=4_000_000_000, first=9.0)
"""What one call may take: six seconds of processor time, and 50 more for a megabyte; a megabyte in the screen takes three. A new child needs two for its tables, and on a
machine that has more to do than it has cores several times that: no text is to blame for it.
"""
MOST = 4
WAITS_S = 0.25
"""Seconds that a call waits for a child at work before another is started: one costs a second and 120 MB, most calls milliseconds."""
_MAX_REPLY = 256 * 2**20
_Job = tuple[Future[object], bytes, str]


class Run(Protocol):
    """Runs a plain function off the event loop: `asyncio.to_thread`, where the text is one's own, or `Pool.run`."""

    async def __call__(self, function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R: ...


class Pool:
    """Runs functions in child processes, started when they are first needed, as many as there is work for and cores, `MOST` at most.

    Safe for several threads and event loops. The child used last is used first, so that its caches serve the turn that goes on.
    """

    def __init__(self, limits: Limits = LIMITS, *, size: int | None = None) -> None:
        self._limits = limits
        self._size = size or max(2, min(MOST, os.cpu_count() or 1))
        self._lock = threading.Lock()
        self._idle: list[Child] = []
        self._busy: set[Child] = set()
        self._threads = 0
        self._waiting = 0
        self._hiring: threading.Timer | None = None
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()

    async def run(self, function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run `function`, one of a module, with these arguments in a child and return its result.

        Raises what the function raises if that is an error of ours (`AttestError`), WorkFailed for any other or when its process dies,
        WorkOverran when it takes too long, ServiceUnavailable if no process can be started.
        """
        return cast(R, await asyncio.wrap_future(self.begin(function, *args, **kwargs)))

    def begin(self, function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[object]:
        """Start what `run` does and return a future of its result."""
        job: Future[object] = Future()
        request = pickle.dumps((function, args, kwargs), pickle.HIGHEST_PROTOCOL)
        self._jobs.put((job, request, f"{function.__module__}.{function.__qualname__}"))
        with self._lock:
            if self._threads == 0:
                self._hire()
            elif self._hiring is None and self._threads < self._size and self._waiting < self._jobs.qsize():
                self._hiring = threading.Timer(WAITS_S, self._hire_if_wanted)
                self._hiring.daemon = True
                self._hiring.start()
        return job

    def close(self) -> None:
        """Kill all children, those at work too; what they were doing raises WorkFailed. Later work starts new ones."""
        with self._lock:
            idle, self._idle = self._idle, []
            for child in self._busy:
                child.kill()  # whoever looks after it sees to the rest
            for _ in range(self._threads):
                self._jobs.put(None)
            self._threads = 0
        for child in idle:
            child.end()

    def _hire(self) -> None:
        """Start one more thread to look after a child; as a daemon it holds nobody up at the end. The lock is held."""
        self._threads += 1
        threading.Thread(target=self._look_after, name="bounded", daemon=True).start()

    def _hire_if_wanted(self) -> None:
        with self._lock:
            self._hiring = None
            if self._waiting < self._jobs.qsize() and 0 < self._threads < self._size:
                self._hire()

    def _look_after(self) -> None:
        while True:
            with self._lock:
                self._waiting += 1
            job = self._jobs.get()
            with self._lock:
                self._waiting -= 1
            if job is None:
                return
            future, request, name = job
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(self._served(request, name))
            except BaseException as error:  # noqa: BLE001 - it goes to whoever waits
                future.set_exception(error)

    def _served(self, request: bytes, name: str) -> object:
        fresh, child = self._taken()
        try:
            worn, reply = self._asked(child, request, fresh=fresh)
        except Ended as ended:
            self._drop(child)
            if ended.overran:
                bound = self._limits.work(len(request), fresh=fresh)
                raise WorkOverran(f"{name} took longer than {bound:.0f} s and was ended") from None
            if not fresh and not child.killed:  # what it did before may be to blame
                return self._served(request, name)
            raise WorkFailed(f"{name}: its process ended by itself") from None
        except Exception as error:  # noqa: BLE001 - whatever a class does when it is read back
            self._drop(child)
            raise WorkFailed(f"{name}: its reply cannot be read: {kind_and_place(error)}") from None
        if worn:
            self._drop(child)
        else:
            self._give_back(child)
        return _result(reply, name)

    def _asked(self, child: Child, request: bytes, *, fresh: bool) -> tuple[bool, WorkerReply]:
        body = child.ask((HEAD.pack(len(request)), request), self._limits.deadline(len(request), fresh=fresh))
        return cast(tuple[bool, WorkerReply], pickle.loads(body))  # noqa: S301 - our own child wrote it

    def _taken(self) -> tuple[bool, Child]:
        """A child to work in, and whether it is new."""
        with self._lock:
            child = self._idle.pop() if self._idle else None
            if child is not None:
                self._busy.add(child)
                return False, child
        limits = self._limits
        child = Child(
            "text worker",
            "grounding.bounded.worker",
            limits.memory,
            limits.seconds,
            limits.seconds_per_byte,
            limits.first,
            most=_MAX_REPLY,
        )
        with self._lock:
            self._busy.add(child)
        return True, child

    def _give_back(self, child: Child) -> None:
        with self._lock:
            self._busy.discard(child)
            self._idle.append(child)

    def _drop(self, child: Child) -> None:
        with self._lock:
            self._busy.discard(child)
        child.end()


def _result(reply: WorkerReply, name: str) -> object:
    for logger, level, message in reply.logged:
        logging.getLogger(logger).log(level, "%s", message)
    if reply.error is not None:
        raise reply.error
    if reply.place is not None:
        raise WorkFailed(f"{name} failed: {reply.place}")
    return reply.value


@cache
def shared_pool() -> Pool:
    """The one pool of this process: whatever systems it holds share its children, as threads share an interpreter."""
    pool = Pool()
    atexit.register(pool.close)
    return pool
