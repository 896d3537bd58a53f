"""`/review`: the ledger for people who did not ask, behind the door of `bot.review.door`. What stands here only reads; what a
reviewer decides on refusals is in `bot.review.refusals`.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from aiohttp import web

from bot.desk.rows import row_of
from bot.desk.search import CHOICES, DeskSearch, misread
from bot.events.looks import record_read
from bot.http.app_keys import SYSTEM
from bot.http.background.desk import DESK
from bot.http.background.ledger_watch import WATCHER, LedgerWatcher
from bot.http.errors import LOG, Refused
from bot.http.forwarding import is_encrypted
from bot.judging.verdict import said_about
from bot.review.desk_page import desk_page
from bot.review.door import ACCESS, NEW_LINK, session_of
from bot.review.judging_view import about, judging_view
from bot.review.listing import QUEUES, listing, outcome
from bot.review.session import COOKIE, SESSION_SECONDS, ReviewAccess, Session, SessionTerms, named
from bot.review.team import among, own_search, require_entry, shows
from bot.review.turn_view import documents_of, tidy, turn_view
from bot.settings.settings import Settings
from bot.state import State
from bot.turn.entries.delivery import arrival_of
from bot.turn.entries.disputes import dispute_of
from bot.wording.reviewing.verdicts import REASON_WORDS, VERDICT_WORDS
from grounding.errors import StoreError
from rai.ledger.watch import Watched
from rai.ports import Ledger
from rai.records import Outcome

LIST = "/review"


@dataclass(frozen=True, slots=True)
class Chain:
    """The state of the chain as a page tells it. `whole`: all entries were verified at least once; `at`: when (UTC, for people)."""

    ok: bool
    whole: bool
    entries: int
    head: str
    at: str
    why: str = ""
    broken: str | None = None
    notes: tuple[str, ...] = ()


class ChainState:
    """What is known of the chain: what the server's watch has found, and beside it what the last walk found that somebody asked for."""

    def __init__(self) -> None:
        self._walked: Chain | None = None
        self._walking = asyncio.Lock()

    async def walk(self, ledger: Ledger) -> Chain:
        """Verify the whole ledger now. Whoever comes meanwhile waits for a walk of their own."""
        async with self._walking:
            result = await ledger.verify()
            at = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
            self._walked = Chain(
                result.ok, True, result.entries, result.head, at, result.why, result.broken, result.notes
            )
            return self._walked

    async def known(self, watcher: LedgerWatcher) -> Chain:
        """What is known, with what is new verified now. A walk that found a break is told until another finds none."""
        if self._walked is not None and not self._walked.ok:
            return self._walked
        await watcher.glance()
        found = watcher.found or Watched()
        if found.round_s is None and found.ok and self._walked is not None:
            return self._walked  # asked for while the watch has not come round
        notes = (f"Not looked at now: {watcher.unread}",) if watcher.unread else ()
        whole = found.round_s is not None
        return Chain(found.ok, whole, found.entries, found.head, watcher.at, found.why, found.broken, notes)


CHAIN = web.AppKey("attest_review_chain", ChainState)


async def _chain(request: web.Request, ledger: Ledger) -> Chain:
    """The state of the chain for a page: verified anew as a whole where that is asked for."""
    state = request.app[CHAIN]
    return await state.walk(ledger) if "verify" in request.query else await state.known(request.app[WATCHER])


def add_review(app: web.Application, state: State, token: str | None) -> None:
    """The routes of the pages over `state`, which opens and closes with the application. `token` opens them once.

    HEAD is not served: a preview of the link must not use it up.
    """
    app[ACCESS] = ReviewAccess(state, terms=terms(app[SYSTEM].settings))
    app.cleanup_ctx.append(partial(_opened, state, token))
    app[CHAIN] = ChainState()
    app.router.add_get("/review", entries, allow_head=False)
    app.router.add_get("/review/{entry}", entry_page, allow_head=False)


def terms(settings: Settings) -> SessionTerms:
    """Which sessions are admitted, and for how long. The door is named by all that decides who may sign in: where that changes, who is in must come again."""
    signin = settings.signin
    if not signin.is_on:
        return SessionTerms(by_link=settings.review_links)
    deciding = signin.model_dump_json(exclude={"client_secret", "scopes", "hours", "idle_minutes"})
    door = hashlib.sha256(deciding.encode()).hexdigest()
    return SessionTerms(door, signin.hours * 3600, signin.idle_minutes * 60, by_link=settings.review_links)


async def _opened(state: State, token: str | None, app: web.Application) -> AsyncIterator[None]:
    await state.open()
    if token:
        await app[ACCESS].offer(token, SESSION_SECONDS)  # of a start: whoever started it opens it when they get to it
    yield
    await state.close()


async def entries(request: web.Request) -> web.Response:
    """The list. With `?token=` it lets the browser in and goes on without the token in the address."""
    token = request.query.get("token")
    if token is not None:
        return await _enter(request, token)
    session = await require_session(request)
    ledger = request.app[SYSTEM].ledger
    wanted = await own_search(request, DeskSearch.of(request.query))
    shown = await listing(request.app[DESK], ledger, wanted)
    walk = await _chain(request, ledger)
    await seen(request, session, "list", wanted={**wanted.conditions, "before": wanted.before})
    return desk_page(
        request,
        "review/list.html",
        listing=shown,
        misread=misread(request.query, beside=("before", "verify")),
        wanted=wanted,
        walk=walk,
        choices=CHOICES,
        queues=QUEUES,
        verdicts={"none": "not judged", "any": "judged", **VERDICT_WORDS},
        reasons=REASON_WORDS,
    )


async def entry_page(request: web.Request) -> web.Response:
    """One entry: a turn with everything that led to its answer, or the tidy list of any other kind."""
    session = await require_session(request)
    ledger = request.app[SYSTEM].ledger
    entry = await require_entry(request, "entry")
    walk = await _chain(request, ledger)
    await seen(request, session, "entry", entry_id=entry.entry_id)
    if entry.kind == "turn" and isinstance(entry.body.get("reply"), dict):
        dispute = await dispute_of(ledger, entry) if outcome(entry) == Outcome.BLOCKED else None
        people = await among(request)
        said = await said_about(ledger, request.app[DESK], entry.entry_id)
        said = [each for each in said if await shows(ledger, each, people)]
        return desk_page(
            request,
            "review/turn.html",
            entry=entry,
            turn=turn_view(entry),
            user=row_of(entry).user,
            documents=documents_of(entry),
            arrival=await arrival_of(ledger, entry),
            walk=walk,
            dispute=dispute,
            back=back_to(request),
            judging=await judging_view(request.app[DESK], entry, said, request.query.get("queue", "")),
        )
    lines = tidy(entry.body) if entry.body else []
    return desk_page(
        request,
        "review/entry.html",
        entry=entry,
        lines=lines,
        walk=walk,
        about=await about(ledger, entry),
        back=back_to(request),
    )


def back_to(request: web.Request) -> str:
    """The address of the list that a reader comes from, with its search and page; the whole list for one who comes from elsewhere."""
    try:
        came = urlsplit(request.headers.get("Referer", ""))
    except ValueError:
        return LIST
    if came.path != LIST or came.netloc != request.host:
        return LIST
    wanted = DeskSearch.of(dict(parse_qsl(came.query)))
    address = wanted.older(wanted.before) if wanted.before else wanted.address()
    return f"{LIST}?{address}" if address else LIST


async def seen(
    request: web.Request,
    session: Session,
    what: str,
    *,
    entry_id: str | None = None,
    wanted: Mapping[str, Any] | None = None,
) -> None:
    """Record that a page is read. Raises Refused (503) where that cannot be: a read that leaves no trace is none of a reviewer's."""
    try:
        await record_read(request.app[SYSTEM].ledger, named(session), what, entry_id=entry_id, wanted=wanted)
    except StoreError as error:
        LOG.error("a reviewer's page was refused, for it could not be recorded: %s", error)
        message = "That you read this cannot be recorded now, so it is not shown. The ledger cannot be written."
        raise Refused(503, "ledger_unavailable", message, title="Not now") from None


async def _enter(request: web.Request, token: str) -> web.Response:
    access = request.app[ACCESS]
    settings = request.app[SYSTEM].settings
    if not settings.review_links:
        raise Refused(403, "links_off", "Links open nothing here: open /review and sign in.", title="Sign in instead")
    session = await access.redeem(token) or await access.admitted(request.cookies.get(COOKIE, ""))
    if session is None:
        message = f"The link works once, and this one was used, is too old or is wrong. {NEW_LINK}"
        raise Refused(403, "token_used", message, title="This link is used up")
    response = web.Response(status=303, headers={"Location": "/review"})
    response.set_cookie(
        COOKIE,
        session.secret,
        max_age=SESSION_SECONDS,
        path="/review",
        secure=is_encrypted(request, settings),
        httponly=True,
        samesite="Strict",
    )
    return response


async def require_session(request: web.Request) -> Session:
    """The session that the door let in. Raises Refused (403) without one."""
    return session_of(request)
