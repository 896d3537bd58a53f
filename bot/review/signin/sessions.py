"""`/review/sessions`: who is signed in, for administrators, who can end a session."""

from __future__ import annotations

from datetime import UTC, datetime

from aiohttp import web

from bot.review.decision_form import own_form
from bot.review.desk_page import desk_page
from bot.review.door import ACCESS, session_of
from bot.review.pages import seen


def add_sessions(app: web.Application) -> None:
    """The routes; to be added before those of `bot.review.pages`, whose `/review/{entry}` would take them for an entry."""
    app.router.add_get("/review/sessions", sessions, allow_head=False)
    app.router.add_post("/review/sessions/{session}", ended)


async def sessions(request: web.Request) -> web.Response:
    """All sessions whose time is not over."""
    session = session_of(request)
    found = await request.app[ACCESS].open_sessions()
    await seen(request, session, "sessions")
    return desk_page(request, "review/sessions.html", sessions=found, moment=_moment)


async def ended(request: web.Request) -> web.Response:
    """End one; back to the others."""
    await own_form(request, session_of(request))
    await request.app[ACCESS].expel(request.match_info["session"])
    return web.Response(status=303, headers={"Location": "/review/sessions"})


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")
