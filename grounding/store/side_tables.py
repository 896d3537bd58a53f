"""Small data beside the knowledge base in PostgreSQL, in tables that its owner makes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from sqlalchemy import Connection

from grounding.database.postgres import RETRIES_S, Postgres, retried, told
from grounding.database.schema import SchemaPart, refuse_other
from grounding.store import dialects

T = TypeVar("T")
_AT_ONCE = (0.0,)
"""Who waits for a turn tries once more, as the server may have ended a session that nobody used, and no longer."""

_PAGE = 200
"""Rows that come at a time where all would be too many."""


class TableRows:
    """Rows by a connection, as a `grounding.store.side.SideRows`."""

    def __init__(self, db: Connection) -> None:
        self._db = db

    def rows(self, statement: Mapping[str, str], *values: Any) -> list[tuple[Any, ...]]:
        """What a statement finds."""
        found = self._db.exec_driver_sql(statement["postgresql"], dialects.stored(values, "postgresql"))
        return [tuple(row) for row in found] if found.returns_rows else []

    def stream(self, statement: Mapping[str, str]) -> Iterator[tuple[Any, ...]]:
        """What a statement finds, one after the other."""
        found = self._db.exec_driver_sql(statement["postgresql"], execution_options={"yield_per": _PAGE})
        return (tuple(row) for row in found)

    def each(self, statement: Mapping[str, str], rows: Iterable[Sequence[Any]]) -> None:
        """Runs a statement for each of `rows`."""
        if many := [dialects.stored(row, "postgresql") for row in rows]:
            self._db.exec_driver_sql(statement["postgresql"], many)


class SideTables:
    """The tables of `part` in the schema of `database`, as a `grounding.store.side.Side`."""

    is_shared = True
    is_made = True

    def __init__(self, database: Postgres, part: SchemaPart, what: str, rewritten: tuple[str, ...] = ()) -> None:
        self._database, self._part, self._what, self._rewritten = database, part, what, rewritten
        self._known = False

    def look(self, work: Callable[[TableRows], T]) -> T:
        """What `work` finds in one snapshot. Raises StoreError."""
        return self._read(work, _AT_ONCE)

    def read(self, work: Callable[[TableRows], T]) -> T:
        """What `work` finds in one snapshot; in another where the connection was lost. Raises StoreError."""
        return self._read(work, RETRIES_S)

    def write(self, work: Callable[[TableRows], T]) -> T:
        """What `work` returns, done in one transaction. Raises StoreError; ConnectionLost where nobody knows whether it is stored."""
        with told(self._what):
            return self._database.run(lambda db: work(self._rows(db)), lock=self._part.name)

    def discard(self) -> None:
        """Nothing: what is damaged is the database's."""

    def _read(self, work: Callable[[TableRows], T], waits: tuple[float, ...]) -> T:
        def once() -> T:
            with told(self._what), self._database.reading(*self._rewritten) as db:
                return work(self._rows(db))

        return retried(once, waits)

    def _rows(self, db: Connection) -> TableRows:
        if not self._known:
            refuse_other(db, self._part)
            self._known = True
        return TableRows(db)
