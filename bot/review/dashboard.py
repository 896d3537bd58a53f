"""`/review/dashboard`: figures over time as charts, drawn on the server, which print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from aiohttp import web

from bot.desk.daily import REFUSED, STRUCK
from bot.http.app_keys import SYSTEM
from bot.http.background.desk import DESK
from bot.judging.figures import Span, figures
from bot.review.desk_page import desk_page
from bot.review.listing import reached
from bot.review.pages import require_session, seen
from bot.review.team import among
from rai.check.catalogue import BY_ID
from rai.screening.screen import rules

HEIGHT = 100
"""Of a chart, in its own units; one period is 10 wide."""
WIDTH, BAR = 10.0, 7.0


@dataclass(frozen=True, slots=True)
class DashboardBar:
    """A bar of a chart: its left edge, top, width and height."""

    x: float
    y: float
    width: float
    height: float


def add_dashboard(app: web.Application) -> None:
    """The route; to be added before those of `bot.review.pages`, whose `/review/{entry}` would take it for an entry."""
    app.router.add_get("/review/dashboard", dashboard, allow_head=False)


async def dashboard(request: web.Request) -> web.Response:
    """The charts of a span of days or weeks."""
    session = await require_session(request)
    since, until = request.query.get("since", "").strip(), request.query.get("until", "").strip()
    span = Span.of(since, until, request.query.get("by", ""))
    desk = request.app[DESK]
    reach = await reached(desk, request.app[SYSTEM].ledger)
    found = await figures(desk, span, await among(request))
    await seen(
        request,
        session,
        "dashboard",
        wanted={"since": span.since.isoformat(), "until": span.until.isoformat(), "by": span.by},
    )
    return desk_page(
        request,
        "review/dashboard.html",
        found=found,
        span=span,
        instead=span.instead_of(since, until),
        reach=reach,
        bars=bars,
        means=means,
        address=urlencode,
    )


def means(key: str, name: str) -> str:
    """What a rule that names a line of a chart says; "" for lines that are named in words."""
    if key == STRUCK:
        return BY_ID[name].says if name in BY_ID else ""
    return next((rule.why for rule in rules() if rule.id == name), "") if key == REFUSED else ""


def bars(values: Sequence[int | None], highest: int) -> list[DashboardBar]:
    """The bars of a line of a chart whose highest value is `highest`; what is not 0 can be seen."""
    drawn = []
    for at, value in enumerate(values):
        if value:
            height = max(2.0, HEIGHT * value / highest)
            drawn.append(DashboardBar(at * WIDTH + (WIDTH - BAR) / 2, round(HEIGHT - height, 2), BAR, round(height, 2)))
    return drawn
