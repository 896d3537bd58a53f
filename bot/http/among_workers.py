"""A process among those that serve over one state: it opens what they share, says that it is there, and compares its configuration with theirs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from aiohttp import web

from bot.events.digests import Digests
from bot.http.app_keys import LIMITER, SHARED, SYSTEM
from bot.http.errors import LOG
from bot.http.rate_limit import Limits, RateLimiter, SharedRateLimiter
from bot.places import places_of
from bot.settings.settings import Settings
from bot.state import State
from bot.workers.configuration import configuration_of
from bot.workers.live import BEAT_S, LiveWorker, SignsOfLife, differences
from grounding.errors import AttestError, StoreError


class Peers:
    """The processes that serve beside this one, called `name`. `why`: in what their configuration is another, empty while it is the same."""

    def __init__(self, settings: Settings, state: State, name: str) -> None:
        self._settings = settings
        self._name = name
        self._signs = SignsOfLife(state)
        self.why = ""

    async def beat(self) -> None:
        """Give a sign of life, and compare. What differs is logged once, for as long as it stays the same. Raises StoreError."""
        configuration = await asyncio.to_thread(configuration_of, self._settings)
        own = LiveWorker(self._name, self._settings.database.pool, configuration)
        others = await self._signs.give(own)
        why = "; ".join(differences([own, *others]))
        if why and why != self.why:
            LOG.error("servers of this database do not have one configuration: %s", why)
        self.why = why

    async def end(self) -> None:
        """This process no longer counts; where that cannot be said, some seconds later."""
        with suppress(StoreError):
            await self._signs.end()


PEERS: web.AppKey[Peers | None] = web.AppKey("attest_peers")


def add_among_workers(app: web.Application, name: str, *, several: bool) -> None:
    """What processes share over the state of the settings, from the start of the application to its end. `name`: that of this one; `several`: others serve over the
    same state, so that what callers ask is counted there.
    """
    settings = app[SYSTEM].settings
    app[SHARED] = State(places_of(settings).state)
    allowed = settings.serving.rate_per_minute
    together = SharedRateLimiter(allowed, app[SHARED], Digests(settings.files.ledger_key)) if several else None
    app[LIMITER] = Limits(RateLimiter(allowed), together)
    app[PEERS] = None if settings.database.url is None else Peers(settings, app[SHARED], name)
    app.cleanup_ctx.append(_among)


async def _among(app: web.Application) -> AsyncIterator[None]:
    await app[SHARED].open()
    stopping = asyncio.Event()
    task = asyncio.create_task(_beating(app[PEERS], app[LIMITER], stopping), name="signs-of-life")
    yield
    stopping.set()
    with suppress(asyncio.CancelledError):
        await task  # to its end: a sign that is under way must not come behind the last
    if (peers := app[PEERS]) is not None:
        await peers.end()
    await app[SHARED].close()


async def _beating(peers: Peers | None, limits: Limits, stopping: asyncio.Event) -> None:
    """A sign of life again and again. A failure does not end it."""
    while not stopping.is_set():
        try:
            if peers is not None:
                await peers.beat()
            if limits.shared is not None:
                await limits.shared.tidy()
        except AttestError as error:
            LOG.warning("this server could not say that it is there: %s", error)
        except Exception:  # noqa: BLE001 - the next may be better
            LOG.exception("a sign of life failed")
        with suppress(TimeoutError):
            async with asyncio.timeout(BEAT_S):
                await stopping.wait()
