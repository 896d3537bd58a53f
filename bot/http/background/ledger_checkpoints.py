"""The schedule on which a server publishes checkpoints of its ledger, and how that stands: in the log, in `/readyz` and in `/metrics`.

Of several processes over one ledger one publishes, and the others say what became of it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress

from aiohttp import web

from bot.http.app_keys import METRICS, SHARED, SYSTEM
from bot.http.errors import LOG
from bot.http.metrics import Metrics
from bot.workers.lease import Lease, LeaseStanding
from grounding.errors import AttestError, StoreError
from rai.ledger.checkpoints.publish import Publisher

LOOK_S = 60.0
"""Seconds after which the ledger is compared with what is published, and one that failed is tried again, if the schedule is slower."""
NAME = "checkpoints"
LEASE_S = 2.5 * LOOK_S
"""Seconds after which another publishes in the place of a process that died."""
STOP_S = 10.0
"""Seconds that the last one may take when the server stops."""


class CheckpointSchedule:
    """Publishes with `publisher` every `every_s` seconds, where something was added; `why` says what keeps it from that, empty while nothing does."""

    def __init__(self, publisher: Publisher, metrics: Metrics, lease: Lease, *, every_s: float) -> None:
        self._publisher = publisher
        self._metrics = metrics
        self._lease = lease
        self._every_s = every_s
        self._said = ("", 0, 0.0)
        self.why = ""

    async def publish(self, *, younger_than_s: float = 0.0) -> None:
        """One checkpoint, if it is due. What keeps it from being published is logged once, for as long as it stays the same."""
        try:
            await self._publisher.publish(younger_than_s=younger_than_s)
            why = ""
        except AttestError as error:
            why = str(error)
        last = self._publisher.last
        self._note(why, last.size if last else 0, last.at.timestamp() if last else 0.0)

    async def turn(self, *, younger_than_s: float = 0.0) -> None:
        """One checkpoint, if it is due and this process's to publish; else what became of it where it is another's. Where nobody can say whose it is, it is this one's:
        what one has published another finds there.
        """
        try:
            held = await self._lease.hold()
        except StoreError:
            held = LeaseStanding(mine=True, said=None)
        if held.mine:
            await self.publish(younger_than_s=younger_than_s)
            with suppress(StoreError):
                await self._lease.say(json.dumps(self._said))
        elif held.said is not None:
            self._note(*json.loads(held.said))

    async def run(self) -> None:
        """Publishes until it is cancelled. A failure that nobody expected does not end the schedule."""
        while True:
            try:
                # What is there is compared each time.
                await self.turn(younger_than_s=max(0.5 * self._every_s, self._every_s - LOOK_S))
            except Exception:  # noqa: BLE001 - the schedule goes on
                LOG.exception("a checkpoint of the ledger failed")
                self.why = "failed in a way that nobody expected; the log has it"
                self._metrics.checkpoint_ok.set(0)
            await asyncio.sleep(min(LOOK_S, self._every_s))

    async def stop(self) -> None:
        """The last one, of what was added since, unless another process goes on; it keeps nobody waiting for long."""
        try:
            async with asyncio.timeout(STOP_S):
                await self.turn()
                with suppress(StoreError):  # it ends by itself
                    await self._lease.release()
        except TimeoutError:
            LOG.error("no checkpoint of the ledger was published at the end: no answer within %g s", STOP_S)

    def _note(self, why: str, size: int, at: float) -> None:
        if why and why != self.why:
            LOG.error("no checkpoint of the ledger was published: %s", why)
        elif self.why and not why:
            LOG.info("checkpoints of the ledger are published again")
        self.why, self._said = why, (why, size, at)
        self._metrics.checkpoint_ok.set(not why)
        if at:
            self._metrics.checkpoint_entries.set(size)
            self._metrics.checkpoint_at.set(at)


SCHEDULE: web.AppKey[CheckpointSchedule | None] = web.AppKey("attest_checkpoint_schedule")


def add_checkpoints(app: web.Application) -> None:
    """The schedule, from the start of the application to its end, if there is a place to publish to."""
    system = app[SYSTEM]
    app[SCHEDULE] = None
    if system.checkpoints is not None:
        every_s = system.settings.checkpoints.every_s
        lease = Lease(app[SHARED], NAME, LEASE_S)
        app[SCHEDULE] = CheckpointSchedule(system.checkpoints, app[METRICS], lease, every_s=every_s)
        app.cleanup_ctx.append(_publishing)


async def _publishing(app: web.Application) -> AsyncIterator[None]:
    schedule = app[SCHEDULE]
    assert schedule is not None
    task = asyncio.create_task(schedule.run(), name="ledger-checkpoints")
    yield
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    await schedule.stop()
