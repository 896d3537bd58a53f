"""The search indexes of this machine while a server runs over a store that other machines write to: they follow it within seconds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress

from aiohttp import web

from bot.http.app_keys import SYSTEM
from bot.http.errors import LOG
from grounding.errors import AttestError

FOLLOW_S = 3.0
"""Seconds between two looks at the number that says whether the store changed."""


class IndexFollower:
    """Has the indexes follow the store again and again. `why`: what keeps them from it, empty while nothing does."""

    def __init__(self, keep_up: Callable[[], Awaitable[object]]) -> None:
        self._keep_up = keep_up
        self.why = ""

    async def follow(self) -> None:
        """Follow it once. What fails is logged once, for as long as it stays the same."""
        try:
            await self._keep_up()
        except AttestError as error:
            if str(error) != self.why:
                LOG.error("the search indexes do not follow the store: %s", error)
            self.why = str(error)
        else:
            self.why = ""

    async def run(self) -> None:
        """Follow it until this is cancelled. A failure that nobody expected does not end it."""
        while True:
            try:
                await self.follow()
            except Exception:  # noqa: BLE001 - the next time may be better
                LOG.exception("the search indexes do not follow the store")
            await asyncio.sleep(FOLLOW_S)


FOLLOWER: web.AppKey[IndexFollower | None] = web.AppKey("attest_index_follower")


def add_index_follow(app: web.Application) -> None:
    """The follower, from the start of the application to its end, where others write to the store."""
    keep_up = app[SYSTEM].keep_up
    app[FOLLOWER] = None if keep_up is None else IndexFollower(keep_up)
    app.cleanup_ctx.append(_following)


async def _following(app: web.Application) -> AsyncIterator[None]:
    follower = app[FOLLOWER]
    task = None if follower is None else asyncio.create_task(follower.run(), name="index-follow")
    yield
    if task is not None:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
