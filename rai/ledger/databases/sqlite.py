"""The ledger in a SQLite file: locking, durability, triggers that refuse changes, and tables of two forms.

A store of form 1, as older programs made it, has no column for salts. It can be read as it is, and is brought to form 2 when it is opened to write.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, MetaData, UniqueConstraint, create_engine, event, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.pool import NullPool, StaticPool
from sqlalchemy.schema import CreateIndex

from grounding.database import sqlite
from grounding.errors import StoreError
from rai.ledger import sql
from rai.ledger.chain import SealedRow
from rai.ledger.databases.form import RecordedTurn

BUSY_SECONDS = 15.0
"""Seconds to wait for the write lock."""
FLUSH_SECONDS = 2.0
"""Seconds to wait for whoever reads an older state, when erased text is to go from the write-ahead log: no turn can be recorded meanwhile."""
LEAST_FREE = 1 << 20
"""Bytes of the disk that must be free for an entry to be written: one takes some tens of kilobytes, and the write-ahead log as many."""
_PRAGMAS = ("journal_mode=WAL", "synchronous=FULL", "secure_delete=ON", "foreign_keys=ON")
_SALT = "salt"
_NO_DELETE = """
        CREATE TRIGGER entries_no_delete BEFORE DELETE ON entries
        BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END"""
_TRIGGERS = {
    # the one change allowed: salt and body may be emptied right after the last entry, of kind `erase`, has named them
    "entries_no_update": """
        CREATE TRIGGER entries_no_update BEFORE UPDATE ON entries
        WHEN NOT (NEW.salt IS NULL AND NEW.body IS NULL AND NEW.seq IS OLD.seq AND NEW.entry_id IS OLD.entry_id
            AND NEW.at IS OLD.at AND NEW.kind IS OLD.kind AND NEW.digest IS OLD.digest AND NEW.prev IS OLD.prev
            AND NEW.mac IS OLD.mac AND EXISTS (
            SELECT 1 FROM entries e WHERE e.seq = (SELECT max(seq) FROM entries) AND e.kind = 'erase'
            AND e.seq > OLD.seq AND OLD.entry_id IN (SELECT value FROM json_each(e.body, '$.entry_ids'))))
        BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END""",
    "entries_no_delete": _NO_DELETE,
}
_TRIGGERS_1 = {
    "entries_no_update": """
        CREATE TRIGGER entries_no_update BEFORE UPDATE ON entries
        WHEN NOT (NEW.body IS NULL AND NEW.seq IS OLD.seq AND NEW.entry_id IS OLD.entry_id AND NEW.at IS OLD.at
            AND NEW.kind IS OLD.kind AND NEW.digest IS OLD.digest AND NEW.prev IS OLD.prev AND NEW.mac IS OLD.mac
            AND EXISTS (
            SELECT 1 FROM entries e WHERE e.kind = 'erase' AND e.seq > OLD.seq
            AND json_extract(e.body, '$.entry_id') = OLD.entry_id))
        BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END""",
    "entries_no_delete": _NO_DELETE,
}
"""Those of a store of form 1, which has no salts."""


class SqliteLedger:
    """The file at `path` as a `LedgerDatabase`: made if it is missing, or only read. `busy_s`: seconds to wait for the write lock."""

    makes_keys = True

    def __init__(self, path: Path, *, busy_s: float = BUSY_SECONDS, read_only: bool = False) -> None:
        self.place = str(path.resolve())
        self.exists = not read_only or path.exists()
        self._engine = reading_engine_for(path, busy_s) if read_only else engine_for(path, busy_s)
        self._writer = self._engine.execution_options(immediate=True)
        self._file = StoreFile(path)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        with self._engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        with self._writer.begin() as connection:
            self._file.refuse_another()
            yield connection
            self._file.refuse_another()  # what is committed to a file that nobody finds again would be lost

    @contextmanager
    def errors(self) -> Iterator[None]:
        with store_errors():
            yield

    def prepare(self, connection: Connection) -> list[str]:
        sql.METADATA.create_all(connection)
        reader = self.reader(connection)
        if reader.salted:
            for index in sql.INDEXES:
                index.create(connection, checkfirst=True)
        return guard(connection, salted=reader.salted)

    @contextmanager
    def make_empty(self) -> Iterator[Connection]:
        with self._engine.begin() as connection:
            self.prepare(connection)
            yield connection

    def reader(self, connection: Connection) -> sql.Reader:
        return sql.Reader(has_column(connection, "entries", _SALT))

    def bring_up(self, connection: Connection) -> None:
        bring_up(connection)
        guard(connection)

    def add(
        self,
        connection: Connection,
        rows: Sequence[SealedRow],
        turns: Sequence[RecordedTurn],  # noqa: ARG002
        *,
        last: bool = False,  # noqa: ARG002
    ) -> None:
        """The turns are not noted: the answer to a commit is never lost on the way from a file."""
        sql.insert_rows(connection, rows)

    def recorded(self, connection: Connection, turn: str, kind: str) -> str | None:  # noqa: ARG002
        return None

    def empty_bodies(self, connection: Connection, entry_ids: Sequence[str]) -> None:
        sql.empty_bodies(connection, entry_ids)

    def faults(self, connection: Connection, *, salted: bool, pages: bool) -> Iterator[str]:
        metadata = sql.METADATA if salted else sql.METADATA_1
        return faults(connection, metadata, statements(salted=salted), salted=salted, pages=pages)

    def damage(self, error: DBAPIError) -> str | None:
        return damage(str(error.orig))

    def refuse_another(self) -> None:
        self._file.refuse_another()

    def refuse_full(self, connection: Connection) -> None:
        if free_bytes(connection) < LEAST_FREE:
            raise StoreError("the ledger cannot be used: the disk is full")

    def flush(self, wait_s: float | None = None) -> bool:
        return sqlite.flush(self._engine, FLUSH_SECONDS if wait_s is None else wait_s)

    def close(self) -> None:
        self._engine.dispose()


class StoreFile:
    """The file that a store was opened as: a connection goes on with it after it was removed, or another was put in its place."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._was = _identity(path)

    def refuse_another(self) -> None:
        """Raises StoreError if the file at the path is no longer the one that was opened."""
        if _identity(self._path) != self._was:
            raise StoreError(
                "the ledger cannot be used: its file was removed or replaced while it was open; put it back and start again"
            )


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def engine_for(path: Path, busy_s: float = BUSY_SECONDS) -> Engine:
    """An engine on the SQLite file at `path`, which is created with mode 0600 if missing.

    WAL with synchronous=FULL: a commit is on the disk when it returns. `secure_delete` overwrites what an erasure
    empties. Transactions on a connection with the execution option `immediate` take the write lock at once.
    """
    sqlite.make_private(path, 0o700)
    engine = sqlite.engine_for(path, _PRAGMAS, busy_s)

    @event.listens_for(engine, "connect")
    def _connect(connection: Any, _record: Any) -> None:
        connection.isolation_level = None
        connection.text_factory = _text

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        immediate = connection.get_execution_options().get("immediate", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")

    return engine


def reading_engine_for(path: Path, busy_s: float = BUSY_SECONDS) -> Engine:
    """An engine that cannot write: on the file at `path`, or on an empty database in memory if there is no such file.

    The store and its write-ahead log stay as they are to the byte; beside a closed store SQLite leaves an empty log and its index.
    """
    if not path.exists():
        engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
    else:
        engine = create_engine("sqlite://", poolclass=NullPool, creator=lambda: _reading(path, busy_s))

        @event.listens_for(engine, "begin")
        def _begin(connection: Connection) -> None:
            connection.exec_driver_sql("BEGIN")

    return engine


def _reading(path: Path, busy_s: float) -> sqlite3.Connection:
    uri = f"{path.resolve().as_uri()}?mode=ro"
    try:
        return _connected(uri, busy_s)
    except sqlite3.OperationalError:
        log = path.with_name(f"{path.name}-wal")
        if os.access(path.parent, os.W_OK) or (log.exists() and log.stat().st_size):
            raise
    # A folder in which nothing can be made has no place for the log's index; without a log the file is all there is.
    return _connected(f"{uri}&immutable=1", busy_s)


def _connected(uri: str, busy_s: float) -> sqlite3.Connection:
    connection = sqlite3.connect(uri, uri=True, timeout=busy_s, check_same_thread=False, isolation_level=None)
    try:
        for pragma in ("query_only=ON", "trusted_schema=OFF", "cell_size_check=ON"):
            connection.execute(f"PRAGMA {pragma}")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error:
        connection.close()
        raise
    connection.text_factory = _text
    return connection


def _text(raw: bytes) -> str:
    # What is no UTF-8 must read as a change, not as a failure.
    return raw.decode("utf-8", "surrogateescape")


def guard(connection: Connection, *, salted: bool = True) -> list[str]:
    """Puts the triggers that refuse UPDATE and DELETE in place. Returns the names of those that were gone or not as they were made.

    `salted`: the store has salts, as form 2 has.
    """
    have, put = _of_type(connection, "trigger"), []
    for name, statement in _triggers(salted=salted).items():
        if have.get(name) != _squeeze(statement):
            if name in have:
                connection.execute(text(f"DROP TRIGGER {name}"))
            connection.execute(text(statement))
            put.append(name)
    return put


def unguard(connection: Connection) -> None:
    """Takes the triggers away, for others to be put in their place in the same transaction."""
    for name in _of_type(connection, "trigger").keys() & _TRIGGERS.keys():
        connection.execute(text(f"DROP TRIGGER {name}"))


def bring_up(connection: Connection) -> None:
    """Turns the tables of form 1 into those of form 2; the entries stay as they are."""
    unguard(connection)
    connection.execute(text("ALTER TABLE entries ADD COLUMN salt VARCHAR(64)"))
    for index in sql.INDEXES:
        index.create(connection)


@cache
def statements(*, salted: bool) -> Mapping[str, frozenset[str]]:
    """The statements that each table may have been made with, as SQLite keeps them: at once, or in form 1 and brought up."""
    found: dict[str, set[str]] = {}
    for brought_up in (False, True) if salted else (False,):
        engine = create_engine("sqlite://")
        with engine.begin() as connection:
            (sql.METADATA if salted and not brought_up else sql.METADATA_1).create_all(connection)
            if brought_up:
                bring_up(connection)
            for name in sql.METADATA.tables:
                found.setdefault(name, set()).add(statement_of(connection, name))
        engine.dispose()
    return {name: frozenset(made) for name, made in found.items()}


def faults(
    connection: Connection,
    metadata: MetaData,
    made: Mapping[str, Collection[str]],
    *,
    salted: bool = True,
    pages: bool = True,
) -> Iterator[str]:
    """What is in the store that this program did not make, or is not as it made it: tables, columns, triggers, views, indexes, and its pages.

    `made`: the statements that each table may have been made with. `pages` False leaves out the last, which reads the whole file.
    """
    yield from _foreign_or_gone(connection, metadata, salted=salted)
    for name, table in metadata.tables.items():
        if _columns(connection, name) != {c.name: (str(c.type), not c.nullable, c.primary_key) for c in table.columns}:
            yield f"changed: the columns of the table {name} are not as they were made"
        unique = {tuple(c.name for c in u.columns) for u in table.constraints if isinstance(u, UniqueConstraint)}
        if not unique <= _unique(connection, name):
            yield f"changed: the table {name} takes twice what may stand once"
        elif statement_of(connection, name) not in made[name]:
            yield f"changed: the table {name} is not as it was made: what it takes, or how it compares, is another"
    if not pages:
        return
    (first,) = connection.execute(text("PRAGMA integrity_check(1)")).first() or ("ok",)
    if first != "ok":
        yield f"changed: the store is damaged ({str(first).splitlines()[-1][:120]})"


def statement_of(connection: Connection, table: str) -> str:
    """The statement that made a table, as the store has it, but for its spaces."""
    found = connection.execute(
        text("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = :name"), {"name": table}
    )
    return _squeeze(str(found.scalar() or ""))


def damage(message: str) -> str | None:
    """What is wrong with the file, if a database's `message` says that it is not as it was written; None for any other trouble."""
    if "malformed" in message or "not a database" in message or "file format" in message:
        return "it is damaged"
    if "no such" in message or "has no column" in message:
        return "a table or column is gone"
    return None


def _foreign_or_gone(connection: Connection, metadata: MetaData, *, salted: bool) -> Iterator[str]:
    """What is there beside what this program makes, and what of that is not there or is another."""
    triggers = _triggers(salted=salted)
    indexes = {str(i.name): str(CreateIndex(i)) for t in metadata.tables.values() for i in t.indexes}
    named = (("trigger", "trigger {}, which refuses changes,", triggers), ("index", "index {}", indexes))
    for kind, what, made in named:
        have = _of_type(connection, kind)
        for name, statement in made.items():
            if name not in have:
                yield f"changed: the {what.format(name)} is gone"
            elif have[name] != _squeeze(statement):
                yield f"changed: the {what.format(name)} is not as it was made"
    found = connection.execute(text("SELECT type, name FROM sqlite_master ORDER BY type, name")).all()
    there = {(str(kind), str(name)) for kind, name in found}
    ours = {(kind, name) for kind, _, made in named for name in made} | {("table", name) for name in metadata.tables}
    of_sqlite = {(kind, name) for kind, name in there if kind in ("table", "index") and name.startswith("sqlite_")}
    for kind, name in sorted(there - of_sqlite - ours):
        yield f"changed: the store holds a foreign {kind}, {name[:60]!r}"


def has_column(connection: Connection, table: str, column: str) -> bool:
    """True if the table is there and has that column."""
    return column in _columns(connection, table)


def _columns(connection: Connection, table: str) -> dict[str, tuple[str, bool, bool]]:
    """Of each column its type, whether it must hold something, and whether it is the key."""
    rows = connection.execute(text(f"PRAGMA table_xinfo({table})"))
    return {str(name): (str(kind), bool(needed), bool(key)) for _, name, kind, needed, _, key, _ in rows}


def _unique(connection: Connection, table: str) -> set[tuple[str, ...]]:
    """The columns, of each index, that hold nothing twice."""
    found = connection.execute(
        text(
            'SELECT l.name, i.name FROM pragma_index_list(:made) l, pragma_index_info(l.name) i WHERE l."unique" ORDER BY l.name, i.seqno'
        ),
        {"made": table},
    )
    columns: dict[str, list[str]] = {}
    for index, column in found:
        columns.setdefault(str(index), []).append(str(column))
    return {tuple(held) for held in columns.values()}


def _triggers(*, salted: bool) -> dict[str, str]:
    return _TRIGGERS if salted else _TRIGGERS_1


def _of_type(connection: Connection, kind: str) -> dict[str, str]:
    """The statements that made what the store has of a kind, by name."""
    found = connection.execute(
        text("SELECT name, sql FROM sqlite_master WHERE type = :kind AND sql <> ''"), {"kind": kind}
    )
    return {str(name): _squeeze(str(made)) for name, made in found.all()}


def _squeeze(statement: str) -> str:
    return " ".join(statement.split())


def free_bytes(connection: Connection) -> int:
    """Bytes that are free where the store lies."""
    place = connection.execute(text("PRAGMA database_list")).first()
    return shutil.disk_usage(Path(str(place[2])).parent).free if place is not None and place[2] else 0


@contextmanager
def store_errors() -> Iterator[None]:
    """Raises StoreError, on one line and without the statement, for whatever the database or the disk says."""
    try:
        yield
    except DBAPIError as error:
        raise StoreError(f"the ledger cannot be used: {_plain(str(error.orig))}") from None
    except sqlite3.Error as error:  # as it is raised where a connection is made ready
        raise StoreError(f"the ledger cannot be used: {_plain(str(error))}") from None
    except (SQLAlchemyError, OSError, ValueError) as error:
        raise StoreError(f"the ledger cannot be used ({type(error).__name__})") from None


def _plain(message: str) -> str:
    if "locked" in message or "busy" in message:
        return "another process holds it locked"
    if "full" in message:
        return "the disk is full"
    if "disk I/O error" in message:  # so it is told too where the log's index cannot be made
        return "the disk is full, or cannot be read or written"
    if "malformed" in message or "not a database" in message:
        return "it is damaged"
    return message.splitlines()[0][:120]
