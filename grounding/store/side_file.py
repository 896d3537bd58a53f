"""Small SQLite files beside the knowledge base with data derived from it, each readable by its owner alone."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from grounding.database.sqlite import told_by_trigger
from grounding.errors import StoreError
from grounding.store import dialects

T = TypeVar("T")


def read_only(path: Path) -> closing[sqlite3.Connection]:
    """A connection to the file that reads it and makes none, to be used in a `with`. Raises sqlite3.Error, also if there is no file."""
    return closing(sqlite3.connect(path.resolve().as_uri() + "?mode=ro", uri=True, timeout=5))


@contextmanager
def opened(path: Path, tables: str, what: str, mend: str = "") -> Iterator[sqlite3.Connection]:
    """Context manager with a connection to the file at `path` with its `tables`, for reading and writing; created if it is not there.

    Raises StoreError that names `what` the file holds, and the remedy `mend`: to make it anew, unless told.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(path, timeout=30, isolation_level=None)) as db:
            path.chmod(0o600)
            db.executescript(tables)
            yield db
    except (sqlite3.Error, OSError) as error:
        if moved := told_by_trigger(error):
            raise StoreError(f"{what} cannot be written: {moved}") from error
        raise StoreError(
            f"{what} cannot be written ({type(error).__name__}); {mend or f'delete {path.name} and ingest again'}"
        ) from error


class FileRows:
    """Rows by a connection, as a `grounding.store.side.SideRows`."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def rows(self, statement: Mapping[str, str], *values: Any) -> list[tuple[Any, ...]]:
        """What a statement finds."""
        return self._db.execute(statement["sqlite"], dialects.stored(values, "sqlite")).fetchall()

    def stream(self, statement: Mapping[str, str]) -> Iterator[tuple[Any, ...]]:
        """What a statement finds, one after the other."""
        return self._db.execute(statement["sqlite"])

    def each(self, statement: Mapping[str, str], rows: Iterable[Sequence[Any]]) -> None:
        """Runs a statement for each of `rows`."""
        self._db.executemany(statement["sqlite"], [dialects.stored(row, "sqlite") for row in rows])


class SideFile:
    """The file at `path` with its `tables`, as a `grounding.store.side.Side`; opened anew for each use."""

    is_shared = False

    def __init__(self, path: Path, tables: str, what: str, mend: str = "") -> None:
        self._path, self._tables, self._what, self._mend = path, tables, what, mend

    @property
    def is_made(self) -> bool:
        """True if there is a file."""
        return self._path.exists()

    def look(self, work: Callable[[FileRows], T]) -> T:
        """What `work` finds. Raises StoreError, also if there is no file."""
        try:
            with read_only(self._path) as db:
                return work(FileRows(db))
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"{self._what} cannot be read ({type(error).__name__})") from error

    def read(self, work: Callable[[FileRows], T]) -> T:
        """What `work` finds. Raises StoreError."""
        with opened(self._path, self._tables, self._what, self._mend) as db:
            return work(FileRows(db))

    def write(self, work: Callable[[FileRows], T]) -> T:
        """What `work` returns, done in one transaction of the file's one writer. Raises StoreError."""
        with opened(self._path, self._tables, self._what, self._mend) as db:
            db.execute("BEGIN IMMEDIATE")
            done = work(FileRows(db))
            db.execute("COMMIT")
            return done

    def discard(self) -> None:
        """Removes the file. Raises OSError."""
        self._path.unlink(missing_ok=True)
