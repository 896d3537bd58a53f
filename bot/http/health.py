"""`/healthz`, `/readyz` and `/metrics`."""

from __future__ import annotations

import asyncio

from aiohttp import web

from bot.http.errors import LOG
from bot.http.keys import METRICS, SYSTEM
from grounding.errors import AttestError

READY_SECONDS = 5.0
"""A readiness probe that takes longer is an answer too: not ready."""


async def healthz(_request: web.Request) -> web.Response:
    """The process runs and its loop turns."""
    return web.json_response({"status": "alive"})


async def readyz(request: web.Request) -> web.Response:
    """Ready to answer turns, or 503 with a reason for each part that is not."""
    try:
        reasons = await asyncio.wait_for(request.app[SYSTEM].ready(), READY_SECONDS)
    except TimeoutError:
        reasons = {"ready": f"no answer within {READY_SECONDS:g} s"}
    except AttestError as error:
        reasons = {"ready": str(error)}
    if reasons:
        return web.json_response({"status": "not_ready", "reasons": reasons}, status=503)
    return web.json_response({"status": "ready"})


async def metrics(request: web.Request) -> web.Response:
    """Prometheus text."""
    figures = request.app[METRICS]
    try:
        await figures.count_library(request.app[SYSTEM].library)
    except AttestError as error:
        LOG.warning("the knowledge base could not be counted: %s", error)
    content_type = "text/plain; version=0.0.4; charset=utf-8"
    return web.Response(body=figures.text(), headers={"Content-Type": content_type})
