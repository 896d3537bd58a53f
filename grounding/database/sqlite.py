"""A SQLite file: how it is made, opened, and emptied of what its log still holds."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, create_engine, event

AGAIN_S = 0.005
"""Pause before a file that is locked is tried again."""


def make_private(path: Path, folder_mode: int = 0o777) -> None:
    """Makes the file, readable by its owner alone, and its folder, where they are missing."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=folder_mode)
    # Only where it is missing: closing a file drops the locks that this process has on it, also those of other connections.
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def engine_for(path: Path, pragmas: Sequence[str], wait_s: float) -> Engine:
    """An engine whose connections are told `pragmas` first. `wait_s`: seconds to wait for others that use the file."""
    engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": wait_s})

    @event.listens_for(engine, "connect")
    def _connect(connection: Any, _record: Any) -> None:
        tell(connection, pragmas, wait_s)

    return engine


def tell(connection: sqlite3.Connection, pragmas: Sequence[str], wait_s: float) -> None:
    """Tells a connection `pragmas`, each again while the file is locked, up to `wait_s` seconds: where several open a new file at once, SQLite refuses all but one
    of them the change to a write-ahead log at once, however long they would wait. Raises sqlite3.OperationalError.
    """
    until = time.monotonic() + wait_s
    for pragma in pragmas:
        while True:
            try:
                connection.execute(f"PRAGMA {pragma}")
                break
            except sqlite3.OperationalError as error:
                busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY  # the low byte is the kind of the error
                if not busy or time.monotonic() >= until:
                    raise
            time.sleep(AGAIN_S)


def flush(engine: Engine, wait_s: float) -> bool:
    """Folds the write-ahead log into the file and empties it, so that erased text does not live on there. False if somebody who reads keeps it from that.

    `wait_s`: seconds to wait for others, who cannot write meanwhile; never longer than they are waited for anyway.
    """
    raw = engine.raw_connection()
    try:
        cursor = raw.cursor()
        (usual,) = cursor.execute("PRAGMA busy_timeout").fetchone()
        cursor.execute(f"PRAGMA busy_timeout={min(usual, int(wait_s * 1000))}")
        (busy, *_) = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        cursor.execute(f"PRAGMA busy_timeout={usual}")
        return not busy
    finally:
        raw.close()


def told_by_trigger(error: BaseException | None) -> str | None:
    """What a trigger of ours raised, in words of ours; None for any other error."""
    return str(error) if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_CONSTRAINT_TRIGGER else None
