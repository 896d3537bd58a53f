"""Takes tables along from one place to another: files of SQLite or a PostgreSQL schema, in either direction.

What has arrived is committed in parts, in one order, so that whoever was stopped goes on behind the last of them. Nobody may change either place meanwhile: where the
rows come from triggers refuse it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Protocol

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from grounding.database.postgres import Postgres, copy_in, told
from grounding.database.schema import refuse_another_copy
from grounding.database.sqlite import engine_for, told_by_trigger
from grounding.database.tables import KeptTable
from grounding.errors import StoreError
from grounding.records import OnProgress, Progress

BATCH = 2_000
"""Rows that are committed together: of entries of the ledger some 6 MB."""
_PRAGMAS = ("journal_mode=WAL", "synchronous=FULL")
_WAIT_S = 15.0
_WHAT = "the database"
Row = Sequence[Any]


class CopiedPlace(Protocol):
    """A place that tables are taken from or to. Whatever it raises is a StoreError of one line."""

    is_shared: bool
    """True for PostgreSQL."""

    def count(self, table: KeptTable) -> int:
        """How many rows of a table there are, of those that are taken along; 0 where there is no such table."""
        ...

    def rows(self, table: KeptTable, after: int) -> Iterator[list[Row]]:
        """Those rows behind the first so many, in parts."""
        ...

    def add(self, table: KeptTable, rows: Sequence[Row]) -> None:
        """Adds rows, durably, all or none."""
        ...

    def settle(self, table: KeptTable) -> None:
        """Numbers that are given from now on come behind those that arrived."""
        ...

    def shut(self, tables: Iterable[KeptTable], why: str) -> None:
        """Whoever changes one of these is refused from now on, and told `why`; this can be done again."""
        ...

    def open_again(self, tables: Iterable[KeptTable]) -> bool:
        """Nobody is refused any longer. False if nobody was."""
        ...

    def close(self) -> None:
        """Closes the connections."""
        ...


def is_taken(table: KeptTable, source: CopiedPlace, target: CopiedPlace) -> bool:
    """False for a table that one of the two has not, and which holds nothing that the other needs."""
    return not table.shared_alone or (source.is_shared and target.is_shared)


def copy_table(table: KeptTable, source: CopiedPlace, target: CopiedPlace, on_progress: OnProgress) -> int:
    """Takes along what has not arrived yet; how many rows there are at both ends. Raises StoreError, also where the two do not have as many then."""
    total, done = source.count(table), target.count(table)
    on_progress(Progress(table.name, done, total))
    for rows in source.rows(table, done):
        target.add(table, rows)
        done += len(rows)
        on_progress(Progress(table.name, done, total))
    target.settle(table)
    there = target.count(table)
    if (source.count(table), there) != (total, total):
        raise StoreError(f"the copy is not whole: of {table.name} {there} rows arrived of {total}")
    return total


class FileTables:
    """The tables of a SQLite file that is there, as a `CopiedPlace`. `what`: what a person calls it."""

    is_shared = False

    def __init__(self, path: Path, what: str) -> None:
        self._what = what
        self._engine = engine_for(path, _PRAGMAS, _WAIT_S)

    def count(self, table: KeptTable) -> int:
        there = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
        with _told(self._what), self._engine.connect() as db:
            if db.exec_driver_sql(there, (table.file_name,)).scalar() is None:
                return 0
            return int(db.exec_driver_sql(_count(table, table.file_name)).scalar_one())

    def rows(self, table: KeptTable, after: int) -> Iterator[list[Row]]:
        found = _select(table, table.file_name, "rowid", f"LIMIT -1 OFFSET {after}")
        with _told(self._what), closing(self._engine.raw_connection()) as db, closing(db.cursor()) as cursor:
            cursor.execute(found)
            while part := cursor.fetchmany(BATCH):
                yield list(part)

    def add(self, table: KeptTable, rows: Sequence[Row]) -> None:
        columns = [*table.columns.split(), *(name for name, _ in table.made)]
        made = tuple(value for _, value in table.made)
        statement = f'INSERT INTO "{table.file_name}" ({_quoted(columns)}) VALUES ({", ".join("?" for _ in columns)})'  # noqa: S608 - names of ours
        with _told(self._what), self._engine.begin() as db:
            db.exec_driver_sql(statement, [(*row, *made) for row in rows])

    def settle(self, table: KeptTable) -> None:
        """Nothing: a file gives numbers behind the highest that it has."""

    def shut(self, tables: Iterable[KeptTable], why: str) -> None:
        said = why.replace("'", "''")
        with _told(self._what), self._engine.begin() as db:
            for name, trigger, event in _triggers(tables):
                db.exec_driver_sql(f'DROP TRIGGER IF EXISTS "{trigger}"')
                db.exec_driver_sql(
                    f'CREATE TRIGGER "{trigger}" BEFORE {event} ON "{name}" BEGIN SELECT RAISE(ABORT, \'{said}\'); END'
                )

    def open_again(self, tables: Iterable[KeptTable]) -> bool:
        with _told(self._what), self._engine.begin() as db:
            there = set(db.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'trigger'").scalars())
            ours = [trigger for _, trigger, _ in _triggers(tables) if trigger in there]
            for trigger in ours:
                db.exec_driver_sql(f'DROP TRIGGER "{trigger}"')
        return bool(ours)

    def close(self) -> None:
        self._engine.dispose()


class SharedTables:
    """The tables in the schema of `database`, as a `CopiedPlace`, for their owner. `holder`: of the copy that adds to them, so that of two one is refused."""

    is_shared = True

    def __init__(self, database: Postgres, holder: str | None = None) -> None:
        self._database = database
        self._holder = holder

    def count(self, table: KeptTable) -> int:
        def work(db: Connection) -> int:
            there = f"SELECT to_regclass(quote_ident(current_schema()) || '.{table.name}')"
            if db.exec_driver_sql(there).scalar() is None:
                return 0
            return int(db.exec_driver_sql(_count(table, table.name).replace("%", "%%")).scalar_one())

        with told(_WHAT):
            return self._database.run(work)

    def rows(self, table: KeptTable, after: int) -> Iterator[list[Row]]:
        found = _select(table, table.name, "came", f"OFFSET {after}").replace("%", "%%")
        with told(_WHAT), self._database.reading() as db:
            for part in db.exec_driver_sql(found, execution_options={"yield_per": BATCH}).partitions(BATCH):
                yield [tuple(row) for row in part]

    def add(self, table: KeptTable, rows: Sequence[Row]) -> None:
        columns = _quoted(table.columns.split())

        def work(db: Connection) -> None:
            if self._holder is not None:
                refuse_another_copy(db, self._holder)
            copy_in(db, table.name, columns, rows)

        with told(_WHAT):
            self._database.run(work)

    def settle(self, table: KeptTable) -> None:
        if table.numbered is None:
            return
        highest = f"SELECT setval(pg_get_serial_sequence('{table.name}', '{table.numbered}'), max({table.numbered})) FROM {table.name} HAVING count(*) > 0"  # noqa: S608 - names of ours
        with told(_WHAT):
            self._database.run(lambda db: db.exec_driver_sql(highest))

    def shut(self, tables: Iterable[KeptTable], why: str) -> None:
        said = why.replace("'", "''").replace("%", "%%")

        def work(db: Connection) -> None:
            db.exec_driver_sql(
                "CREATE OR REPLACE FUNCTION attest_moved() RETURNS trigger LANGUAGE plpgsql AS "
                f"$of$ BEGIN RAISE EXCEPTION USING MESSAGE = '{said}'; END $of$"
            )
            for table in tables:
                db.exec_driver_sql(
                    f"CREATE OR REPLACE TRIGGER attest_moved BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON {table.name} "
                    "FOR EACH STATEMENT EXECUTE FUNCTION attest_moved()"
                )

        with told(_WHAT):
            self._database.run(work)

    def open_again(self, tables: Iterable[KeptTable]) -> bool:  # noqa: ARG002
        def work(db: Connection) -> bool:
            there = (
                "SELECT 1 FROM pg_proc WHERE proname = 'attest_moved' AND pronamespace = current_schema()::regnamespace"
            )
            found = db.exec_driver_sql(there).scalar() is not None
            if found:
                db.exec_driver_sql("DROP FUNCTION attest_moved() CASCADE")
            return found

        with told(_WHAT):
            return self._database.run(work)

    def close(self) -> None:
        self._database.close()


@contextmanager
def _told(what: str) -> Iterator[None]:
    """Raises StoreError, on one line, for whatever SQLite or the disk says."""
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error, OSError) as error:
        raised = getattr(error, "orig", None) or error
        said = str(raised)
        why = told_by_trigger(raised) or ("the disk is full" if "full" in said else said.splitlines()[0][:120])
        raise StoreError(f"{what} cannot be used: {why}") from None


def _triggers(tables: Iterable[KeptTable]) -> Iterator[tuple[str, str, str]]:
    """Table, name of the trigger and what it refuses."""
    for table in tables:
        for event in ("INSERT", "UPDATE", "DELETE"):
            yield table.file_name, f"attest_moved_{event.lower()}_{table.file_name}", event


def _count(table: KeptTable, name: str) -> str:
    return f'SELECT count(*) FROM "{name}" WHERE {table.only}'  # noqa: S608 - names of ours


def _select(table: KeptTable, name: str, came: str, rest: str) -> str:
    order = came if table.came else _quoted(table.order.split())
    return f'SELECT {_quoted(table.columns.split())} FROM "{name}" WHERE {table.only} ORDER BY {order} {rest}'  # noqa: S608 - names of ours


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
