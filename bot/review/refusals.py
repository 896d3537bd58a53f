"""`/review/refusals`: the queue of refusals that people call wrong, and what reviewers say of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import cast, get_args

from aiohttp import web

from bot.http.app_keys import SYSTEM
from bot.review.decision_form import decision_form
from bot.review.desk_page import desk_page
from bot.review.pages import require_session, seen
from bot.review.team import among, require_entry, shows
from bot.turn.entries.disputes import STATES, Decision, Dispute, State, decide, queue
from rai.records import Category

ALL = "all"
CATEGORIES = get_args(Category)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the queue shows: a state, or all of them; a category, or any ("")."""

    state: State | str = "open"
    category: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Wanted:
        """From a query string; what is not known there is the default."""
        state, category = query.get("state", ""), query.get("category", "")
        return cls(state if state in (*STATES, ALL) else "open", category if category in CATEGORIES else "")

    def matches(self, dispute: Dispute) -> bool:
        if self.state not in (ALL, dispute.state):
            return False
        return not self.category or dispute.screening.get("category") == self.category


def add_refusals(app: web.Application) -> None:
    """The routes; to be added before those of `bot.review.pages`, whose `/review/{entry}` would take them for an entry."""
    app.router.add_get("/review/refusals", refusals, allow_head=False)
    app.router.add_post("/review/refusals/{entry}", decided)


async def refusals(request: web.Request) -> web.Response:
    """The queue."""
    session = await require_session(request)
    ledger = request.app[SYSTEM].ledger
    found = await queue(ledger)
    people = await among(request)
    disputes = [d for d in found.disputes if people is None or (d.turn and await shows(ledger, d.turn, people))]
    wanted = Wanted.of(request.query)
    await seen(request, session, "refusals", wanted=asdict(wanted))
    counts = {state: sum(d.state == state for d in disputes) for state in STATES}
    return desk_page(
        request,
        "review/refusals.html",
        disputes=[d for d in disputes if wanted.matches(d)],
        cut=found.cut,
        wanted=wanted,
        counts=counts,
        categories=CATEGORIES,
    )


async def decided(request: web.Request) -> web.Response:
    """A reviewer's decision on one refusal; back to the queue, or to the turn that it was made on."""
    decision, note, fields, by = await decision_form(request, get_args(Decision))
    entry_id = request.match_info["entry"]
    ledger = request.app[SYSTEM].ledger
    if await among(request) is not None:
        await require_entry(request, "entry")
    said = await decide(ledger, entry_id, cast("Decision", decision), note, channel="review", by=by)
    place = f"/review/{said.body['entry_id']}" if fields.get("back") == "turn" else "/review/refusals"
    return web.Response(status=303, headers={"Location": place})
