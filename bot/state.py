"""The server's small database: what came in, what was said, what was sent; also who may read the reviewers' pages. One file, `state.db`, mode 0600.

Blocking calls run in a thread. Every statement is portable SQL, so another database takes only another URL.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    Float,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    create_engine,
    delete,
    event,
    insert,
    inspect,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from grounding.errors import StoreError

T = TypeVar("T")
BUSY_S = 10.0
"""Seconds to wait for others that use the database."""
FLUSH_MS = 2_000
"""Milliseconds to wait for whoever reads an older state, when the log is to be emptied: nobody can write meanwhile."""

metadata = MetaData()

inbox = Table(
    "inbox",
    metadata,
    Column("channel", String(64), primary_key=True),
    Column("conversation", String(512), primary_key=True),
    Column("activity", String(512), primary_key=True),
    Column("status", String(16), nullable=False, index=True),
    Column("attempts", Integer, nullable=False),
    Column("lease_until", Float, nullable=False),
    Column("received_at", Float, nullable=False, index=True),
    Column("body", Text),
)
turns = Table(
    "turns",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("channel", String(64), nullable=False, index=True),
    Column("conversation", String(512), nullable=False, index=True),
    Column("role", String(16), nullable=False),
    Column("text", Text, nullable=False),
    Column("at", Float, nullable=False, index=True),
    Column("activity", String(512)),
)
sent = Table(
    "sent",
    metadata,
    Column("channel", String(64), primary_key=True),
    Column("conversation", String(512), primary_key=True),
    Column("activity", String(512), primary_key=True),
    Column("entry_id", String(64), nullable=False),
    Column("at", Float, nullable=False, index=True),
)

undelivered = Table(
    "undelivered",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("channel", String(64), nullable=False, index=True),
    Column("conversation", String(512), nullable=False, index=True),
    Column("activity", String(512), nullable=False),
    Column("body", Text, nullable=False),
    Column("since", Float, nullable=False),
    Column("due", Float, nullable=False, index=True),
    Column("tries", Integer, nullable=False),
)
sweeps = Table("sweeps", metadata, Column("name", String(32), primary_key=True), Column("at", Float, nullable=False))
"""When work that is due once in a while was last begun, by whichever process."""


class Conflict(StoreError):
    """A row with this key is there already."""


class State:
    """An open state database. `run` does one transaction in a thread; everything it raises is a StoreError.

    `busy_s`: seconds to wait for others that use it.
    """

    def __init__(self, path: Path, *, busy_s: float = BUSY_S) -> None:
        self._path = path
        self._busy_s = busy_s
        self._engine: Engine | None = None

    async def open(self) -> None:
        """Create the file and its tables where they are missing. Raises StoreError."""
        await asyncio.to_thread(self._open)

    async def close(self) -> None:
        if self._engine is not None:
            engine, self._engine = self._engine, None
            await asyncio.to_thread(engine.dispose)

    async def run(self, work: Callable[[Connection], T]) -> T:
        return await asyncio.to_thread(self._run, work)

    async def flush(self) -> bool:
        """Fold the write-ahead log into the file and empty it, so that deleted text does not live on there; False if somebody reads an older state. Raises StoreError."""
        return await asyncio.to_thread(self._flush)

    async def claim(self, name: str, now: float, every_s: float) -> bool:
        """True for the one caller, of all processes, that is to do what is due every so many seconds. Raises StoreError."""

        def work(connection: Connection) -> bool:
            due = update(sweeps).where(sweeps.c.name == name, sweeps.c.at <= now - every_s).values(at=now)
            if connection.execute(due).rowcount:
                return True
            if connection.execute(select(sweeps.c.at).where(sweeps.c.name == name)).first() is not None:
                return False
            connection.execute(insert(sweeps).values(name=name, at=now))
            return True

        try:
            return await self.run(work)
        except Conflict:  # another was first
            return False

    async def unclaim(self, name: str) -> None:
        """What was claimed is due again, because it was not done. Raises StoreError."""
        await self.run(lambda connection: connection.execute(delete(sweeps).where(sweeps.c.name == name)))

    def _open(self) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # Only where it is missing: closing a file drops the locks that this process has on it, also those of other connections.
            with suppress(FileExistsError):
                os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            engine = create_engine(f"sqlite:///{self._path}", connect_args={"timeout": self._busy_s})
            event.listen(engine, "connect", _prepare)
            try:
                _make(engine)
            except SQLAlchemyError:  # another worker of this server made the tables at the same moment
                _make(engine)
        except (SQLAlchemyError, sqlite3.Error, OSError) as error:
            raise StoreError(f"state.db cannot be opened: {_why(error)}") from error
        self._engine = engine

    def _flush(self) -> bool:
        if self._engine is None:
            raise StoreError("state.db is closed")
        try:
            with self._engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
                usual = connection.exec_driver_sql("PRAGMA busy_timeout").scalar_one()
                connection.exec_driver_sql(f"PRAGMA busy_timeout={min(usual, FLUSH_MS)}")
                done = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").first()
                connection.exec_driver_sql(f"PRAGMA busy_timeout={usual}")
        except (SQLAlchemyError, sqlite3.Error) as error:  # the second where a connection is made ready
            raise StoreError(f"state.db cannot be used: {_why(error)}") from error
        return done is not None and not done[0]

    def _run(self, work: Callable[[Connection], T]) -> T:
        if self._engine is None:
            raise StoreError("state.db is closed")
        try:
            with self._engine.begin() as connection:
                return work(connection)
        except IntegrityError:
            raise Conflict("state.db has this row already") from None
        except (SQLAlchemyError, sqlite3.Error) as error:  # the second where a connection is made ready
            raise StoreError(f"state.db cannot be used: {_why(error)}") from error


def _why(error: Exception) -> str:
    """What is wrong, in words where an administrator can mend it; nothing of a statement or a row."""
    said = str(error.__cause__ or error)
    return "the disk is full" if "disk is full" in said else type(error).__name__


def _make(engine: Engine) -> None:
    """Tables that are missing, and the column that a file of an older program has not."""
    metadata.create_all(engine)
    if turns.c.activity.name not in {column["name"] for column in inspect(engine).get_columns(turns.name)}:
        with engine.begin() as connection:
            connection.exec_driver_sql(f"ALTER TABLE {turns.name} ADD COLUMN {turns.c.activity.name} VARCHAR(512)")


def _prepare(connection: Any, _: Any) -> None:
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute("PRAGMA secure_delete=ON")
