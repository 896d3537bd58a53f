"""`/healthz`, `/readyz` and `/metrics`."""

from __future__ import annotations

import asyncio

from aiohttp import web

from bot.http.among_workers import PEERS
from bot.http.app_keys import METRICS, SYSTEM
from bot.http.background.index_follow import FOLLOWER
from bot.http.background.ledger_checkpoints import SCHEDULE
from bot.http.background.ledger_watch import WATCHER
from bot.http.errors import LOG
from bot.system import System
from grounding.errors import AttestError

READY_SECONDS = 5.0
"""A readiness probe that takes longer is an answer too: not ready."""


async def healthz(_request: web.Request) -> web.Response:
    """The process runs and its loop turns."""
    return web.json_response({"status": "alive"})


async def readyz(request: web.Request) -> web.Response:
    """Ready to answer turns, or 503 with a reason for each part that is not. `degraded`: services that turns go on without for now,
    a ledger that does not hold (what was recorded before may not be relied on, what is recorded now is), checkpoints that cannot be published,
    indexes that do not follow a shared store, and servers of one database whose configurations differ.
    """
    system = request.app[SYSTEM]
    reasons, degraded = await unready(system, READY_SECONDS), system.degraded()
    if broken := request.app[WATCHER].why:
        degraded = {**degraded, "ledger": broken}
    schedule = request.app[SCHEDULE]
    if schedule is not None and schedule.why:
        degraded = {**degraded, "checkpoints": schedule.why.removeprefix("checkpoints: ")}
    follower = request.app[FOLLOWER]
    if follower is not None and follower.why:
        degraded = {**degraded, "search indexes": follower.why}
    peers = request.app[PEERS]
    if peers is not None and peers.why:
        degraded = {**degraded, "configuration": peers.why}
    more = {"degraded": degraded} if degraded else {}
    if reasons:
        return web.json_response({"status": "not_ready", "reasons": reasons, **more}, status=503)
    return web.json_response({"status": "ready", **more})


async def unready(system: System, seconds: float) -> dict[str, str]:
    """Part to reason for all that is not ready, found out within `seconds`."""
    try:
        return await asyncio.wait_for(system.ready(), seconds)
    except TimeoutError:
        return {"ready": f"no answer within {seconds:g} s"}
    except AttestError as error:
        return {"ready": str(error)}


async def metrics(request: web.Request) -> web.Response:
    """Prometheus text."""
    figures = request.app[METRICS]
    try:
        await figures.count_library(request.app[SYSTEM].library)
    except AttestError as error:
        LOG.warning("the knowledge base could not be counted: %s", error)
    content_type = "text/plain; version=0.0.4; charset=utf-8"
    return web.Response(body=figures.text(), headers={"Content-Type": content_type})
