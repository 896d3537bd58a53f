"""The index of the reviewers' desk while a server runs: it follows the ledger, so that a page that is opened finds it whole."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import suppress

from aiohttp import web

from bot.desk.index import NAME, Desk
from bot.http.app_keys import SYSTEM
from bot.http.errors import LOG
from bot.places import places_of
from grounding.errors import AttestError

DESK = web.AppKey("attest_desk", Desk)
FOLLOW_S = 2.0
"""Seconds between two looks for new entries. One that finds none reads one entry."""
COMPARE_S = 30.0
"""Seconds between two parts of a thousand entries that are read again and compared with what the index holds of them: a tenth of a second each."""
PAUSE_S = 0.05
"""Seconds that turns have for themselves between two batches, while an index is made."""


def add_desk(app: web.Application) -> None:
    """The index in the home of the server, from the start of the application to its end."""
    app[DESK] = Desk(places_of(app[SYSTEM].settings).desk)
    app.cleanup_ctx.append(_following)


async def follow(desk: Desk, app: web.Application) -> None:
    """Check the index against the ledger, then go on with it until this is cancelled. What fails is logged once, for as long as it stays the same."""
    ledger = app[SYSTEM].ledger
    checked, told, compared = False, "", time.monotonic()
    while True:
        whole = True
        try:
            if not checked and (gone := await desk.check(ledger)):
                LOG.warning("%s: %d rows were not as in the ledger and are made anew", NAME, gone)
            checked = True
            whole = (await desk.follow(ledger, 0.0)).is_whole
            if whole and time.monotonic() - compared >= COMPARE_S:
                compared = time.monotonic()
                if gone := await desk.compare(ledger):
                    LOG.warning("%s: %d rows were not as in the ledger and are made anew", NAME, gone)
                    whole = False
            told = ""
        except AttestError as error:
            if str(error) != told:
                LOG.error("the index of the reviewers' desk is not kept: %s", error)
            told = str(error)
        except Exception:  # noqa: BLE001 - the pages say what they cannot do; the next time may be better
            LOG.exception("the index of the reviewers' desk is not kept")
        await asyncio.sleep(FOLLOW_S if whole else PAUSE_S)


async def _following(app: web.Application) -> AsyncIterator[None]:
    task = asyncio.create_task(follow(app[DESK], app), name="desk")
    yield
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    await app[DESK].close()
