"""The list of names learnt from the documents (gazetteer), on disk: what each document taught, and the list that they make together.

`follow` compares the documents that were learnt from with those of the library and reads only what changed, so an
ingest, a removal and a killed run all end in the same list. A running server sees a new list at its next look-up; it
reads one number to know, and the list itself only when that changed. The file lies beside the store, in a folder that
only its owner may read, because restricted documents taught it (see `rai.claims.names.gazetteer` for what may leave it).
"""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from grounding.errors import StoreError
from grounding.ports import Library
from grounding.records import Document, DocumentInfo
from grounding.store.side_file import opened, read_only
from rai.claims.names.gazetteer import Learnt, combine, read_document
from rai.records import EntityType

LOG = logging.getLogger("attest")
FORM = 1
"""The version of the rules that learn; where the file has another, everything is learnt again."""
_TABLES = """
CREATE TABLE IF NOT EXISTS learnt (doc_id TEXT PRIMARY KEY, version TEXT NOT NULL, body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS list (form INTEGER NOT NULL, number INTEGER NOT NULL, names TEXT NOT NULL);
"""
_BATCH = 200
"""Most documents read at a time."""


@dataclass(slots=True)
class _Change:
    """Documents to learn from and documents to forget."""

    fresh: list[tuple[str, str, Learnt]] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)


class NameFile:
    """The learnt names in one SQLite file; safe for many readers and writers in several processes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._number = -1
        self._names: Mapping[str, EntityType] = {}

    @property
    def exists(self) -> bool:
        """True if there is a file, of whatever age."""
        return self._path.exists()

    def current(self) -> Mapping[str, EntityType]:
        """The type of each name by its normal form, as the newest `follow` of any process left it; empty before the first.

        Never raises: a list that cannot be read makes no name known.
        """
        with self._lock:
            try:
                self._refresh()
            except sqlite3.Error as error:
                LOG.warning(
                    "the list of names cannot be read (%s); names go by their shape alone", type(error).__name__
                )
            return self._names

    def _refresh(self) -> None:
        if not self._path.exists():
            return
        with read_only(self._path) as db:
            row = db.execute("SELECT number FROM list WHERE form = ?", (FORM,)).fetchone()
            if row is None or row[0] == self._number:
                return
            number, names = db.execute("SELECT number, names FROM list WHERE form = ?", (FORM,)).fetchone()
            self._names, self._number = json.loads(names), number

    async def follow(self, library: Library) -> int:
        """Learns the names of new and changed documents of `library` and forgets those that are gone; returns how many documents that were.

        A file that cannot be written is told in the log and stops nothing: names then go by their shape, and the next
        call does what this one could not.
        """
        try:
            return await self._follow(library)
        except StoreError as error:
            LOG.warning("%s", error)
            return 0

    async def learn_anew(self, library: Library) -> int:
        """Forgets everything and learns it again; as `follow` otherwise."""
        await asyncio.to_thread(self._path.unlink, missing_ok=True)
        return await self.follow(library)

    async def _follow(self, library: Library) -> int:
        known = await asyncio.to_thread(self._known)
        infos = {info.doc_id: info for info in await library.documents()}
        change = _Change(gone=[doc_id for doc_id in known or {} if doc_id not in infos])
        changed = [i for i in infos.values() if (known or {}).get(i.doc_id) != i.version]
        for at in range(0, len(changed), _BATCH):
            read = [(i, await library.document(i.doc_id, i.version)) for i in changed[at : at + _BATCH]]
            change.fresh += await asyncio.to_thread(_learn, read)
        if known is None or change.fresh or change.gone:
            await asyncio.to_thread(self._write, change, known is None)
        return len(change.fresh) + len(change.gone)

    def _known(self) -> dict[str, str] | None:
        """The version, by id, of each document that was learnt from; None if there is no list of this `FORM`."""
        if not self._path.exists():
            return None
        with opened(self._path, _TABLES, "the list of names") as db:
            if db.execute("SELECT 1 FROM list WHERE form = ?", (FORM,)).fetchone() is None:
                return None
            return dict(db.execute("SELECT doc_id, version FROM learnt").fetchall())

    def _write(self, change: _Change, anew: bool) -> None:
        with opened(self._path, _TABLES, "the list of names") as db:
            db.execute("BEGIN IMMEDIATE")
            if anew:
                db.execute("DELETE FROM learnt")
            db.executemany("DELETE FROM learnt WHERE doc_id = ?", [(doc_id,) for doc_id in change.gone])
            rows = [(doc_id, version, _body(learnt)) for doc_id, version, learnt in change.fresh]
            db.executemany("INSERT OR REPLACE INTO learnt (doc_id, version, body) VALUES (?, ?, ?)", rows)
            names = combine(_learnt(body) for (body,) in db.execute("SELECT body FROM learnt"))
            last = db.execute("SELECT max(number) FROM list").fetchone()[0] or 0
            db.execute("DELETE FROM list")
            db.execute("INSERT INTO list (form, number, names) VALUES (?, ?, ?)", (FORM, last + 1, json.dumps(names)))
            db.execute("COMMIT")


def _learn(read: list[tuple[DocumentInfo, Document | None]]) -> list[tuple[str, str, Learnt]]:
    return [(i.doc_id, i.version, read_document(d.title, d.text)) for i, d in read if d is not None]


def _body(learnt: Learnt) -> str:
    return json.dumps([sorted(learnt.names), " ".join(sorted(learnt.lower)), " ".join(sorted(learnt.inside))])


def _learnt(body: str) -> Learnt:
    names, lower, inside = json.loads(body)
    return Learnt(frozenset((n, k, s) for n, k, s in names), frozenset(lower.split()), frozenset(inside.split()))
