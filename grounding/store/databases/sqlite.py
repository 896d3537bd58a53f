"""Connections to the SQLite file of the store: for reading and writing, or for reading beside whoever writes.

The only module that knows pragmas, the number of the file's schema, how long a busy file is waited for, and what is said of a file that cannot
be used.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import DatabaseError, OperationalError

from grounding.database.sqlite import told_by_trigger
from grounding.errors import InputError, StoreError
from grounding.ingest.readers.content_types import MAIL
from grounding.store.meta import Meta
from grounding.store.notes import FolderNotes
from grounding.store.outbox import OUTBOX
from grounding.store.runs import FILE_TABLES
from grounding.store.tables import CHANGES, CHUNKS, DOCUMENTS, META, METADATA, SCHEMA, VECTORS, VERSIONS

T = TypeVar("T")
_BUSY_S = 30
_TABLES = [META, VERSIONS, DOCUMENTS, CHUNKS, VECTORS, CHANGES, OUTBOX, *FILE_TABLES]
_OLDER = ("1", "2", "3", "4")
"""Forms that are brought to this one when they are opened."""
_PRAGMAS = ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON", "cache_size=-16000")


class StoreFile:
    """The store's file at `path`, created if it is not there, as a `StoreDatabase`. Safe for many readers and one writer in threads and processes.

    Raises StoreError when it cannot be used, or has another schema.
    """

    notes: FolderNotes | None = None

    def __init__(self, path: Path) -> None:
        self.folder = path.parent
        path.parent.mkdir(parents=True, exist_ok=True)
        self._engine = sa.create_engine(
            f"sqlite:///{path}", connect_args={"timeout": _BUSY_S, "check_same_thread": False}
        )
        sa.event.listen(self._engine, "connect", _tell_pragmas)
        found = self._schema()
        if found in (None, *_OLDER):
            self._make_tables()
            found = self._schema()
        if found != str(SCHEMA):
            raise StoreError(
                f"the store has schema {found}, this program reads {SCHEMA}; ingest into a new ATTEST_HOME"
            )

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """Context manager with a connection to read by. Raises StoreError."""
        with _read_faults(), self._engine.connect() as db:
            yield db

    def read(self, work: Callable[[sa.Connection], T]) -> T:
        """What `work` finds. Raises StoreError."""
        with self.reading() as db:
            return work(db)

    def ask(self, question: Callable[[sa.Connection], T]) -> T:
        """What `question` finds. Raises StoreError."""
        return self.read(question)

    def write(self, work: Callable[[sa.Connection], T]) -> T:
        """What `work` returns, done in one write transaction. Raises StoreError."""
        with self.writing() as db:
            return work(db)

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """Context manager with one write transaction, the writer from its first look on: a digest that is read is not overtaken by
        another's. Raises StoreError.
        """
        try:
            with self._engine.begin() as db:
                db.exec_driver_sql("BEGIN IMMEDIATE")
                yield db
        except DatabaseError as error:
            if moved := told_by_trigger(error.orig):
                raise StoreError(f"the store cannot be written: {moved}") from error
            raise StoreError(f"the store cannot be written ({type(error.orig).__name__}: {error.orig})") from error

    def refuse_another(self) -> None:
        """Nothing: whoever puts another file in its place stops those who have it open."""

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def _schema(self) -> str | None:
        """Version number of the tables; None if there are none yet. Opening a store that is there waits for no writer."""
        try:
            with self._engine.connect() as db:
                return Meta(db).value("schema")
        except OperationalError:
            return None
        except DatabaseError as error:
            raise _unreadable(error) from error

    def _make_tables(self) -> None:
        """Create the tables, or bring older ones to this form. Two programs may open a new home at once: whoever loses the race finds the tables made."""
        for last in (False, False, True):
            try:
                with self.writing() as db:
                    _extend(db)
                    METADATA.create_all(db, tables=_TABLES)  # those that were added are right when empty
                    Meta(db).put("schema", str(SCHEMA))
            except StoreError:
                if last:
                    raise
                time.sleep(0.1)
            else:
                return


class ReadOnlyStoreFile:
    """The store's file at `path` as a `StoreLook`: never created, and changed only to bring it to this program's form; opened anew for each use."""

    def __init__(self, path: Path) -> None:
        if _is_older(path):
            StoreFile(path).close()

        def connect() -> sqlite3.Connection:
            return sqlite3.connect(path.resolve().as_uri() + "?mode=ro", uri=True, timeout=_BUSY_S)

        self._engine = sa.create_engine("sqlite://", creator=connect, poolclass=sa.NullPool)

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """Context manager with a connection to read by. Raises StoreError, also if the file is not there."""
        with _read_faults(), self._engine.connect() as db:
            yield db

    def read(self, work: Callable[[sa.Connection], T]) -> T:
        """What `work` finds. Raises StoreError, also if the file is not there."""
        with self.reading() as db:
            return work(db)

    def ask(self, question: Callable[[sa.Connection], T]) -> T:
        """What `question` finds. Raises StoreError."""
        return self.read(question)


def _extend(db: sa.Connection) -> None:
    """Add to tables of an older form what this one has beyond them: `trust`, which of e-mails is inbound."""
    columns = {row[1] for row in db.exec_driver_sql("PRAGMA table_info(documents)")}
    if columns and "trust" not in columns:
        db.exec_driver_sql("ALTER TABLE documents ADD COLUMN trust TEXT NOT NULL DEFAULT 'ordinary'")
        db.exec_driver_sql("UPDATE documents SET trust = 'inbound' WHERE content_type = ?", (MAIL,))


def _is_older(path: Path) -> bool:
    """True for a file of an older form; what is not there, or cannot be read, is found out when it is used."""
    if not path.is_file():
        return False
    try:
        with closing(sqlite3.connect(path.resolve().as_uri() + "?mode=ro", uri=True, timeout=_BUSY_S)) as db:
            row = db.execute("SELECT value FROM meta WHERE name = 'schema'").fetchone()
    except sqlite3.Error:
        return False
    return row is not None and row[0] in _OLDER


def copy_whole(db: sa.Connection, beside: Path, target: Path) -> None:
    """Write a copy of the whole file behind `db`, as it stands at one moment, to `beside`, on its way to `target`.

    Raises InputError that names `target` if it cannot be written, StoreError if the copy is damaged.
    """
    source: Any = db.connection.driver_connection
    try:
        with closing(sqlite3.connect(beside)) as copy:
            source.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")
            if copy.execute("PRAGMA quick_check").fetchone() != ("ok",):
                raise StoreError("the copy of the store is damaged, and so is probably the store")
        with beside.open("rb") as written:
            os.fsync(written.fileno())
    except (sqlite3.Error, OSError) as error:  # the disk is full, for one
        raise InputError(f"{target}: cannot be written ({error})") from error


@contextmanager
def _read_faults() -> Iterator[None]:
    try:
        yield
    except DatabaseError as error:
        raise _unreadable(error) from error


def _unreadable(error: DatabaseError) -> StoreError:
    return StoreError(f"the store cannot be read ({type(error.orig).__name__}: {error.orig})")


def _tell_pragmas(connection: Any, _record: object) -> None:
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")
