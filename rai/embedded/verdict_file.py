"""The record of the screen's verdicts on the chunks of the knowledge base, made at ingest and kept with the screen's version.

A verdict is kept by chunk id, which is a hash of the text, and title. Another screen, or another version of it, judges anew, and so is a document that changed, or was cut otherwise.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Protocol

from grounding.database.schema import SchemaPart, Step
from grounding.database.tables import KeptTable
from grounding.database.text import storable
from grounding.errors import PromptBlocked, ServiceError, StoreError, WorkError
from grounding.ports import Library
from grounding.records import Chunk, DocumentInfo, OnProgress, Progress
from grounding.store.dialects import forms
from grounding.store.side import Forms, Kept, Place, SideRows, side_at
from rai.embedded.bounded_screen import UNJUDGED
from rai.ports import PromptScreen
from rai.screening.decision import as_data
from rai.screening.retriever import verdict_key

LOG = logging.getLogger("attest")
PART = SchemaPart(
    "verdicts",
    (
        Step(
            (
                'CREATE TABLE screen_versions (version text COLLATE "C" NOT NULL)',
                'CREATE TABLE screened_documents (doc_id text COLLATE "C" PRIMARY KEY, version text COLLATE "C" NOT NULL)',
                'CREATE TABLE screen_verdicts (key text COLLATE "C" PRIMARY KEY, rule text COLLATE "C")',
            ),
            oldest=1,
        ),
    ),
    rights=(
        "GRANT SELECT, INSERT, DELETE ON screen_versions TO {worker}",
        "GRANT SELECT, INSERT, UPDATE, DELETE ON screened_documents, screen_verdicts TO {worker}",
    ),
    tables=(
        KeptTable("screen_versions", "version", "version", "screen"),
        KeptTable("screened_documents", "doc_id version", "doc_id", "judged"),
        KeptTable("screen_verdicts", "key rule", "key", "verdict"),
    ),
)
"""The screen's verdicts, in PostgreSQL."""
KEPT = Kept(
    "the record of the screen's verdicts",
    """
CREATE TABLE IF NOT EXISTS screen (version TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS judged (doc_id TEXT PRIMARY KEY, version TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS verdict (key TEXT PRIMARY KEY, rule TEXT) WITHOUT ROWID;
""",
    PART,
)
_forms = partial(
    forms, shared={"screen": "screen_versions", "judged": "screened_documents", "verdict": "screen_verdicts"}
)
_CURRENT = _forms("SELECT 1 FROM {screen} WHERE version = {param}")
"""Finds something if the verdicts are of this version of the screen."""
_IF_CURRENT = "EXISTS (SELECT 1 FROM {screen} WHERE version = {param})"
_KNOWN = _forms(f"SELECT key, rule FROM {{verdict}} WHERE key IN (SELECT value FROM {{texts}}) AND {_IF_CURRENT}")  # noqa: S608 - statements of our own
_LEFT_OUT = _forms(f"SELECT key, rule FROM {{verdict}} WHERE rule IS NOT NULL AND {_IF_CURRENT}")  # noqa: S608 - statements of our own
_JUDGED = _forms(f"SELECT doc_id, version FROM {{judged}} WHERE {_IF_CURRENT}")  # noqa: S608 - statements of our own
_EMPTY = (_forms("DELETE FROM {screen}"), _forms("DELETE FROM {judged}"), _forms("DELETE FROM {verdict}"))
_BEGIN = _forms("INSERT INTO {screen} (version) VALUES ({param})")
_KEEP = _forms(
    "INSERT INTO {verdict} (key, rule) VALUES ({param}, {param}) ON CONFLICT (key) DO UPDATE SET rule = excluded.rule"
)
_NOTE = _forms(
    "INSERT INTO {judged} (doc_id, version) VALUES ({param}, {param}) ON CONFLICT (doc_id) DO UPDATE SET version = excluded.version"
)
_DOCUMENTS = 50
"""Most documents whose chunks are read at a time."""
_CHUNKS = 64
"""Most chunks that are screened in one call."""
ORDERS = "passages that give orders to the assistant are left out of every answer"
NOT_JUDGED = "passages that the screen did not judge in its time are left out of every answer until the next ingest, which judges them again"


class Titled(Protocol):
    """A chunk with its document's title."""

    @property
    def chunk(self) -> Chunk:
        """The chunk."""
        ...

    @property
    def title(self) -> str:
        """The title of its document."""
        ...


class Chunks(Protocol):
    """A store that the chunks of documents are read from."""

    def chunks_of(self, doc_ids: Sequence[str]) -> Sequence[Titled]:
        """The live chunks of these documents."""
        ...


class VerdictFile:
    """The screen's verdicts in one SQLite file, or a PostgreSQL; safe for many readers and writers in several processes.

    `version`: of the screen; verdicts of another are none.
    """

    def __init__(self, place: Place, version: str) -> None:
        self._side = side_at(place, KEPT)
        self._version = version

    def known(self, keys: Sequence[str]) -> dict[str, str | None]:
        """The verdicts on those of `keys` that this screen has judged: the rule that leaves the chunk out, or None. Never raises."""
        if not self._side.is_made:
            return {}
        try:
            return dict(self._side.look(lambda db: db.rows(_KNOWN, list(keys), self._version)))
        except StoreError as error:
            LOG.warning("%s; passages are judged again", error)
            return {}

    def left_out(self) -> dict[str, str]:
        """The rule by the key of every chunk that this screen leaves out; also of texts that are no longer there. Raises StoreError."""
        return self._all(_LEFT_OUT)

    def keep(self, verdicts: Mapping[str, str | None], documents: Mapping[str, str] | None = None) -> None:
        """Adds verdicts by key, and by id the forms of `documents` that are judged with them. Raises StoreError."""

        def work(db: SideRows) -> None:
            if not db.rows(_CURRENT, self._version):
                for statement in _EMPTY:
                    db.rows(statement)
                db.rows(_BEGIN, self._version)
            db.each(_KEEP, verdicts.items())
            db.each(_NOTE, (documents or {}).items())

        self._side.write(work)

    async def follow(
        self,
        library: Library,
        chunks: Chunks,
        screen: PromptScreen,
        on_progress: OnProgress = lambda _at: None,
    ) -> int:
        """Judges the chunks of documents that are new, changed or cut otherwise, and keeps the verdicts; returns how many documents that were.

        What cannot be judged or written now is told in the log and judged when it is retrieved: nothing is stopped, nothing let through. A document of which a passage could
        not be judged in its time loses that passage until it is followed again.
        """
        try:
            judged = await asyncio.to_thread(self._all, _JUDGED)
            named, unjudged = Counter[str](), Counter[str]()
            new = [d for d in await library.documents() if judged.get(storable(d.doc_id)) != storable(_form(d))]
            for at in range(0, len(new), _DOCUMENTS):
                part = {d.doc_id: _form(d) for d in new[at : at + _DOCUMENTS]}
                rows = await asyncio.to_thread(chunks.chunks_of, list(part))
                verdicts = await self._verdicts(rows, screen)
                for row in rows:
                    if rule := verdicts[verdict_key(row.chunk.chunk_id, row.title, row.chunk.text)]:
                        (unjudged if rule == UNJUDGED else named)[row.chunk.doc_id] += 1
                await asyncio.to_thread(self.keep, verdicts, {d: f for d, f in part.items() if d not in unjudged})
                on_progress(Progress("screen", min(at + _DOCUMENTS, len(new)), len(new)))
            for why, counts in ((ORDERS, named), (NOT_JUDGED, unjudged)):
                if counts:
                    LOG.warning("%s", _left_out(why, counts))
        except (StoreError, ServiceError, WorkError, PromptBlocked) as error:
            LOG.warning("passages are screened when they are found, not at ingest: %s", error)
            return 0
        return len(new)

    async def _verdicts(self, rows: Sequence[Titled], screen: PromptScreen) -> dict[str, str | None]:
        found: dict[str, str | None] = {}
        for at in range(0, len(rows), _CHUNKS):
            part = rows[at : at + _CHUNKS]
            screening = await screen.screen("", [as_data(r.title, r.chunk.text) for r in part])
            for row, document in zip(part, screening.documents, strict=True):
                rule = (document.rule or "unnamed") if document.verdict == "block" else None
                found[verdict_key(row.chunk.chunk_id, row.title, row.chunk.text)] = rule
        return found

    def _all(self, statement: Forms) -> dict[str, str]:
        """What a statement finds for this version of the screen, as pairs."""
        if not self._side.is_made:
            return {}
        return dict(self._side.read(lambda db: db.rows(statement, self._version)))


def _form(document: DocumentInfo) -> str:
    """What the chunks of a document hang on: its version, and the way it was cut."""
    return f"{document.version} {document.chunking}"


def _left_out(why: str, named: Mapping[str, int]) -> str:
    """The line for the log that tells which documents lose how many passages, five of them by name. `named`: counts by id."""
    shown = ", ".join(f"{doc_id[:80]} ({count})" for doc_id, count in sorted(named.items())[:5])
    more = f" and {len(named) - 5} more" if len(named) > 5 else ""
    return f"{why}: {shown}{more}"
