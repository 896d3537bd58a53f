"""Past answers that stood on text which has changed or gone since, and what of them would not be supported now."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bot.desk.index import Desk
from bot.replay.replay import recheck, sources_of, turn_of
from bot.system import System
from grounding.errors import InputError
from grounding.records import Document
from grounding.text import terms
from rai.records import SUPPORTED, UNSUPPORTED, Claim, Entry, Report, Source, Status

State = Literal["changed", "gone"]
WHOLE_MAX = 6_000
"""Characters of a document up to which an answer is checked on all of it; of a longer one the parts that are nearest to what it quoted."""


@dataclass(frozen=True, slots=True)
class ChangedDocument:
    """A document that answers quote in a version that is no longer the current one. `now`: the current version, None if it is gone; `versions`: those that are quoted;
    `turns`: how often; `since`: when it changed or was taken out, "" where nobody recorded that.
    """

    doc_id: str
    title: str
    now: str | None
    versions: tuple[str, ...]
    turns: int
    since: str

    @property
    def state(self) -> State:
        return "gone" if self.now is None else "changed"

    def as_json(self) -> dict[str, Any]:
        return {
            "doc_id": self.doc_id,
            "title": self.title,
            "state": self.state,
            "version": self.now,
            "versions_quoted": list(self.versions),
            "turns": self.turns,
            "since": self.since or None,
        }


@dataclass(frozen=True, slots=True)
class Fallen:
    """A claim that the recorded text supports and the text of today does not. `instead`: what that says in its place, where it is known."""

    kind: str
    text: str
    then: Status
    now: Status
    why: str
    instead: str | None = None

    @property
    def is_wrong(self) -> bool:
        """True if it would not be delivered now; else it is in doubt."""
        return self.now in UNSUPPORTED

    def as_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__} | {"unsupported": self.is_wrong}


@dataclass(frozen=True, slots=True)
class AffectedTurn:
    """A turn that quotes text which stands no longer in the knowledge base. `documents`: by id whether it changed or is gone; `claims`: how many its answer has;
    `fallen`: those of them that are not supported now; `why`: that it could not be checked.
    """

    entry: Entry
    documents: Mapping[str, State]
    claims: int = 0
    fallen: tuple[Fallen, ...] = ()
    why: str = ""

    @property
    def question(self) -> str:
        return str((self.entry.body.get("ask") or {}).get("question") or "")

    @property
    def stands(self) -> bool:
        """True if every claim would still be supported, in other words of the document."""
        return not self.fallen and not self.why

    def as_json(self) -> dict[str, Any]:
        body = self.entry.body
        return {
            "entry_id": self.entry.entry_id,
            "seq": self.entry.seq,
            "at": self.entry.at,
            "user": (body.get("actor") or {}).get("user") or (body.get("ask") or {}).get("user"),
            "question": self.question,
            "answer": (body.get("reply") or {}).get("answer"),
            "documents": dict(self.documents),
            "claims": self.claims,
            "no_longer_supported": [claim.as_json() for claim in self.fallen],
            "error": self.why or None,
        }


@dataclass(frozen=True, slots=True)
class Untouched:
    """A turn that quotes an older version of a document in words that still stand there. `seq`: its number."""

    seq: int


async def changed_documents(
    system: System, desk: Desk, document: str = "", since: str = "", *, among: frozenset[str] | None = None
) -> tuple[ChangedDocument, ...]:
    """Documents that answers quote and that have changed or gone: all, one, or those since a day; `among`: in turns of these people alone. Those that went nobody knows when count whatever the day. Raises StoreError."""
    current = {info.doc_id: info for info in await system.library.documents()}
    taken_out = {str(e.body.get("doc_id")): e.at async for e in system.ledger.entries(kinds=("remove",))}
    old: dict[str, list[tuple[str, int]]] = {}
    for found in await desk.quoted(document, among):
        info = current.get(found.doc_id)
        if info is None or (found.version and info.version != found.version):
            old.setdefault(found.doc_id, []).append((found.version, found.turns))
    changed = []
    for doc_id, versions in old.items():
        info = current.get(doc_id)
        last = None if info else await system.library.last(doc_id)
        at = info.ingested_at if info else taken_out.get(doc_id, "")
        if not (since and at and at < since):
            title = info.title if info else last.title if last else ""
            names = tuple(version for version, _ in versions)
            now = info.version if info else None
            changed.append(ChangedDocument(doc_id, title, now, names, sum(n for _, n in versions), at))
    return tuple(changed)


async def unknown_document(system: System, desk: Desk, document: str) -> bool:
    """True for an id that no document has or had, and no answer quotes: that nothing stood on it says nothing then. Raises StoreError."""
    return await system.library.last(document) is None and not await desk.quoted(document)


async def alike(system: System, desk: Desk, part: str, most: int = 5) -> tuple[str, ...]:
    """Ids of documents that hold these characters, whatever their case, in the knowledge base or in turns. Raises StoreError."""
    sought = part.casefold()
    now = [info.doc_id for info in await system.library.documents() if sought in info.doc_id.casefold()]
    return tuple(dict.fromkeys([*now, *await desk.similar_documents(part, most)]))[:most]


async def require_document(system: System, desk: Desk, document: str) -> None:
    """Raises InputError for an id that no document has or had, with those that hold it; StoreError."""
    if await unknown_document(system, desk, document):
        similar = await alike(system, desk, document)
        meant = f"; did you mean {', '.join(similar)}?" if similar else ": see attest documents list"
        raise InputError(f"no document has or had the id {document!r}{meant}", code="not_found")


async def affected(
    system: System,
    desk: Desk,
    changed: Iterable[ChangedDocument],
    *,
    before: int = 0,
    size: int = 20,
    among: frozenset[str] | None = None,
) -> AsyncIterator[AffectedTurn | Untouched]:
    """The newest `size` turns that quote these documents in an old version, each with what is left of it; those before the entry `before`, if it is given; `among`: those of these people alone. Raises StoreError, ServiceError."""
    versions = [(document.doc_id, version) for document in changed for version in document.versions]
    texts: dict[str, Document | None] = {}
    for listed in await desk.quoting(versions, before, size, among):
        entry = await system.ledger.get(listed.entry_id)
        if entry is None:
            continue
        try:
            body = turn_of(entry)
        except InputError as error:
            yield AffectedTurn(entry, {}, why=str(error))
            continue
        for doc_id in _quoted(body):
            if doc_id not in texts:
                texts[doc_id] = await system.library.document(doc_id)
        yield await _affected(system, entry, body, texts)


async def _affected(
    system: System, entry: Entry, body: Mapping[str, Any], texts: Mapping[str, Document | None]
) -> AffectedTurn | Untouched:
    """What of a turn's answer still stands on the text of today."""
    quoted = _quoted(body)
    touched = [
        item
        for item in body.get("evidence") or ()
        if item.get("doc_id") in quoted and item.get("origin") != "web" and not _stands(item, texts[item["doc_id"]])
    ]
    states: dict[str, State] = {e["doc_id"]: "changed" if texts[e["doc_id"]] else "gone" for e in touched}
    if not touched or not _cites(body, touched):
        return Untouched(entry.seq)
    answer = str(body["reply"].get("answer") or "")
    now = await recheck(system, body, answer, _sources_now(body, touched, texts))
    if now is None:
        return AffectedTurn(entry, states)
    fallen: tuple[Fallen, ...] = ()
    if any(claim.status not in SUPPORTED for claim in now.claims):
        then = await recheck(system, body, answer, sources_of(body))  # by the same program: what differs is the text
        fallen = tuple(_fallen(then, now)) if then else ()
    return AffectedTurn(entry, states, len(now.claims), fallen)


def _quoted(body: Mapping[str, Any]) -> dict[str, None]:
    """Documents that the answer cites."""
    return dict.fromkeys(
        str(c.get("doc_id")) for c in body["reply"].get("citations") or () if c.get("origin", "kb") != "web"
    )


def _cites(body: Mapping[str, Any], items: Sequence[Mapping[str, Any]]) -> bool:
    """True if the answer cites one of these passages, not only another of the same document."""
    cited = {c.get("chunk_id") for c in body["reply"].get("citations") or ()}
    return any(item.get("chunk_id") in cited for item in items)


def _stands(item: Mapping[str, Any], document: Document | None) -> bool:
    """True if the words of a passage stand in the document as it is."""
    text = str(item.get("text") or "").strip()
    return document is not None and text in document.text and str(item.get("title") or "") == document.title


def _sources_now(
    body: Mapping[str, Any], touched: Sequence[Mapping[str, Any]], texts: Mapping[str, Document | None]
) -> tuple[Source, ...]:
    """The recorded evidence with today's text in place of what changed; what is gone is left out."""
    names = {item["chunk_id"] for item in touched}
    kept = [source for source in sources_of(body) if source.id not in names]
    for doc_id in dict.fromkeys(item["doc_id"] for item in touched):
        document = texts[doc_id]
        if document is not None:
            old = [str(item.get("text") or "") for item in touched if item["doc_id"] == doc_id]
            kept.append(Source(f"{doc_id} today", nearest(document.text, old), document.title, document.updated))
    return tuple(kept)


def nearest(text: str, passages: Sequence[str]) -> str:
    """Of a long text the paragraphs that share most words with the passages, in their order, each with the next; a short one whole."""
    if len(text) <= WHOLE_MAX:
        return text
    wanted = {word for passage in passages for word in terms(passage)}
    parts = [part for part in text.split("\n\n") if part.strip()]
    scored = sorted(range(len(parts)), key=lambda n: (-len(wanted & set(terms(parts[n]))), n))
    taken, length = set[int](), 0
    for at in scored:
        for n in (at, at + 1):
            if n < len(parts) and n not in taken and length + len(parts[n]) <= WHOLE_MAX:
                taken.add(n)
                length += len(parts[n])
    return "\n\n".join(parts[n] for n in sorted(taken)) or text[:WHOLE_MAX]


def _fallen(then: Report, now: Report) -> list[Fallen]:
    before = {(c.kind, c.start, c.end): c for c in then.claims}
    found = []
    for claim in now.claims:
        was = before.get((claim.kind, claim.start, claim.end))
        if was is not None and was.status in SUPPORTED and claim.status not in SUPPORTED:
            found.append(_one(was, claim))
    return found


def _one(was: Claim, claim: Claim) -> Fallen:
    instead = claim.instead.text if claim.instead else None
    return Fallen(claim.kind, claim.text, was.status, claim.status, claim.why, instead)
