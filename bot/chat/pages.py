"""`/chat`, the local test page: its document, what its pickers offer, and the evidence behind its answers."""

from __future__ import annotations

import json
import secrets
from functools import lru_cache
from importlib.resources import files
from typing import Any

import yaml
from aiohttp import web

from bot.http.app_keys import SYSTEM
from bot.http.errors import Refused
from bot.http.json_forms import parse_json
from bot.http.source import person, reader, versions
from bot.http.templating import rendered, static_files
from bot.settings.settings import Settings
from bot.system import System
from bot.turn.access import restricted
from bot.turn.entries.read_again import may_see
from bot.view.claim_map import ClaimMap, ClaimRow, claim_map
from bot.view.customer import customer_copy
from bot.view.passages import shown_passage
from bot.view.reply import ListedSource, ReplyView, reply_view
from bot.view.status_words import said
from bot.wording.conversation.card import CardWords
from bot.wording.reviewing.outcomes import outcome_word
from grounding.errors import AttestError, InputError
from grounding.records import Access, DocumentInfo, plain
from rai.records import Entry

SAMPLES = 6
PICKER_MAX = 200


def add_chat(app: web.Application) -> None:
    """The routes of the page. The guard keeps them to loopback."""
    app.router.add_get("/chat", chat)
    app.router.add_get("/chat/options", options)
    app.router.add_post("/chat/view", view)


async def chat(_request: web.Request) -> web.Response:
    """The page itself: a file without anything of this deployment in it."""
    content, _, _ = static_files()["chat.html"]
    return web.Response(body=content, content_type="text/html", charset="utf-8")


async def options(request: web.Request) -> web.Response:
    """`{"users", "products", "policies", "policy", "samples", "documents", "notices"}` for the pickers."""
    system = request.app[SYSTEM]
    notices: list[str] = []
    try:
        documents = await system.library.documents()
    except AttestError as error:
        documents = ()
        notices.append(str(error))
    return web.json_response(
        {
            "users": _users(system.settings),
            "products": sorted({d.product for d in documents if d.product})[:PICKER_MAX],
            "policies": list(system.settings.files.policies),
            "policy": system.settings.answering.policy,
            "samples": _samples(documents),
            "documents": len(documents),
            "generator": system.settings.model.generator,
            "notices": notices,
        }
    )


def _users(settings: Settings) -> list[str]:
    if settings.directory.kind != "file":
        return []  # a company's directory is no list to pick from
    try:
        known = yaml.safe_load(settings.directory_path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return []
    people = known.get("users", known) if isinstance(known, dict) else {}
    return [name for name in people if isinstance(name, str)][:PICKER_MAX] if isinstance(people, dict) else []


def _samples(documents: tuple[DocumentInfo, ...]) -> list[dict[str, str]]:
    """Questions to try, `{"question", "as"?, "note"?}`: those of the sample knowledge base if it is in, else from titles."""
    ids = [d.doc_id for d in documents]
    known = [s for s in _bundled() if any(i == s["needs"] or i.endswith("/" + s["needs"]) for i in ids)]
    if known:
        return [{name: value for name, value in sample.items() if name != "needs"} for sample in known]
    public = [d for d in documents if d.groups is None and not d.internal]
    return [{"question": question} for question in _from_titles(public)]


@lru_cache(maxsize=1)
def _bundled() -> list[dict[str, str]]:
    samples: list[dict[str, str]] = json.loads(files("bot.chat").joinpath("samples.json").read_text(encoding="utf-8"))
    return samples


def _from_titles(documents: list[DocumentInfo]) -> list[str]:
    """Questions spread over the knowledge base: a title that asks stands as it is."""
    step = max(1, len(documents) // SAMPLES)
    titles = [d.title for d in documents[::step] if 3 < len(d.title) <= 90][:SAMPLES]
    return [title if title.rstrip().endswith("?") else f"What should I know about {title}?" for title in titles]


async def view(request: web.Request) -> web.Response:
    """What ties a reply to its passages, and how it came about: in the reply's JSON with its `question`, out `{"evidence": [...],
    "answer": HTML, "draft": HTML | null, "decided": HTML | null, "ask_back": {"question", "options"} | null, "reply": what else
    the page shows of it, as `_told` has it}`.

    The reply is drawn as it was given, for the ledger's copy may be redacted. The passages are those of its entry, as far
    as its person may read them; for a reply that has no entry, what it cites.
    """
    if request.content_type != "application/json":
        raise Refused(415, "unsupported_media_type", "Content-Type must be application/json")
    given = parse_json(await request.read())
    if not isinstance(given.get("claims"), list):
        raise InputError("claims must be a list of claims")
    reply = reply_view(given)
    entry = await request.app[SYSTEM].ledger.get(reply.entry_id[:100])
    if entry is not None and entry.kind == "turn":
        evidence = await evidence_of(request.app[SYSTEM], entry)
    else:
        cited = [c for name in ("citations", "offered") for c in given.get(name) or () if isinstance(c, dict)]
        entry, evidence = None, [{**c, "text": c.get("quote")} for c in cited]
    listed = await restricted(request.app[SYSTEM].library, (c.doc_id for c in reply.citations))
    copy = customer_copy(reply, CardWords(reply.language), {c.n for c in reply.citations if c.doc_id in listed})
    told = {
        "decided": rendered("http/decided_part.html", view=reply.decided) if reply.decided else None,
        "ask_back": _ask_back(reply, str(given.get("question") or "")),
    }
    return web.json_response({"evidence": evidence, **_drawn(reply, evidence, entry, copy), **told})


def _told(reply: ReplyView, draft: ClaimMap | None, copy: str) -> dict[str, Any]:
    """What the page shows of a reply beside its answer: names and words as every channel has them, nothing left to the script to judge."""
    return {
        "outcome": reply.outcome,
        "word": outcome_word(reply.outcome),
        "delivered": reply.delivered,
        "summary": _summary(reply),
        "understood": reply.understood,
        "web_notice": reply.web_notice,
        "contact_notice": reply.contact_notice,
        "for_customer": copy,
        "citations": [_listed(source) for source in reply.citations],
        "offered": [_listed(source) for source in reply.offered],
        "offered_as": reply.offered_as,
        "internal": [plain(aside) for aside in reply.internal],
        "suggestions": reply.suggestions,
        "reportable": bool(reply.refusal_language and reply.entry_id),
        "struck": [] if draft is None else [_struck(row) for row in draft.rows if row.tone == "bad"],
        "query": reply.query,
        "action": reply.action,
        "relevance": reply.relevance,
        "kb_version": reply.kb_version,
        "entry_id": reply.entry_id,
        "taken": reply.taken,
        "mode": dict(reply.mode),
        "notes": reply.notes,
        "timings_ms": dict(reply.timings_ms),
        "web": [plain(page) for page in reply.web],
    }


def _listed(source: ListedSource) -> dict[str, Any]:
    return {"n": source.n, "name": source.name, "place": source.place, "quote": source.quote, "web": source.web}


def _struck(row: ClaimRow) -> dict[str, str]:
    return {"status": said(row.claim.status), "text": row.claim.text, "why": row.why}


def _summary(reply: ReplyView) -> str:
    values = sum(claim.kind != "statement" for claim in reply.claims)
    removed = len(reply.draft.unsupported) if reply.draft else 0
    parts = [
        f"{values} {'value' if values == 1 else 'values'} traced" if values else "",
        f"{removed} unsupported {'claim' if removed == 1 else 'claims'} in the draft" if removed else "",
        "nothing was searched for" if reply.intent else "",
        reply.code.replace("_", " "),
    ]
    return " · ".join(part for part in parts if part)


def _ask_back(reply: ReplyView, question: str) -> dict[str, Any] | None:
    asked = reply.asked_back
    if asked is None:
        return None
    options = [{"title": option, "completed": completed} for option, completed in asked.choices(question)]
    return {"question": asked.alone, "options": options}


def _drawn(reply: ReplyView, evidence: list[dict[str, Any]], entry: Entry | None, copy: str) -> dict[str, Any]:
    cited: tuple[ListedSource, ...] = (*reply.citations, *reply.offered)
    shown = [shown_passage(item, cited, entry) for item in evidence]

    answer = claim_map(reply.answer, reply.claims, shown, _prefix(entry, "a"))
    draft = claim_map(reply.draft.text, reply.draft.claims, shown, _prefix(entry, "d")) if reply.draft else None
    return {
        "answer": rendered("http/claim_map.html", view=answer, struck=False),
        "draft": rendered("http/claim_map.html", view=draft, struck=True) if draft else None,
        "reply": _told(reply, draft, copy),
    }


def _prefix(entry: Entry | None, part: str) -> str:
    # a thread holds many turns, and an id must not occur twice on a page
    return f"t{entry.seq if entry is not None else secrets.token_hex(4)}{part}-"


async def evidence_of(system: System, entry: Entry) -> list[dict[str, Any]]:
    """The passages of a turn, each as it was searched, as far as its person may read them today."""
    access = await reader(system, person(entry))
    shown = [await _passage(system, access, item) for item in entry.body.get("evidence") or ()]
    return [item for item in shown if item is not None]


async def _passage(system: System, access: Access, item: dict[str, Any]) -> dict[str, Any] | None:
    text = item.get("text", "")
    if item.get("origin") != "web":
        then, now, last = await versions(system, item)
        if (then is None and now is None) or not may_see(access, then, last):
            return None
        if then is not None:
            # the ledger may hold the passage redacted; offsets of claims count in the passage as it was searched
            text = then.text[item["start"] : item["end"]] or text
    keys = ("n", "chunk_id", "doc_id", "title", "url", "locator", "origin", "score", "tier")
    return {**{key: item.get(key) for key in keys}, "text": text}
