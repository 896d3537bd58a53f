"""The HTTP application: every route of the contract but `/api/messages`, which the channel adds to it."""

from __future__ import annotations

import logging
import time

from aiohttp import web

from bot.chat import evidence
from bot.chat.pages import add_chat
from bot.compose.signin import identity_provider
from bot.http import api, health, source
from bot.http.among_workers import add_among_workers
from bot.http.app_keys import ANSWER, DELIVERIES, LINKS, METRICS, SYSTEM
from bot.http.background.desk import add_desk
from bot.http.background.index_follow import add_index_follow
from bot.http.background.ledger_checkpoints import add_checkpoints
from bot.http.background.ledger_watch import add_ledger_watch
from bot.http.background.retention import add_retention
from bot.http.errors import Handler, errors
from bot.http.guard import guard, secure
from bot.http.metrics import Metrics
from bot.http.responses import static
from bot.http.source_links import SourceLinks
from bot.observability.turn_mark import marked
from bot.places import places_of
from bot.review.affected import add_affected
from bot.review.dashboard import add_dashboard
from bot.review.door import door
from bot.review.finding import add_finding
from bot.review.judging import add_judging
from bot.review.pages import add_review
from bot.review.quarantine import add_quarantine
from bot.review.refusals import add_refusals
from bot.review.replay import add_replay
from bot.review.signin.pages import add_sign_in
from bot.review.signin.sessions import add_sessions
from bot.review.today import add_today
from bot.settings.terms import prices
from bot.state import State
from bot.system import System
from bot.turn.entries.delivery import Deliveries
from bot.workers.name import worker_name
from grounding.observe import watched_by

ACCESS = logging.getLogger("attest.access")
BODY_BYTES = 2 * 1024 * 1024
"""No request needs more: the largest is a check with its sources."""


def build_app(system: System, *, review_token: str | None = None, worker: int = 1, workers: int = 1) -> web.Application:
    """Build the HTTP application: all pages and APIs over one system, which the caller closes.

    `worker`: which this is of `workers` processes that share a socket; `review_token` opens `/review` once (see `bot.review.session`), beside those of `attest review-link`. Other channels of this process
    call `app[ANSWER]`, not `system.answer`, so that their turns are counted too, and `app[DELIVERIES]` with what became of the replies. Start it with `access_log=None`:
    requests are logged here, by route and without addresses, names or questions.
    """
    app = web.Application(middlewares=[observe, errors, guard, door], client_max_size=BODY_BYTES)
    name = worker_name(worker)
    several = workers > 1 or system.settings.database.url is not None
    metrics = Metrics(prices(system.settings), name if several else None)
    app[SYSTEM] = system
    app[METRICS] = metrics
    app[ANSWER] = metrics.watch(system.answer)
    app[DELIVERIES] = Deliveries(system.ledger, lambda mark: metrics.deliveries.labels(mark).inc())
    app.on_cleanup.append(_drained)
    app[LINKS] = SourceLinks.of(system.settings)
    add_among_workers(app, name, several=several)
    add_ledger_watch(app)
    add_checkpoints(app)
    add_retention(app)
    add_index_follow(app)
    app.on_response_prepare.append(secure)
    app.router.add_post("/api/ask", api.ask)
    app.router.add_post("/api/check", api.check)
    app.router.add_post("/api/refusals", api.report_refusal)
    app.router.add_get("/healthz", health.healthz)
    app.router.add_get("/readyz", health.readyz)
    app.router.add_get("/metrics", health.metrics)
    app.router.add_get("/static/{name}", static)
    app.router.add_get("/source/{entry}/{n}", source.source)
    app.router.add_get("/evidence/{entry}", evidence.evidence)
    if system.settings.local_mode:
        add_chat(app)
    add_desk(app)
    add_sign_in(app, identity_provider(system.settings))
    add_sessions(app)
    add_refusals(app)
    add_quarantine(app)
    add_judging(app)
    add_dashboard(app)
    add_finding(app)
    add_affected(app)
    add_today(app)
    add_replay(app)
    add_review(app, State(places_of(system.settings).state), review_token)
    return app


async def _drained(app: web.Application) -> None:
    """What became of the last replies is written before the ledger closes."""
    await app[DELIVERIES].drain()


@web.middleware
async def observe(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Count and log every request by its route's pattern: an entry's id or a query string is never written. A `traceparent` is honoured."""
    with marked(), request.app[SYSTEM].incoming(request.headers), watched_by(request.app[METRICS].operation):
        return await _observed(request, handler)


async def _observed(request: web.Request, handler: Handler) -> web.StreamResponse:
    began = time.perf_counter()
    status = 500
    try:
        response = await handler(request)
        status = response.status
        return response
    except web.HTTPException as redirect:
        status = redirect.status
        raise
    finally:
        resource = request.match_info.route.resource
        route = resource.canonical if resource is not None else "unknown"
        method = request.method if request.method in ("GET", "HEAD", "POST", "OPTIONS") else "other"
        request.app[METRICS].requests.labels(method, route, str(status)).inc()
        ACCESS.info("%s %s %d %.0f ms", method, route, status, (time.perf_counter() - began) * 1000)
