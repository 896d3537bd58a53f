"""`/chat`, the local test page: its document, what its pickers offer, and the evidence behind its answers."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.resources import files
from typing import Any

import yaml
from aiohttp import web

from bot.http.errors import Refused
from bot.http.keys import SYSTEM
from bot.http.render import static_files
from bot.http.source import person, reader
from bot.settings import Settings
from bot.system import System
from grounding.errors import AttestError
from grounding.policy import POLICIES
from grounding.records import Access, DocumentInfo

SAMPLES = 6
PICKER_MAX = 200


def add_chat(app: web.Application) -> None:
    """The routes of the page. The guard keeps them to loopback."""
    app.router.add_get("/chat", chat)
    app.router.add_get("/chat/options", options)
    app.router.add_get("/chat/evidence/{entry}", evidence)


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
            "policies": sorted(POLICIES),
            "policy": system.settings.policy,
            "samples": _samples(documents),
            "documents": len(documents),
            "generator": system.settings.generator,
            "notices": notices,
        }
    )


def _users(settings: Settings) -> list[str]:
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


async def evidence(request: web.Request) -> web.Response:
    """The passages that the turn of this entry rested on, `{"evidence": [...]}`, as far as its person may read them."""
    system = request.app[SYSTEM]
    entry = await system.ledger.get(request.match_info["entry"][:100])
    if entry is None or entry.kind != "turn":
        raise Refused(404, "not_found", "no turn has this id")
    access = await reader(system, person(entry))
    shown = [await _passage(system, access, item) for item in entry.body.get("evidence") or ()]
    return web.json_response({"evidence": [item for item in shown if item is not None]})


async def _passage(system: System, access: Access, item: dict[str, Any]) -> dict[str, Any] | None:
    text = item.get("text", "")
    if item.get("origin") != "web":
        document = await system.library.document(str(item.get("doc_id", "")), item.get("version") or None)
        if document is not None:
            if not access.may_read(document.groups):
                return None
            # the ledger may hold the passage redacted; offsets of claims count in the passage as it was searched
            text = document.text[item["start"] : item["end"]] or text
    keys = ("n", "chunk_id", "doc_id", "title", "url", "locator", "origin", "score")
    return {**{key: item.get(key) for key in keys}, "text": text}
