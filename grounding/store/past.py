"""What is no longer found: documents that are out, earlier versions; and a copy of the whole store while it is in use."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from grounding.errors import InputError, StoreError
from grounding.ingest.history import Tombstone


class StorePast:
    """The past of the store in the file `path`, read beside whoever writes.

    Raises InputError if there is no store yet, StoreError if it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def tombstones(self) -> tuple[Tombstone, ...]:
        """Every document that is out, by id."""
        query = (
            "SELECT doc_id, title, version, root, groups, pulled, stamp FROM documents WHERE NOT live ORDER BY doc_id"
        )
        with self._reading() as db:
            return tuple(
                Tombstone(doc_id, title, version, root, _groups(groups), bool(pulled), stamp)
                for doc_id, title, version, root, groups, pulled, stamp in db.execute(query)
            )

    def tombstone(self, doc_id: str) -> Tombstone | None:
        """The document `doc_id` if it is out."""
        return next((t for t in self.tombstones() if t.doc_id == doc_id), None)

    def versions(self, doc_id: str) -> tuple[str, ...]:
        """Versions that are kept of a document, in the order in which they first came in."""
        query = "SELECT version FROM versions WHERE doc_id = ? ORDER BY rowid"
        with self._reading() as db:
            return tuple(version for (version,) in db.execute(query, (doc_id,)))

    def backup(self, target: Path) -> int:
        """A copy of the store at one moment, whole, whoever writes meanwhile; returns its bytes. Readable by its owner only.

        Raises InputError for a target that cannot be written or is there already; then nothing is left of the copy.
        """
        if target.exists():
            raise InputError(f"{target}: is there already; allowed: a new file")
        beside = target.with_name(f".{target.name}.{os.getpid()}")
        try:
            os.close(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except OSError as error:
            raise InputError(f"{target}: cannot be written ({error.strerror})") from None
        try:
            with self._reading() as db:
                _copy(db, beside, target)
            beside.rename(target)
        finally:
            beside.unlink(missing_ok=True)
        return target.stat().st_size

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        if not self._path.exists():
            raise InputError("there is no knowledge base yet; `attest ingest PATH` makes one")
        try:
            with closing(sqlite3.connect(self._path.resolve().as_uri() + "?mode=ro", uri=True, timeout=30)) as db:
                db.execute("SELECT 1 FROM documents LIMIT 1")
                yield db
        except sqlite3.Error as error:
            raise StoreError(f"the store cannot be read ({type(error).__name__}: {error})") from error


def _copy(db: sqlite3.Connection, beside: Path, target: Path) -> None:
    try:
        with closing(sqlite3.connect(beside)) as copy:
            db.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")
            if copy.execute("PRAGMA quick_check").fetchone() != ("ok",):
                raise StoreError("the copy of the store is damaged, and so is probably the store")
        with beside.open("rb") as written:
            os.fsync(written.fileno())
    except (sqlite3.Error, OSError) as error:  # the disk is full, for one
        raise InputError(f"{target}: cannot be written ({error})") from error


def _groups(value: str | None) -> tuple[str, ...] | None:
    return None if value is None else tuple(json.loads(value))
