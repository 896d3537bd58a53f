"""`/source/ENTRY/N`: a cited passage in its document, highlighted, for the person whose turn cited it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from aiohttp import web

from bot.events.looks import record_source
from bot.http.app_keys import LINKS, SYSTEM
from bot.http.errors import LOG, Refused
from bot.http.guard import require_local
from bot.http.responses import page
from bot.records import Actor
from bot.system import System
from bot.turn.entries.read_again import may_see, versions_of
from bot.view.markup import Mark, Segment, segments
from bot.view.place import place_in
from bot.wording.evidence import EvidenceWords
from bot.wording.refusals import language_of
from bot.wording.web import web_place
from grounding.errors import ServiceError, StoreError
from grounding.records import Access, Document
from rai.records import Entry


@dataclass(frozen=True, slots=True)
class Cited:
    """What the page shows; `place` beside the title. `pieces` covers the whole text; keys are "passage" and "quote"."""

    title: str
    url: str | None
    place: str
    pieces: list[Segment]
    notices: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]


async def source(request: web.Request) -> web.Response:
    """The page. A signed link opens it from anywhere until it expires; without a signature, this machine only. That it was opened is recorded."""
    system = request.app[SYSTEM]
    number = request.match_info["n"]
    n = int(number) if number.isascii() and number.isdigit() and len(number) <= 4 else 0
    entry = await system.ledger.get(request.match_info["entry"][:100])
    w = EvidenceWords(language_of(asked_of(entry)))
    authorise(request, entry, n)
    evidence = _evidence(entry, n)
    if entry is None or evidence is None:
        raise Refused(404, "not_found", "No turn in the ledger cites a passage under this address.")
    cited = await cite(system, entry, evidence)
    if request.method == "GET":  # HEAD shows nothing
        await _record(request, entry, evidence)
    return page("source.html", w=w, cited=cited, n=n, entry_id=entry.entry_id)


async def _record(request: web.Request, entry: Entry, evidence: dict[str, Any]) -> None:
    """A source that was cited to a person stays open to them, also where its opening cannot be recorded: then the log says so."""
    local = request.query.get("sig") is None
    actor = Actor(None, "local") if local else Actor(person(entry), "link")
    try:
        await record_source(request.app[SYSTEM].ledger, actor, entry, evidence)
    except StoreError as error:
        LOG.error("an opened source of entry %s could not be recorded: %s", entry.entry_id, error)


def authorise(request: web.Request, entry: Entry | None, n: int) -> None:
    """Let in a signed link to that part of the entry, or this machine in local mode. Raises Refused (403)."""
    signature = request.query.get("sig")
    if signature is None:
        require_local(request)
        return
    user = person(entry) if entry is not None else None
    entry_id = request.match_info["entry"]
    fault = request.app[LINKS].check(entry_id, n, user, request.query.get("exp", ""), signature)
    if fault == "expired":
        w = EvidenceWords(language_of(asked_of(entry)))
        raise Refused(403, "link_expired", w("expired"), title=w("expired_title"), language=w.language)
    if fault is not None:
        w = EvidenceWords(request.headers.get("Accept-Language"))  # that of the entry would tell that there is one
        raise Refused(403, "link_invalid", w("invalid"), title=w("invalid_title"), language=w.language)


def person(entry: Entry) -> str | None:
    """Who asked the turn of `entry`, None for a stranger."""
    user = asked_of(entry).get("user")
    return user if isinstance(user, str) else None


def asked_of(entry: Entry | None) -> Mapping[str, Any]:
    """What was asked in the turn of `entry`, as the ledger has it; empty for what is no turn."""
    ask = entry.body.get("ask") if entry is not None else None
    return ask if isinstance(ask, dict) else {}


def _evidence(entry: Entry | None, n: int) -> dict[str, Any] | None:
    if entry is None or entry.kind != "turn":
        return None
    return next((e for e in entry.body.get("evidence") or () if e.get("n") == n), None)


async def reader(system: System, user: str | None) -> Access:
    """What `user` may read now. A directory that does not answer leaves what everyone may read."""
    if user is None:
        return Access()
    try:
        return Access(user, await system.directory.groups(user))
    except ServiceError:
        return Access(user)


async def cite(system: System, entry: Entry, evidence: dict[str, Any]) -> Cited:
    """The document as it stood when it was cited. Raises Refused (403) if its person may not read it today."""
    w = EvidenceWords(language_of(asked_of(entry)))
    if evidence.get("origin") == "web":
        return _from_record(entry, evidence, w)
    then, now, last = await versions(system, evidence)
    access = await reader(system, person(entry))
    if not may_see(access, then, last):
        raise Refused(403, "no_access", w("no_access"), title=w("no_access_title"), language=w.language)
    if then is None:
        raise Refused(410, "gone", w("gone"), title=w("gone_title"), language=w.language)
    return _from_document(entry, evidence, then, _news(then, now, w), w)


async def versions(
    system: System, evidence: dict[str, Any]
) -> tuple[Document | None, Document | None, Document | None]:
    """The document of a piece of evidence as it was cited, as it stands now, and as it stands or stood last; None for what is gone."""
    return await versions_of(system.library, evidence)


def _news(then: Document, now: Document | None, w: EvidenceWords) -> list[str]:
    if now is None:
        return [w("is_gone")]
    return [w("has_changed")] if now.version != then.version else []


def _from_document(
    entry: Entry, evidence: dict[str, Any], document: Document, notices: list[str], w: EvidenceWords
) -> Cited:
    start, end = _place(evidence, document.text)
    marks = [Mark(start, end, "passage")]
    if start == end:
        notices.append(w("not_there"))
    for quote in _quotes(entry, evidence):
        at = document.text.find(quote, start, end)
        if at >= 0:
            marks.append(Mark(at, at + len(quote), "quote"))
    facts = (
        (w("fact_document"), document.doc_id),
        (w("fact_version"), document.version),
        (w("fact_updated"), w.day(document.updated) if document.updated else w("not_stated")),
        (w("fact_characters"), w("span", start=start, end=end)),
        (w("fact_trust"), w(f"trust_{document.trust}")),
        (w("fact_internal"), w("is_internal" if document.internal else "not_internal")),
    )
    pieces = segments(document.text, marks)
    return Cited(
        document.title,
        web_url(document.url),
        place_in(document.title, evidence.get("locator")),
        pieces,
        tuple(notices),
        facts,
    )


def _from_record(entry: Entry, evidence: dict[str, Any], w: EvidenceWords) -> Cited:
    text = str(evidence.get("text", ""))
    marks = [Mark(0, len(text), "passage")]
    for quote in _quotes(entry, evidence):
        at = text.find(quote)
        if at >= 0:
            marks.append(Mark(at, at + len(quote), "quote"))
    facts = (
        (w("fact_found_at"), str(evidence.get("url") or w("not_recorded"))),
        (w("fact_site"), web_place(str(evidence.get("url") or ""), _tier(entry, evidence), w.language)),
        (w("fact_asked"), entry.at),
    )
    title = str(evidence.get("title") or "Web page")
    return Cited(
        title,
        web_url(evidence.get("url")),
        place_in(title, evidence.get("locator")),
        segments(text, marks),
        (w("was_found"),),
        facts,
    )


def _place(evidence: dict[str, Any], text: str) -> tuple[int, int]:
    """Where the passage stands: as recorded if the same characters stand there, or its only other place, or nowhere."""
    passage = str(evidence.get("text", ""))
    start = evidence.get("start")
    if isinstance(start, int) and passage and text[start : start + len(passage)] == passage:
        return start, start + len(passage)
    if passage and text.count(passage) == 1:
        at = text.index(passage)
        return at, at + len(passage)
    return 0, 0


def _quotes(entry: Entry, evidence: dict[str, Any]) -> list[str]:
    return [c["quote"] for c in _cited(entry, evidence) if c.get("quote")]


def _tier(entry: Entry, evidence: dict[str, Any]) -> Any:
    return next((tier for part in (evidence, *_cited(entry, evidence)) if (tier := part.get("tier"))), None)


def _cited(entry: Entry, evidence: dict[str, Any]) -> list[dict[str, Any]]:
    reply = entry.body.get("reply") or {}
    cited = [*(reply.get("citations") or ()), *(reply.get("offered") or ())]
    return [c for c in cited if c.get("chunk_id") == evidence.get("chunk_id")]


def web_url(url: object) -> str | None:
    """`url` if a page may link to it: http and https only, never a script."""
    return url if isinstance(url, str) and urlsplit(url).scheme in ("http", "https") else None
