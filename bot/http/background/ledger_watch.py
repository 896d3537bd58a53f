"""The watch over the ledger while a server runs: a break shows in the log, in `/readyz` and in `/metrics` within a minute.

Of several processes over one ledger one looks, and the others say what it found.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime

from aiohttp import web

from bot.http.app_keys import METRICS, SHARED, SYSTEM
from bot.http.errors import LOG
from bot.http.metrics import Metrics
from bot.system import System
from bot.workers.lease import Lease, LeaseStanding
from grounding.errors import AttestError, StoreError
from rai.ledger.watch import LOOK_S, Watched

WATCH_S = 15.0
"""Seconds between two looks. Each verifies what is new and half a second of the rest."""
NAME = "ledger-watch"
LEASE_S = 3 * WATCH_S
"""Seconds after which another looks in the place of a process that died."""

Finding = tuple[Watched, str]
"""What a look came to, and when that was (UTC, for people)."""


class LedgerWatcher:
    """Looks at the ledger of `system` again and again. `found`: what the last look came to, None before the first; `at`: when that was (UTC, for people). `unread`: why
    it could not look now, which breaks nothing and is no other process's; empty if it could.
    """

    def __init__(self, system: System, metrics: Metrics) -> None:
        self._system = system
        self._metrics = metrics
        self._looking = 0
        self._others = False
        self.found: Watched | None = None
        self.at = ""
        self.unread = ""

    @property
    def why(self) -> str:
        """What the last look found wrong, or why there was none; empty while neither is known."""
        return self.found.why if self.found and self.found.why else self.unread

    async def look(self, budget_s: float = LOOK_S, before: Finding | None = None) -> None:
        """One look. What it finds is logged once, for as long as it stays the same. `before`: what was found last, by whatever process: a break is told until a whole
        round of this one has not found it.
        """
        self._looking += 1
        try:
            found = await self._system.look(budget_s)
        except AttestError as error:
            self._note(before, str(error))
            return
        finally:
            self._looking -= 1
            self._others = False
        stays = before is not None and before[0].why and found.round_s is None
        self._note(before if stays else (found, datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")))

    async def glance(self) -> None:
        """Verify what is new and nothing else, for a page that is opened; one that comes while a look goes on has what the look before it found, and one of a process that
        does not look what the one that does found last.
        """
        if self.found is None or not (self._looking or self._others):
            await self.look(0.0)

    async def turn(self, lease: Lease) -> None:
        """One look, or what was found by the process whose turn it is. Where nobody can say whose it is, it is this one's."""
        try:
            held = await lease.hold()
        except StoreError:
            held = LeaseStanding(mine=True, said=None)
        before = None if held.said is None else _told(held.said)
        if not held.mine:
            self._others = before is not None
            self._note(before)
            return
        await self.look(before=before)
        if self.found is not None:
            with suppress(StoreError):  # the look said so
                await lease.say(json.dumps({**asdict(self.found), "at": self.at}))

    async def run(self, lease: Lease) -> None:
        """Looks when it is this process's turn, until it is cancelled. A look that fails in a way that nobody expected does not end the watch."""
        while True:
            try:
                await self.turn(lease)
            except Exception:  # noqa: BLE001 - the watch goes on
                LOG.exception("a look at the ledger failed")
            await asyncio.sleep(WATCH_S)

    def _note(self, finding: Finding | None, unread: str = "") -> None:
        """What was found, if anything was, stays until something else is; `unread` until a look."""
        if unread and unread != self.unread:
            LOG.warning("the ledger could not be looked at: %s", unread)
        self.unread = unread
        if finding is None:
            return
        found, at = finding
        if found.why and (self.found is None or found.why != self.found.why):
            LOG.error("the ledger does not hold: %s; see `attest ledger verify`", found.why)
        self.found, self.at = found, at
        self._metrics.ledger_sound.set(found.ok)
        self._metrics.ledger_verified.set(found.entries)


def _told(said: str) -> Finding:
    """What a process found, and when."""
    found = json.loads(said)
    at = found.pop("at")
    return Watched(**found), at


WATCHER = web.AppKey("attest_ledger_watcher", LedgerWatcher)


def add_ledger_watch(app: web.Application) -> None:
    """The watch, from the start of the application to its end."""
    app[WATCHER] = LedgerWatcher(app[SYSTEM], app[METRICS])
    app.cleanup_ctx.append(_watching)


async def _watching(app: web.Application) -> AsyncIterator[None]:
    lease = Lease(app[SHARED], NAME, LEASE_S)
    task = asyncio.create_task(app[WATCHER].run(lease), name="ledger-watch")
    yield
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    with suppress(StoreError):  # it ends by itself
        await lease.release()
