"""The watch over the ledger while a server runs: a break shows in the log, in `/readyz` and in `/metrics` within a minute."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import UTC, datetime

from aiohttp import web

from bot.http.app_keys import METRICS, SYSTEM
from bot.http.errors import LOG
from bot.http.metrics import Metrics
from bot.system import System
from grounding.errors import AttestError
from rai.ledger.watch import LOOK_S, Watched

WATCH_S = 15.0
"""Seconds between two looks. Each verifies what is new and half a second of the rest."""


class LedgerWatcher:
    """Looks at the ledger of `system` again and again. `found`: what the last look came to, None before the first; `at`: when that was (UTC, for people)."""

    def __init__(self, system: System, metrics: Metrics) -> None:
        self._system = system
        self._metrics = metrics
        self._looking = 0
        self.found: Watched | None = None
        self.at = ""

    @property
    def why(self) -> str:
        """What the last look found wrong, empty while nothing is known to be."""
        return self.found.why if self.found else ""

    async def look(self, budget_s: float = LOOK_S) -> None:
        """One look. What it finds is logged once, for as long as it stays the same."""
        self._looking += 1
        try:
            found = await self._system.look(budget_s)
        except AttestError as error:
            found = Watched(str(error))
        finally:
            self._looking -= 1
        if found.why and found.why != self.why:
            LOG.error("the ledger does not hold: %s; see `attest ledger verify`", found.why)
        self.found, self.at = found, datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        self._metrics.ledger_sound.set(found.ok)
        self._metrics.ledger_verified.set(found.entries)

    async def glance(self) -> None:
        """Verify what is new and nothing else, for a page that is opened; one that comes while a look goes on has what the look before it found."""
        if not self._looking or self.found is None:
            await self.look(0.0)

    async def run(self) -> None:
        """Looks until it is cancelled. A look that fails in a way that nobody expected does not end the watch."""
        while True:
            try:
                await self.look()
            except Exception:  # noqa: BLE001 - the watch goes on
                LOG.exception("a look at the ledger failed")
            await asyncio.sleep(WATCH_S)


WATCHER = web.AppKey("attest_ledger_watcher", LedgerWatcher)


def add_ledger_watch(app: web.Application) -> None:
    """The watch, from the start of the application to its end."""
    app[WATCHER] = LedgerWatcher(app[SYSTEM], app[METRICS])
    app.cleanup_ctx.append(_watching)


async def _watching(app: web.Application) -> AsyncIterator[None]:
    task = asyncio.create_task(app[WATCHER].run(), name="ledger-watch")
    yield
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
