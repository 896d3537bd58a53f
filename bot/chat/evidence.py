"""`/evidence/ENTRY`: an answer with its evidence, claim by claim as `/chat` shows it, for the person who asked. A link that expires opens it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from aiohttp import web

from bot.chat.pages import evidence_of
from bot.events.looks import record_source
from bot.http.app_keys import LINKS, SYSTEM
from bot.http.errors import LOG, Refused
from bot.http.responses import page
from bot.http.source import asked_of, authorise, person
from bot.http.source_links import LINK_SECONDS, WHOLE
from bot.records import Actor
from bot.view.claim_map import claim_map
from bot.view.passages import shown_passage
from bot.view.reply import reply_view
from bot.wording.evidence import EvidenceWords
from bot.wording.refusals import language_of
from bot.wording.reviewing.outcomes import outcome_sentence, outcome_word
from grounding.errors import StoreError
from rai.records import Entry


async def evidence(request: web.Request) -> web.Response:
    """The page. What the person may no longer read closes it: the answer says what stands there. That it was opened is recorded."""
    system = request.app[SYSTEM]
    entry = await system.ledger.get(request.match_info["entry"][:100])
    ask = asked_of(entry)
    w = EvidenceWords(language_of(ask))
    authorise(request, entry, WHOLE)
    if entry is None or entry.kind != "turn":
        raise Refused(404, "not_found", "No turn in the ledger stands under this address.")
    passages = await evidence_of(system, entry)
    reply = reply_view(entry.body.get("reply") or {}, w.language)
    if reply.rests_on & _closed(entry, passages):
        raise Refused(403, "no_access", w("closed"), title=w("closed_title"), language=w.language)
    if request.method == "GET":  # HEAD shows nothing
        await _record(request, entry, passages)
    listed = [*reply.citations, *reply.offered]
    shown = [
        replace(shown_passage(item, listed, None, w.language), link=_link(request, entry, item)) for item in passages
    ]
    return page(
        "evidence.html",
        w=w,
        entry_id=entry.entry_id,
        question=str(ask.get("question") or ""),
        asked=entry.at[:16].replace("T", " "),
        word=outcome_word(reply.outcome, w.language),
        sentence=outcome_sentence(reply.outcome, w.language),
        answer=claim_map(reply.answer, reply.claims, shown, "a-", w),
        draft=claim_map(reply.draft.text, reply.draft.claims, shown, "d-", w) if reply.draft else None,
    )


def _link(request: web.Request, entry: Entry, item: dict[str, Any]) -> str | None:
    """Where a passage stands in its document: as open to the person as this page, and no longer than the link to it."""
    number, links = item.get("n"), request.app[LINKS]
    seconds = links.left(request.query["exp"]) if "sig" in request.query else LINK_SECONDS
    return links.link(entry.entry_id, number, person(entry), seconds) if isinstance(number, int) else None


def _closed(entry: Entry, passages: list[dict[str, Any]]) -> set[str]:
    """Ids of the turn's passages that are not to be read today."""
    readable = {item.get("chunk_id") for item in passages}
    return {str(item.get("chunk_id")) for item in entry.body.get("evidence") or ()} - readable


async def _record(request: web.Request, entry: Entry, passages: list[dict[str, Any]]) -> None:
    """Each passage that is shown counts as an opened source; where that cannot be recorded the log says so, as for a single one."""
    local = request.query.get("sig") is None
    actor = Actor(None, "local") if local else Actor(person(entry), "link")
    shown = {item.get("n") for item in passages}
    try:
        for item in entry.body.get("evidence") or ():
            if item.get("n") in shown:
                await record_source(request.app[SYSTEM].ledger, actor, entry, item)
    except StoreError as error:
        LOG.error("opened evidence of entry %s could not be recorded: %s", entry.entry_id, error)
