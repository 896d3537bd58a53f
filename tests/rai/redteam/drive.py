"""Each idea on the path that its place takes through the product as it ships: readers, index, search and screen are the real ones."""

from __future__ import annotations

import email.header
import html
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.compose.system import compose
from bot.settings.settings import Settings
from bot.system import System
from grounding.errors import PromptBlocked
from grounding.records import Access, Completion, Passage, Query, WebResult
from rai.personal.redact import Redactor
from rai.screening.model import ScreenedModel
from rai.screening.web import ScreenedWeb
from tests.knowledge_base import take_in
from tests.rai.redteam.files import IN_FILES, write
from tests.rai.redteam.table import SIDES, Idea, Side

_QUESTION = "What do we know about this?"
NOT_READ = "not read"
"""The reader left the order out, so that there is nothing to screen."""
_HEAD = 20
"""Letters and digits of an order by which it is known again after a reader took its markup away."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of one side of an idea. `by`: the rule that stopped it, or how else; empty if nothing did."""

    idea: Idea
    side: Side
    by: str

    @property
    def stopped(self) -> bool:
        return bool(self.by)


async def judge(ideas: Sequence[Idea], settings: Settings, scratch: Path) -> list[Judged]:
    """Both sides of every idea; the knowledge base of `settings` is filled with the documents among them."""
    filed = [(i, side) for i in ideas if i.place in IN_FILES for side in SIDES]
    refused = await _ingest(filed, settings, scratch / "documents")
    system = await compose(settings)
    try:
        said = [
            await _said(system, i, side) for i in ideas if i.place not in (*IN_FILES, "web_result") for side in SIDES
        ]
        found = await _found(system, filed, refused)
        web = await _web(system, [(i, side) for i in ideas if i.place == "web_result" for side in SIDES])
    finally:
        await system.close()
    return [*said, *found, *web]


async def _said(system: System, idea: Idea, side: Side) -> Judged:
    """A turn alone, with the turns before or with the context, screened as the pipeline screens it; or a whole prompt."""
    text = idea.text(side)
    if idea.place == "prompt":
        return Judged(idea, side, await _prompted(system, text))
    question, before = _asked(idea, text)
    decided = await system.screen.screen(question, before)
    rules = [decided.rule or "blocked"] if decided.blocked else []
    rules += [d.rule or "left out" for d in decided.documents if d.verdict == "block"]
    return Judged(idea, side, rules[0] if rules else "")


def _asked(idea: Idea, text: str) -> tuple[str, list[str]]:
    """The question asked now, and the earlier turns or the context that come with it."""
    if idea.place == "history":
        *before, question = [line.partition(": ")[2] for line in text.splitlines()]
        return question, before
    return (_QUESTION, [text]) if idea.place == "context" else (text, [])


async def _prompted(system: System, text: str) -> str:
    try:
        await ScreenedModel(_Quiet(), system.screen).complete(text, _QUESTION, purpose="compose")
    except PromptBlocked as error:
        if error.unavailable:
            raise
        return error.rule or "blocked"
    return ""


async def _ingest(filed: Sequence[tuple[Idea, Side]], settings: Settings, folder: Path) -> set[str]:
    """Take the documents in; returns the paths of those the readers refused."""
    folder.mkdir(parents=True)
    for idea, side in filed:
        write(folder / _shelf(idea, side), idea, side)
    report = await take_in(settings, folder)
    return {refusal.doc for refusal in report.refused}


async def _found(system: System, filed: Sequence[tuple[Idea, Side]], refused: set[str]) -> list[Judged]:
    """What the search brings of each document: an order is stopped if no passage that is left carries it."""
    if not filed:
        return []
    found = await system.retriever.retrieve(Query("spare cables of the handbook"), Access(), 20 * len(filed))
    shelves: dict[str, list[Passage]] = {_shelf(idea, side): [] for idea, side in filed}
    for passage in found.passages:
        shelves[next(s for s in shelves if f"{s}/" in passage.doc_id)].append(passage)
    return [Judged(i, s, _outcome(i, s, shelves[_shelf(i, s)], refused)) for i, s in filed]


def _outcome(idea: Idea, side: Side, passages: Sequence[Passage], refused: set[str]) -> str:
    shelf = _shelf(idea, side)
    if any(f"{shelf}/" in doc_id for doc_id in refused):
        return "refused by the reader"
    assert passages, f"{shelf}: the search did not bring it"
    dropped = [p.screened for p in passages if p.screened]
    if side == "twin":
        return dropped[0] if dropped else ""
    order = _letters(idea.order)[:_HEAD]
    if any(order in _letters(f"{p.title}\n{p.text}") for p in passages if not p.screened):
        return ""
    return dropped[0] if dropped else NOT_READ


async def _web(system: System, sides: Sequence[tuple[Idea, Side]]) -> list[Judged]:
    """What a web search lets in of a list of results."""
    results = {
        f"https://web.example/{_shelf(i, side)}": WebResult(
            "A result", f"https://web.example/{_shelf(i, side)}", i.text(side)
        )
        for i, side in sides
    }
    search = ScreenedWeb(_Pages(tuple(results.values())), system.screen, Redactor())
    kept = {r.url for r in await search.search("tariff", len(results))}
    return [Judged(i, s, "" if u in kept else "dropped") for (i, s), u in zip(sides, results, strict=True)]


def _shelf(idea: Idea, side: Side) -> str:
    return f"{idea.id}.{side}"


def _letters(text: str) -> str:
    """Letters and digits alone, markup and invisible characters read: how an order is known again."""
    text = str(email.header.make_header(email.header.decode_header(html.unescape(text)))) if "=?" in text else text
    shown = "".join(chr(ord(c) - 0xE0000) if 0xE0020 <= ord(c) < 0xE007F else c for c in html.unescape(text))
    return "".join(c for c in unicodedata.normalize("NFKC", shown).casefold() if c.isalnum())


class _Quiet:
    name = "quiet"

    async def complete(
        self, system: str, user: str, *, purpose: str, max_tokens: int = 800, schema: Mapping[str, Any] | None = None
    ) -> Completion:
        return Completion("", self.name)


@dataclass(frozen=True, slots=True)
class _Pages:
    results: tuple[WebResult, ...]
    name: str = "pages"

    async def search(self, query: str, k: int) -> tuple[WebResult, ...]:
        return self.results[:k]
