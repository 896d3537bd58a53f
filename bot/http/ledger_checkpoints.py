"""The schedule on which a server publishes checkpoints of its ledger, and how that stands: in the log, in `/readyz` and in `/metrics`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from aiohttp import web

from bot.http.app_keys import METRICS, SYSTEM
from bot.http.errors import LOG
from bot.http.metrics import Metrics
from grounding.errors import AttestError
from rai.ledger.publish import Publisher

LOOK_S = 60.0
"""Seconds after which the ledger is compared with what is published, and one that failed is tried again, if the schedule is slower."""
STOP_S = 10.0
"""Seconds that the last one may take when the server stops."""


class CheckpointSchedule:
    """Publishes with `publisher` every `every_s` seconds, where something was added; `why` says what keeps it from that, empty while nothing does."""

    def __init__(self, publisher: Publisher, metrics: Metrics, *, every_s: float) -> None:
        self._publisher = publisher
        self._metrics = metrics
        self._every_s = every_s
        self.why = ""

    async def publish(self, *, younger_than_s: float = 0.0) -> None:
        """One checkpoint, if it is due. What keeps it from being published is logged once, for as long as it stays the same."""
        try:
            await self._publisher.publish(younger_than_s=younger_than_s)
        except AttestError as error:
            if str(error) != self.why:
                LOG.error("no checkpoint of the ledger was published: %s", error)
            self.why = str(error)
        else:
            if self.why:
                LOG.info("checkpoints of the ledger are published again")
            self.why = ""
        self._count()

    async def run(self) -> None:
        """Publishes until it is cancelled. A failure that nobody expected does not end the schedule."""
        while True:
            try:
                # Of several workers one is enough: who comes second finds what the first has published. What is there is compared each time.
                await self.publish(younger_than_s=max(0.5 * self._every_s, self._every_s - LOOK_S))
            except Exception:  # noqa: BLE001 - the schedule goes on
                LOG.exception("a checkpoint of the ledger failed")
                self.why = "failed in a way that nobody expected; the log has it"
                self._metrics.checkpoint_ok.set(0)
            await asyncio.sleep(min(LOOK_S, self._every_s))

    async def stop(self) -> None:
        """The last one, of what was added since; it keeps nobody waiting for long."""
        try:
            async with asyncio.timeout(STOP_S):
                await self.publish()
        except TimeoutError:
            LOG.error("no checkpoint of the ledger was published at the end: no answer within %g s", STOP_S)

    def _count(self) -> None:
        self._metrics.checkpoint_ok.set(not self.why)
        if last := self._publisher.last:
            self._metrics.checkpoint_entries.set(last.size)
            self._metrics.checkpoint_at.set(last.at.timestamp())


SCHEDULE: web.AppKey[CheckpointSchedule | None] = web.AppKey("attest_checkpoint_schedule")


def add_checkpoints(app: web.Application) -> None:
    """The schedule, from the start of the application to its end, if there is a place to publish to."""
    system = app[SYSTEM]
    app[SCHEDULE] = None
    if system.checkpoints is not None:
        every_s = system.settings.checkpoints.every_s
        app[SCHEDULE] = CheckpointSchedule(system.checkpoints, app[METRICS], every_s=every_s)
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
