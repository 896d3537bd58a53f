"""Small SQLite files beside the knowledge base with data derived from it, each readable by its owner alone."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from grounding.errors import StoreError


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
        raise StoreError(
            f"{what} cannot be written ({type(error).__name__}); {mend or f'delete {path.name} and ingest again'}"
        ) from error
