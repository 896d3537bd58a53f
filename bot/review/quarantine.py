"""`/review/quarantine`: passages that were taken for planted orders, and what reviewers say of them."""

from __future__ import annotations

from typing import cast, get_args

from aiohttp import web

from bot.http.app_keys import SYSTEM
from bot.http.errors import Refused
from bot.review.decision_form import decision_form
from bot.review.desk_page import desk_page
from bot.review.pages import require_session, seen
from bot.turn.entries.quarantine import decide, named
from grounding.errors import InputError
from rai.screening.quarantine import STATES, Decision

ALL = "all"
SHOWN = 100
"""Passages of a page; they are decided one by one, and what is decided makes room."""


def add_quarantine(app: web.Application) -> None:
    """The routes; to be added before those of `bot.review.pages`, whose `/review/{entry}` would take them for an entry."""
    app.router.add_get("/review/quarantine", quarantine, allow_head=False)
    app.router.add_post("/review/quarantine/{passage}", decided)


async def quarantine(request: web.Request) -> web.Response:
    """The inbox: by default what nobody has decided."""
    session = await require_session(request)
    found = await request.app[SYSTEM].quarantine.passages()
    given = request.query.get("state", "")
    state = given if given in (*STATES, ALL) else "held"
    wanted = [p for p in found if state in (ALL, p.state)]
    await seen(request, session, "quarantine", wanted={"state": state})
    counts = {name: sum(p.state == name for p in found) for name in STATES}
    return desk_page(
        request,
        "review/quarantine.html",
        passages=wanted[:SHOWN],
        total=len(wanted),
        state=state,
        states=STATES,
        counts=counts,
    )


async def decided(request: web.Request) -> web.Response:
    """A reviewer's decision on one passage; back to the inbox."""
    decision, note, _, by = await decision_form(request, get_args(Decision))
    system = request.app[SYSTEM]
    try:
        passage = named(await system.quarantine.passages(), request.match_info["passage"])
    except InputError as error:
        raise Refused(404, error.code, str(error)) from None
    said = cast("Decision", decision)
    await decide(system.quarantine, system.ledger, passage, said, note, channel="review", by=by)
    return web.Response(status=303, headers={"Location": "/review/quarantine"})
