"""`/review/today`: which turns of a search would end otherwise today."""

from __future__ import annotations

from aiohttp import web

from bot.desk.search import DeskSearch, misread
from bot.events.kinds import EVERY
from bot.http.app_keys import SYSTEM
from bot.http.background.desk import DESK
from bot.replay.today import TURN, todays
from bot.review.desk_page import desk_page
from bot.review.listing import reached
from bot.review.pages import require_session, seen
from bot.review.team import own_search

_TURNS = (("kind", TURN), ("kind", EVERY))
REPLAYED = 5
"""Turns that a page replays: each takes up to a second."""


def add_today(app: web.Application) -> None:
    """The route; to be added before those of `bot.review.pages`, whose `/review/{entry}` would take it for an entry."""
    app.router.add_get("/review/today", today_page, allow_head=False)


async def today_page(request: web.Request) -> web.Response:
    """The newest turns of a search, those first that would end otherwise."""
    session = await require_session(request)
    system, desk = request.app[SYSTEM], request.app[DESK]
    wanted = await own_search(request, DeskSearch.of(request.query))
    reach = await reached(desk, system.ledger)
    await seen(request, session, "today", wanted={**wanted.conditions, "before": wanted.before})
    turns = [turn async for turn in todays(system, desk, wanted, REPLAYED)]
    return desk_page(
        request,
        "review/today.html",
        wanted=wanted,
        told={name: value for name, value in wanted.conditions.items() if (name, value) not in _TURNS},
        turns=sorted(turns, key=lambda turn: (turn.found is None, turn.is_same, -turn.entry.seq)),
        differing=sum(turn.found is not None and not turn.is_same for turn in turns),
        older=turns[-1].entry.seq if turns and turns[-1].older else 0,
        reach=reach,
        misread=misread(request.query),
    )
