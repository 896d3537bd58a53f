"""`/review/affected`: documents that answers quote and that have changed or gone, and what of these answers still stands."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from aiohttp import web

from bot.desk.index import Desk
from bot.desk.search import LONGEST, is_day, misread
from bot.http.app_keys import SYSTEM
from bot.http.background.desk import DESK
from bot.replay.affected import AffectedTurn, Untouched, affected, alike, changed_documents, unknown_document
from bot.review.desk_page import desk_page
from bot.review.listing import reached
from bot.review.pages import require_session, seen
from bot.review.team import Among, among
from bot.system import System
from bot.view.status_words import WORDS

CHECKED = 10
"""Turns that a page checks: each takes some tens of milliseconds."""


def add_affected(app: web.Application) -> None:
    """The route; to be added before those of `bot.review.pages`, whose `/review/{entry}` would take it for an entry."""
    app.router.add_get("/review/affected", affected_page, allow_head=False)


async def affected_page(request: web.Request) -> web.Response:
    """All changed documents, or the turns on one of them."""
    session = await require_session(request)
    system, desk = request.app[SYSTEM], request.app[DESK]
    document = request.query.get("document", "").strip()[:LONGEST]
    since = request.query.get("since", "") if is_day(request.query.get("since", "")) else ""
    given = request.query.get("before", "")
    before = int(given) if given.isascii() and given.isdigit() and len(given) < 16 else 0
    reach = await reached(desk, system.ledger)
    people = await among(request)
    changed = await changed_documents(system, desk, document, since, among=people)
    await seen(request, session, "affected", wanted={"document": document, "since": since, "before": before})
    turns, untouched, last = list[AffectedTurn](), 0, 0
    # to who may see the turns of some people alone, ids tell only what stands in these turns
    unknown = await _unknown(system, desk, document, people) if document else ""
    similar = await alike(system, desk, document) if unknown and people is None else ()
    more = False
    if document:
        # one more than are shown: whether any follow
        async for turn in affected(system, desk, changed, before=before, size=CHECKED + 1, among=people):
            if len(turns) + untouched == CHECKED:
                more = True
                break
            if isinstance(turn, Untouched):
                untouched, last = untouched + 1, turn.seq
            else:
                turns.append(turn)
                last = turn.entry.seq
    return desk_page(
        request,
        "review/affected.html",
        changed=changed,
        document=document,
        since=since,
        before=before,
        turns=turns,
        untouched=untouched,
        older=_address(document=document, since=since, before=last) if more else None,
        unknown=unknown,
        similar=similar,
        misread=misread(request.query, ("document", "since"), {}),
        reach=reach,
        address=_address,
        words=WORDS,
    )


async def _unknown(system: System, desk: Desk, document: str, people: Among) -> str:
    """The line that says why nothing can be told of a document, up to its id; "" where something can."""
    if people is not None:
        return (
            ""
            if await desk.quoted(document, people)
            else "None of the answers that you may see quotes a document with the id"
        )
    return "No document has or had the id" if await unknown_document(system, desk, document) else ""


def _address(**values: Any) -> str:
    return urlencode({name: value for name, value in values.items() if value})
