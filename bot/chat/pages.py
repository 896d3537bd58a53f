"""`/chat`, the local test page: its document, what its pickers offer, and the evidence behind its answers."""

from __future__ import annotations

import json
import secrets
from functools import lru_cache
from importlib.resources import files
from typing import Any

import yaml
from aiohttp import web

from bot.http.errors import Refused
from bot.http.forms import parse_json
from bot.http.keys import SYSTEM
from bot.http.source import may_see, person, reader, versions
from bot.http.templating import rendered, static_files
from bot.settings.settings import Settings
from bot.system import System
from bot.view.claim_form import parse_claims
from bot.view.claim_map import claim_map
from bot.view.decisions import ask_back, decided
from bot.view.passages import shown_passage
from bot.wording.usage import usage_words
from grounding.errors import AttestError
from grounding.records import Access, DocumentInfo
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
    "answer": HTML, "draft": HTML | null, "decided": HTML | null, "ask_back": {"question", "options"} | null,
    "taken": what the calls of models took}`.

    The reply is drawn as it was given, for the ledger's copy may be redacted. The passages are those of its entry, as far
    as its person may read them; for a reply that has no entry, what it cites.
    """
    if request.content_type != "application/json":
        raise Refused(415, "unsupported_media_type", "Content-Type must be application/json")
    reply = parse_json(await request.read())
    entry = await request.app[SYSTEM].ledger.get(str(reply.get("entry_id") or "")[:100])
    cited = [c for name in ("citations", "offered") for c in reply.get(name) or () if isinstance(c, dict)]
    if entry is not None and entry.kind == "turn":
        evidence = await _evidence(request.app[SYSTEM], entry)
    else:
        entry, evidence = None, [{**c, "text": c.get("quote")} for c in cited]
    asked = ask_back(reply, str(reply.get("question") or ""))
    usage = reply.get("usage")
    told = {
        "decided": _decided(reply),
        "ask_back": asked,
        "taken": usage_words(usage) if isinstance(usage, dict) else "",
    }
    return web.json_response({"evidence": evidence, **_drawn(reply, evidence, cited, entry), **told})


def _decided(reply: dict[str, Any]) -> str | None:
    view = decided(reply)
    return rendered("http/decided_part.html", view=view) if view is not None and (view.first or view.steps) else None


def _drawn(
    reply: dict[str, Any], evidence: list[dict[str, Any]], cited: list[dict[str, Any]], entry: Entry | None
) -> dict[str, str | None]:
    shown = [shown_passage(item, cited, entry) for item in evidence]
    draft = reply.get("draft")
    answer = claim_map(
        str(reply.get("answer", "")), parse_claims(reply.get("claims"), "claims"), shown, _prefix(entry, "a")
    )
    if not isinstance(draft, dict):
        return {"answer": rendered("http/claim_map.html", view=answer, struck=False), "draft": None}
    before = claim_map(
        str(draft.get("text", "")), parse_claims(draft.get("claims"), "draft.claims"), shown, _prefix(entry, "d")
    )
    return {
        "answer": rendered("http/claim_map.html", view=answer, struck=False),
        "draft": rendered("http/claim_map.html", view=before, struck=True),
    }


def _prefix(entry: Entry | None, part: str) -> str:
    # a thread holds many turns, and an id must not occur twice on a page
    return f"t{entry.seq if entry is not None else secrets.token_hex(4)}{part}-"


async def _evidence(system: System, entry: Entry) -> list[dict[str, Any]]:
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
