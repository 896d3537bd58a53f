"""`/review/ENTRY/replay`: a turn run again, beside what was recorded."""

from __future__ import annotations

from aiohttp import web

from bot.http.app_keys import SYSTEM
from bot.http.errors import Refused
from bot.replay.replay import replay
from bot.review.desk_page import desk_page
from bot.review.pages import require_session, seen
from bot.review.team import require_entry
from grounding.errors import InputError


def add_replay(app: web.Application) -> None:
    """The route."""
    app.router.add_get("/review/{entry}/replay", replayed, allow_head=False)


async def replayed(request: web.Request) -> web.Response:
    """The replay of one turn. No model is asked: what a click may cost stays a matter of the command line."""
    session = await require_session(request)
    system = request.app[SYSTEM]
    entry = await require_entry(request, "entry")
    await seen(request, session, "replay", entry_id=entry.entry_id)
    try:
        found = await replay(system, entry)
    except InputError as error:
        raise Refused(409, "no_replay", f"{error}.", title="This cannot be replayed") from None
    return desk_page(request, "review/replay.html", entry=entry, found=found, whole="all" in request.query)
