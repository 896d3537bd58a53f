"""The server's small database: what came in, what was said, what was sent; also who may read the reviewers' pages. One file, `state.db`, mode 0600; or PostgreSQL,
whose tables `bot.state_schema` has.

Blocking calls run in a thread. Every statement is of SQL that both take.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeVar

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Engine,
    Float,
    Integer,
    MetaData,
    String,
    Table,
    delete,
    insert,
    inspect,
    literal,
    select,
    update,
)
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError
from sqlalchemy.schema import CreateColumn

from bot.state_schema import PART
from grounding.database.postgres import CLOCK, LOCKED, NOW, Postgres, state_of, told
from grounding.database.schema import refuse_other
from grounding.database.sqlite import engine_for, flush, make_private, told_by_trigger
from grounding.database.text import AnyString, AnyText
from grounding.errors import StoreError

T = TypeVar("T")
BUSY_S = 10.0
"""Seconds to wait for others that use the database."""
FLUSH_S = 2.0
"""Seconds to wait for whoever reads an older state, when what was deleted is to go: nobody can write meanwhile."""
_PRAGMAS = ("journal_mode=WAL", "synchronous=NORMAL", "secure_delete=ON")

metadata = MetaData()

inbox = Table(
    "inbox",
    metadata,
    Column("channel", AnyString(64), primary_key=True),
    Column("conversation", AnyString(512), primary_key=True),
    Column("activity", AnyString(512), primary_key=True),
    Column("status", String(16), nullable=False, index=True),
    Column("attempts", Integer, nullable=False),
    Column("deaths", Integer, nullable=False, server_default="0"),
    Column("begun", Integer, nullable=False, server_default="0"),
    Column("lease_until", Float, nullable=False),
    Column("received_at", Float, nullable=False, index=True),
    Column("body", AnyText),
)
turns = Table(
    "turns",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("channel", AnyString(64), nullable=False, index=True),
    Column("conversation", AnyString(512), nullable=False, index=True),
    Column("role", String(16), nullable=False),
    Column("text", AnyText, nullable=False),
    Column("at", Float, nullable=False, index=True),
    Column("activity", AnyString(512)),
)
sent = Table(
    "sent",
    metadata,
    Column("channel", AnyString(64), primary_key=True),
    Column("conversation", AnyString(512), primary_key=True),
    Column("activity", AnyString(512), primary_key=True),
    Column("entry_id", AnyString(64), nullable=False),
    Column("at", Float, nullable=False, index=True),
    Column("asked", AnyString(512)),
)

undelivered = Table(
    "undelivered",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("channel", AnyString(64), nullable=False, index=True),
    Column("conversation", AnyString(512), nullable=False, index=True),
    Column("activity", AnyString(512), nullable=False),
    Column("body", AnyText, nullable=False),
    Column("since", Float, nullable=False),
    Column("due", Float, nullable=False, index=True),
    Column("tries", Integer, nullable=False),
)
sweeps = Table("sweeps", metadata, Column("name", String(32), primary_key=True), Column("at", Float, nullable=False))
"""When work that is due once in a while was last begun, by whichever process."""
leases = Table(
    "leases",
    metadata,
    Column("name", String(32), primary_key=True),
    Column("holder", String(64), nullable=False),
    Column("until", Float, nullable=False),
    Column("said", AnyText),
)
"""Work that one process at a time does for all, until when it has it, and what it found last."""
workers = Table(
    "workers",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("name", String(64), nullable=False),
    Column("seen", Float, nullable=False),
    Column("pool", Integer, nullable=False),
    Column("configuration", AnyText, nullable=False),
)
"""Processes that serve, when each was last seen, and digests of its configuration."""
rates = Table(
    "rates", metadata, Column("caller", String(64), primary_key=True), Column("full_at", Float, nullable=False)
)
"""When the bucket of each caller is full again."""
_FILE_CLOCK = "((julianday('now') - 2440587.5) * 86400.0)"


class Conflict(StoreError):
    """A row with this key is there already."""


class _Place(Protocol):
    """Where the tables are."""

    def open(self) -> None: ...

    def close(self) -> None: ...

    def run(self, work: Callable[[Connection], T], lock: str | None) -> T: ...

    def ask(self, question: Callable[[Connection], T]) -> T: ...

    def write(self, say: Callable[[Connection], object], lock: str | None, repeatable: bool) -> None: ...

    def flush(self) -> bool: ...

    def now(self) -> ColumnElement[float]: ...

    @property
    def clock(self) -> str: ...


class State:
    """An open state database: the file `place`, or a PostgreSQL that workers share. `run` does one transaction in a thread; everything it raises is a StoreError.

    `busy_s`: seconds to wait for others that use the file.
    """

    def __init__(self, place: Path | Postgres, *, busy_s: float = BUSY_S) -> None:
        self._kept: _Place = _Shared(place) if isinstance(place, Postgres) else _File(place, busy_s)

    async def open(self) -> None:
        """Create the file and its tables where they are missing; of PostgreSQL its owner has. Raises StoreError."""
        await asyncio.to_thread(self._kept.open)

    async def close(self) -> None:
        await asyncio.to_thread(self._kept.close)

    async def run(self, work: Callable[[Connection], T], *, lock: str | None = None) -> T:
        """What `work` returns. `lock`: where workers share a database, the transaction holds the lock of that name; in a file the first write locks out all others. Raises StoreError."""
        return await asyncio.to_thread(self._kept.run, work, lock)

    async def ask(self, question: Callable[[Connection], T]) -> T:
        """What `question` finds, which says one statement and changes nothing. Raises StoreError."""
        return await asyncio.to_thread(self._kept.ask, question)

    async def write(
        self, say: Callable[[Connection], object], *, lock: str | None = None, repeatable: bool = False
    ) -> None:
        """Do what `say` says, statements whose results nobody reads, in one transaction; `lock` as of `run`. `repeatable`: to do them twice comes to the same. Raises StoreError."""
        await asyncio.to_thread(self._kept.write, say, lock, repeatable)

    async def flush(self) -> bool:
        """Take what was deleted out of the files too, the log of a file among them; False if somebody reads an older state. Raises StoreError."""
        return await asyncio.to_thread(self._kept.flush)

    def now(self) -> ColumnElement[float]:
        """The time in seconds since the epoch, for a statement: where workers share a database its clock, as theirs may differ."""
        return self._kept.now()

    @property
    def clock(self) -> str:
        """The same time as SQL, for a statement that is a text."""
        return self._kept.clock

    async def claim(self, name: str, every_s: float, now: float | None = None) -> bool:
        """True for the one caller, of all processes, that is to do what is due every so many seconds. `now`: the time, in the place of `State.now`. Raises StoreError."""
        at = self.now() if now is None else literal(now)

        def work(connection: Connection) -> bool:
            due = update(sweeps).where(sweeps.c.name == name, sweeps.c.at <= at - every_s).values(at=at)
            if connection.execute(due).rowcount:
                return True
            if connection.execute(select(sweeps.c.at).where(sweeps.c.name == name)).first() is not None:
                return False
            connection.execute(insert(sweeps).values(name=name, at=at))
            return True

        try:
            return await self.run(work)
        except Conflict:  # another was first
            return False

    async def unclaim(self, name: str) -> None:
        """What was claimed is due again, because it was not done. Raises StoreError."""
        await self.run(lambda connection: connection.execute(delete(sweeps).where(sweeps.c.name == name)))


class _File:
    def __init__(self, path: Path, busy_s: float) -> None:
        self._path = path
        self._busy_s = busy_s
        self._engine: Engine | None = None

    def open(self) -> None:
        try:
            make_private(self._path)
            engine = engine_for(self._path, _PRAGMAS, self._busy_s)
            try:
                _make(engine)
            except SQLAlchemyError:  # another worker of this server made the tables at the same moment
                _make(engine)
        except (SQLAlchemyError, sqlite3.Error, OSError) as error:
            raise StoreError(f"state.db cannot be opened: {_why(error)}") from error
        self._engine = engine

    def close(self) -> None:
        if self._engine is not None:
            engine, self._engine = self._engine, None
            engine.dispose()

    def run(self, work: Callable[[Connection], T], lock: str | None) -> T:  # noqa: ARG002
        try:
            with self._open_engine().begin() as connection:
                return work(connection)
        except IntegrityError as error:
            if moved := told_by_trigger(error.orig):
                raise StoreError(f"state.db cannot be used: {moved}") from None
            raise Conflict("state.db has this row already") from None
        except (SQLAlchemyError, sqlite3.Error) as error:  # the second where a connection is made ready
            raise StoreError(f"state.db cannot be used: {_why(error)}") from error

    def ask(self, question: Callable[[Connection], T]) -> T:
        return self.run(question, None)

    def write(self, say: Callable[[Connection], object], lock: str | None, repeatable: bool) -> None:  # noqa: ARG002
        self.run(say, lock)

    def flush(self) -> bool:
        try:
            return flush(self._open_engine(), FLUSH_S)
        except (SQLAlchemyError, sqlite3.Error) as error:
            raise StoreError(f"state.db cannot be used: {_why(error)}") from error

    def now(self) -> ColumnElement[float]:
        return literal(time.time())

    @property
    def clock(self) -> str:
        return _FILE_CLOCK

    def _open_engine(self) -> Engine:
        if self._engine is None:
            raise StoreError("state.db is closed")
        return self._engine


class _Shared:
    def __init__(self, database: Postgres) -> None:
        self._database = database

    def open(self) -> None:
        with told("the state of conversations"):
            self._database.run(lambda connection: refuse_other(connection, PART))

    def close(self) -> None:
        self._database.close()

    def run(self, work: Callable[[Connection], T], lock: str | None) -> T:
        with told("the state of conversations"):
            try:
                return self._database.run(work, lock=lock)
            except IntegrityError:
                raise Conflict("the state of conversations has this row already") from None

    def ask(self, question: Callable[[Connection], T]) -> T:
        with told("the state of conversations"):
            return self._database.ask(question)

    def write(self, say: Callable[[Connection], object], lock: str | None, repeatable: bool) -> None:
        with told("the state of conversations"):
            try:
                self._database.write(say, lock=lock, repeatable=repeatable)
            except IntegrityError:
                raise Conflict("the state of conversations has this row already") from None

    def flush(self) -> bool:
        try:
            self._database.run(lambda connection: connection.exec_driver_sql("SELECT attest_rewrite_state()"))
        except DBAPIError as error:
            if state_of(error) == LOCKED:
                return False
            with told("the state of conversations"):
                raise
        return True

    def now(self) -> ColumnElement[float]:
        return NOW

    @property
    def clock(self) -> str:
        return CLOCK


def _why(error: Exception) -> str:
    """What is wrong, in words where an administrator can mend it; nothing of a statement or a row."""
    said = str(error.__cause__ or error)
    return "the disk is full" if "disk is full" in said else type(error).__name__


def _make(engine: Engine) -> None:
    """Tables that are missing, and the columns that a file of an older program has not."""
    metadata.create_all(engine)
    for column in (turns.c.activity, inbox.c.deaths, inbox.c.begun, sent.c.asked):
        if column.name not in {there["name"] for there in inspect(engine).get_columns(column.table.name)}:
            with engine.begin() as connection:
                form = CreateColumn(column).compile(engine)
                connection.exec_driver_sql(f"ALTER TABLE {column.table.name} ADD COLUMN {form}")
