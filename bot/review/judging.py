"""`/review/queue`, `/review/unanswered`, `/review/corrections.jsonl`, and the verdicts that reviewers give: what waits, in which order, and what was said of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urlencode

from aiohttp import web

from bot.desk.index import COUNTED
from bot.desk.search import REASONS, DeskSearch, misread
from bot.desk.table import BYTE_ORDER_MARK
from bot.http.app_keys import SYSTEM
from bot.http.background.desk import DESK
from bot.http.errors import Refused
from bot.judging import corrections
from bot.judging.sample import put_into_queue
from bot.judging.unanswered import as_csv, unanswered
from bot.judging.verdict import Assessment, judge
from bot.review.decision_form import decision_form
from bot.review.desk_page import desk_page
from bot.review.finding import draw_of
from bot.review.judging_view import SavedVerdict, judging_view, sent_again
from bot.review.listing import line, reached, refuse
from bot.review.pages import require_session, seen
from bot.review.team import among, own_search, require_entry
from bot.review.turn_view import turn_view
from bot.wording.reviewing.verdicts import REASON_MEANS, REASON_WORDS, VERDICTS
from grounding.errors import InputError
from rai.records import Entry

QUEUED = "queued"
"""What a sample's form says in place of a decision."""
SUBJECTS = 100
"""Subjects that the page of unanswered questions shows; its file has all of them."""


def add_judging(app: web.Application) -> None:
    """The routes; to be added before those of `bot.review.pages`, whose `/review/{entry}` would take them for an entry."""
    app.router.add_get("/review/queue", queue, allow_head=False)
    app.router.add_get("/review/unanswered", unanswered_page, allow_head=False)
    app.router.add_get("/review/unanswered.csv", unanswered_file, allow_head=False)
    app.router.add_get("/review/corrections.jsonl", corrections_file, allow_head=False)
    app.router.add_post("/review/sample", sampled)
    app.router.add_post("/review/{entry}/verdict", judged)


async def queue(request: web.Request) -> web.Response:
    """What waits for a reviewer: how much for which reason, and the turns of one reason, the newest first."""
    session = await require_session(request)
    system, desk = request.app[SYSTEM], request.app[DESK]
    reach = await reached(desk, system.ledger)
    people = await among(request)
    counts = await desk.waiting(people)
    given = request.query.get("reason", "")
    reason = given if given in REASONS else next((name for name in REASONS if counts[name]), REASONS[0])
    wanted = replace(DeskSearch.of({"queue": reason, "before": request.query.get("before", "")}), among=people)
    found = await desk.find(wanted)
    held = sum(p.state == "held" for p in await system.quarantine.passages())
    await seen(request, session, "queue", wanted={"queue": reason, "before": wanted.before})
    why = await desk.reasons([row.seq for row in found.rows])
    return desk_page(
        request,
        "review/queue.html",
        rows=[(line(row, found.documents.get(row.seq, [])), why.get(row.seq, [])) for row in found.rows],
        counts=counts,
        most=COUNTED,
        reason=reason,
        words=REASON_WORDS,
        means=REASON_MEANS,
        held=held,
        older=found.rows[-1].seq if found.older else 0,
        before=wanted.before,
        reach=reach,
        misread=misread(request.query, ("reason",), {"reason": REASONS}, beside=("before", "saved")),
        saved=SavedVerdict.of(request.query.get("saved", "")),
    )


async def judged(request: web.Request) -> web.Response:
    """A reviewer's verdict on one turn; on to the next of the queue that they came from, or back to the turn. What cannot be taken comes back as it was sent, with why."""
    verdict, comment, fields, by = await decision_form(request, VERDICTS)
    system, desk = request.app[SYSTEM], request.app[DESK]
    turn = await require_entry(request, "entry")
    if turn.kind != "turn" or not isinstance(turn.body.get("reply"), dict):
        raise Refused(404, "not_found", "The ledger has no turn with this id that can be judged.")
    lines = {name: fields.get(name, "") for name in ("facts", "wrong", "documents")}
    try:
        said = Assessment.of(verdict, comment, fields.get("correction", ""), **lines)
        await judge(system.ledger, desk, system.library, turn.entry_id, said, channel="review", by=by)
    except InputError as error:
        return await _form_again(request, turn, fields, f"Not saved: {str(error).removesuffix('.')}.")
    reason = fields.get("queue", "")
    if reason not in REASONS or fields.get("then") != "next":
        return _to(f"/review/{turn.entry_id}", "#judge")
    return await _next(request, reason, SavedVerdict(said.verdict, turn.entry_id))


async def _next(request: web.Request, reason: str, saved: SavedVerdict) -> web.Response:
    """On to the turn of a queue that follows one that was judged, which then says what was saved. Raises StoreError."""
    desk, people = request.app[DESK], await among(request)
    await desk.follow(request.app[SYSTEM].ledger)
    here = await desk.place_of(saved.turn)
    found = await desk.find(DeskSearch(queue=reason, before=here, among=people), 1)
    if not found.rows:
        found = await desk.find(DeskSearch(queue=reason, among=people), 1)  # what came in meanwhile, or was passed over
    if not found.rows:
        return _to(f"/review/queue?{urlencode({'saved': saved})}")
    return _to(f"/review/{found.rows[0].entry_id}?{urlencode({'queue': f'{reason}.{saved}'})}")


async def _form_again(request: web.Request, turn: Entry, fields: Mapping[str, str], problem: str) -> web.Response:
    """The form as it was sent, and why it was not taken."""
    session = await require_session(request)
    await seen(request, session, "entry", entry_id=turn.entry_id)
    view = sent_again(await judging_view(request.app[DESK], turn, (), fields.get("queue", "")), fields, problem)
    return desk_page(request, "review/queue.html", again=view, entry=turn, turn=turn_view(turn), status=400)


async def sampled(request: web.Request) -> web.Response:
    """Put a sample into the queue: the same draw that its page shows."""
    _, _, fields, by = await decision_form(request, (QUEUED,))
    system, desk = request.app[SYSTEM], request.app[DESK]
    wanted = await own_search(request, DeskSearch.of(fields).whole())
    taken = draw_of(fields)
    rows = await desk.sample(wanted, taken)
    turns = [row.entry_id for row in rows if row.kind == "turn" and not row.erased]
    how = {"number": taken.number, "by": taken.by, "seed": taken.seed}
    try:
        await put_into_queue(system.ledger, turns, wanted, who=by, **how)  # type: ignore[arg-type]
    except InputError as error:
        raise Refused(400, error.code, f"{error}.") from None
    await desk.follow(system.ledger)
    return _to("/review/queue?reason=sampled")


async def unanswered_page(request: web.Request) -> web.Response:
    """Unanswered questions, near-equal ones together, for the owners of the knowledge base."""
    session = await require_session(request)
    wanted = await own_search(request, _unanswered_wanted(request))
    desk = request.app[DESK]
    reach = await reached(desk, request.app[SYSTEM].ledger)
    found = await unanswered(desk, wanted)
    await seen(request, session, "unanswered", wanted=wanted.conditions)
    return desk_page(
        request,
        "review/unanswered.html",
        found=found,
        shown=found.subjects[:SUBJECTS],
        wanted=wanted,
        every="all" in request.query,
        reach=reach,
        misread=_unanswered_misread(request),
        address=urlencode({**_days(wanted), **({"all": "1"} if "all" in request.query else {})}),
    )


async def unanswered_file(request: web.Request) -> web.Response:
    """The same as CSV."""
    session = await require_session(request)
    refuse(_unanswered_misread(request))
    wanted = await own_search(request, _unanswered_wanted(request))
    desk = request.app[DESK]
    await desk.follow(request.app[SYSTEM].ledger)  # a file that leaves something out would not say so
    await seen(request, session, "download unanswered", wanted=wanted.conditions)
    found = await unanswered(desk, wanted)
    return _file(BYTE_ORDER_MARK + as_csv(found.subjects), "text/csv", "unanswered.csv")


async def corrections_file(request: web.Request) -> web.StreamResponse:
    """Judged turns as rows for `attest eval turns`."""
    session = await require_session(request)
    refuse(misread(request.query))
    wanted = await own_search(request, DeskSearch.of(request.query).whole())
    await seen(request, session, "download corrections", wanted=wanted.conditions)
    rows = corrections.corrected(request.app[SYSTEM].ledger, request.app[DESK], wanted)
    lines = [json.dumps(each.row, ensure_ascii=False) + "\n" async for each in rows if each.row is not None]
    return _file("".join(lines), "application/jsonl", "turns.jsonl")


def _unanswered_wanted(request: web.Request) -> DeskSearch:
    days = {name: request.query.get(name, "") for name in ("since", "until", "product")}
    return DeskSearch.of(days if "all" in request.query else {**days, "queue": "unanswered"})


def _unanswered_misread(request: web.Request) -> tuple[str, ...]:
    return misread(request.query, ("since", "until", "product"), {}, beside=("all",))


def _days(wanted: DeskSearch) -> dict[str, str]:
    return {name: value for name, value in wanted.conditions.items() if name != "queue"}


def _file(text: str, kind: str, name: str) -> web.Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return web.Response(body=text.encode("utf-8", "replace"), content_type=kind, charset="utf-8", headers=headers)


def _to(path: str, anchor: str = "") -> web.Response:
    return web.Response(status=303, headers={"Location": path + anchor})
