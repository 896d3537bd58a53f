"""Retention while a server runs: once a day, by one of its workers, what has been kept for long enough goes."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

from aiohttp import web

from bot.http.app_keys import SYSTEM
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
    """Applies the retention of `system` when it is due. Several workers over one `state` do it once."""

    def __init__(self, system: System, state: State, *, clock: Callable[[], float] = time.time) -> None:
        self._system = system
        self._state = state
        self._clock = clock

    async def sweep(self) -> bool:
        """One run if it is due; True if it was. What was done is logged, with numbers alone."""
        if not await self._state.claim(NAME, self._clock(), EVERY_S):
            return False
        # In a thread with a loop of its own: reading a large ledger must not keep the turns of this one waiting.
        try:
            done = await asyncio.to_thread(lambda: asyncio.run(_retained(self._system)))
        except BaseException:
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


async def _retained(system: System) -> Retained:
    return await system.retain()


def add_retention(app: web.Application) -> None:
    """The sweeps, from the start of the application to its end, over the `state.db` of its home."""
    app.cleanup_ctx.append(_sweeping)


async def _sweeping(app: web.Application) -> AsyncIterator[None]:
    state = State(app[SYSTEM].settings.files.home / "state.db")
    await state.open()
    task = asyncio.create_task(RetentionSweeper(app[SYSTEM], state).run(), name="retention")
    yield
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    await state.close()
