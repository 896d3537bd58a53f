"""Retention while a server runs: once a day, by one of its workers, what has been kept for long enough goes."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

from aiohttp import web

from bot.http.app_keys import SYSTEM
from bot.places import places_of
from bot.privacy.retention import Retained
from bot.state import State
from bot.system import System
from grounding.errors import AttestError

LOG = logging.getLogger("attest.http")
NAME = "retention"
EVERY_S = 86400.0
"""Seconds between two runs, of all workers and restarts together."""
ASK_S = 900.0
"""Seconds after which a worker asks again whether a run is due. One that failed is due again at once."""


class RetentionSweeper:
    """Applies the retention of `system` when it is due. Several workers over one `state` do it once. `clock`: in the place of the state's, in seconds."""

    def __init__(self, system: System, state: State, *, clock: Callable[[], float] | None = None) -> None:
        self._system = system
        self._state = state
        self._clock = clock

    async def sweep(self) -> bool:
        """One run if it is due; True if it was. What was done is logged, with numbers alone."""
        if not await self._state.claim(NAME, EVERY_S, self._clock and self._clock()):
            return False
        run = _Run(self._system)
        try:
            done = await asyncio.to_thread(run.work)
        except BaseException:
            run.stop()
            with suppress(
                AttestError
            ):  # nothing may take the place of a cancellation, or the server would not end; the run is due again in a day at the latest
                await self._state.unclaim(NAME)
            raise
        if done.entries or done.kept.rows or done.held:
            LOG.info(
                "retention: %d entries erased, %d rows of state.db deleted, %d entries are held",
                len(done.entries),
                done.kept.rows,
                len(done.held),
            )
        return True

    async def run(self) -> None:
        """Sweeps until it is cancelled. A run that fails does not end it."""
        while True:
            try:
                await self.sweep()
            except AttestError as error:
                LOG.error("retention was not applied in full: %s", error)  # noqa: TRY400 - one line is enough
            except Exception:
                LOG.exception("retention was not applied")
            await asyncio.sleep(ASK_S)


class _Run:
    """One run in a thread with a loop of its own: reading a large ledger must not keep the turns of the server waiting. It may take an hour, and a server that ends
    does not wait for it: what was not done is due again.
    """

    def __init__(self, system: System) -> None:
        self._system = system
        self._lock = threading.Lock()
        self._ended = False
        self._running: tuple[asyncio.AbstractEventLoop, asyncio.Task[Retained]] | None = None

    def work(self) -> Retained:
        """What the run came to. Raises CancelledError where it was stopped."""
        return asyncio.run(self._retained())

    def stop(self) -> None:
        """End it where it next waits for something; nothing if it has ended, or before it began."""
        with self._lock:
            running, self._ended = self._running, True
        if running is not None:
            loop, task = running
            with suppress(RuntimeError):  # its loop has ended
                loop.call_soon_threadsafe(task.cancel)

    async def _retained(self) -> Retained:
        task = asyncio.ensure_future(self._system.retain())
        with self._lock:
            self._running = asyncio.get_running_loop(), task
            if self._ended:
                task.cancel()
        return await task


def add_retention(app: web.Application) -> None:
    """The sweeps, from the start of the application to its end, over its state."""
    app.cleanup_ctx.append(_sweeping)


async def _sweeping(app: web.Application) -> AsyncIterator[None]:
    state = State(places_of(app[SYSTEM].settings).state)
    await state.open()
    task = asyncio.create_task(RetentionSweeper(app[SYSTEM], state).run(), name="retention")
    yield
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    await state.close()
