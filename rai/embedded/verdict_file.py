"""The file of the screen's verdicts on the chunks of the knowledge base, made at ingest and kept with the screen's version.

A verdict is kept by chunk id, which is a hash of the text, and title. Another screen, or another version of it, judges anew.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from grounding.errors import PromptBlocked, ServiceError, StoreError, WorkError
from grounding.ports import Library
from grounding.records import Chunk, Progress
from grounding.store.side_file import opened, read_only
from rai.ports import PromptScreen
from rai.screening.decision import as_data
from rai.screening.retriever import verdict_key

LOG = logging.getLogger("attest")
_TABLES = """
CREATE TABLE IF NOT EXISTS screen (version TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS judged (doc_id TEXT PRIMARY KEY, version TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS verdict (key TEXT PRIMARY KEY, rule TEXT) WITHOUT ROWID;
"""
_DOCUMENTS = 50
"""Most documents whose chunks are read at a time."""
_CHUNKS = 64
"""Most chunks that are screened in one call."""


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
    """The screen's verdicts in one SQLite file; safe for many readers and writers in several processes.

    `version`: of the screen; verdicts of another are none.
    """

    def __init__(self, path: Path, version: str) -> None:
        self._path = path
        self._version = version

    def _is_current(self, db: sqlite3.Connection) -> bool:
        """True if the verdicts in the file are of this version of the screen."""
        return db.execute("SELECT 1 FROM screen WHERE version = ?", (self._version,)).fetchone() is not None

    def known(self, keys: Sequence[str]) -> dict[str, str | None]:
        """The verdicts on those of `keys` that this screen has judged: the rule that leaves the chunk out, or None. Never raises."""
        if not self._path.exists():
            return {}
        marks = ",".join("?" * len(keys))
        try:
            with read_only(self._path) as db:
                if not self._is_current(db):
                    return {}
                return dict(db.execute(f"SELECT key, rule FROM verdict WHERE key IN ({marks})", list(keys)))  # noqa: S608 - question marks
        except sqlite3.Error as error:
            LOG.warning("the screen's verdicts cannot be read (%s); passages are judged again", type(error).__name__)
            return {}

    def left_out(self) -> dict[str, str]:
        """The rule by the key of every chunk that this screen leaves out; also of texts that are no longer there. Raises StoreError."""
        if not self._path.exists():
            return {}
        with opened(self._path, _TABLES, "the file of the screen's verdicts") as db:
            if not self._is_current(db):
                return {}
            return dict(db.execute("SELECT key, rule FROM verdict WHERE rule IS NOT NULL").fetchall())

    def keep(self, verdicts: Mapping[str, str | None], documents: Mapping[str, str] | None = None) -> None:
        """Adds verdicts by key, and by id the versions of `documents` that are judged with them. Raises StoreError."""
        with opened(self._path, _TABLES, "the file of the screen's verdicts") as db:
            db.execute("BEGIN IMMEDIATE")
            if not self._is_current(db):
                for table in ("screen", "judged", "verdict"):
                    db.execute(f"DELETE FROM {table}")  # noqa: S608 - names of our own
                db.execute("INSERT INTO screen VALUES (?)", (self._version,))
            db.executemany("INSERT OR REPLACE INTO verdict VALUES (?, ?)", list(verdicts.items()))
            db.executemany("INSERT OR REPLACE INTO judged VALUES (?, ?)", list((documents or {}).items()))
            db.execute("COMMIT")

    async def follow(
        self,
        library: Library,
        chunks: Chunks,
        screen: PromptScreen,
        on_progress: Callable[[Progress], None] = lambda _at: None,
    ) -> int:
        """Judges the chunks of new and changed documents and keeps the verdicts; returns how many documents that were.

        What cannot be judged or written now is told in the log and judged when it is retrieved: nothing is stopped, nothing let through.
        """
        try:
            judged = await asyncio.to_thread(self._judged)
            named: dict[str, int] = {}
            new = [d for d in await library.documents() if judged.get(d.doc_id) != d.version]
            for at in range(0, len(new), _DOCUMENTS):
                part = {d.doc_id: d.version for d in new[at : at + _DOCUMENTS]}
                rows = await asyncio.to_thread(chunks.chunks_of, list(part))
                verdicts = await self._verdicts(rows, screen)
                await asyncio.to_thread(self.keep, verdicts, part)
                for row in rows:
                    if verdicts[verdict_key(row.chunk.chunk_id, row.title, row.chunk.text)]:
                        named[row.chunk.doc_id] = named.get(row.chunk.doc_id, 0) + 1
                on_progress(Progress("screen", min(at + _DOCUMENTS, len(new)), len(new)))
            if named:
                LOG.warning("%s", _left_out(named))
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

    def _judged(self) -> dict[str, str]:
        if not self._path.exists():
            return {}
        with opened(self._path, _TABLES, "the file of the screen's verdicts") as db:
            if not self._is_current(db):
                return {}
            return dict(db.execute("SELECT doc_id, version FROM judged").fetchall())


def _left_out(named: Mapping[str, int]) -> str:
    """The line for the log that tells which documents lose how many passages, five of them by name. `named`: counts by id."""
    shown = ", ".join(f"{doc_id[:80]} ({count})" for doc_id, count in sorted(named.items())[:5])
    more = f" and {len(named) - 5} more" if len(named) > 5 else ""
    return f"passages that give orders to the assistant are left out of every answer: {shown}{more}"
