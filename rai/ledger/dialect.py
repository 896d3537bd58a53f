"""The parts of the ledger's store that are SQLite's own: locking, durability, and triggers that refuse changes.

Another database gets its own `engine_for`, `guard`, `is_guarded` and `flush` here and nowhere else.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, text

BUSY_SECONDS = 15.0
"""Seconds to wait for the write lock."""
_TRIGGERS = {
    # the one change allowed: a body may be emptied after an entry of kind `erase` that names it
    "entries_no_update": """
        CREATE TRIGGER IF NOT EXISTS entries_no_update BEFORE UPDATE ON entries
        WHEN NOT (NEW.body IS NULL AND NEW.seq IS OLD.seq AND NEW.entry_id IS OLD.entry_id AND NEW.at IS OLD.at
            AND NEW.kind IS OLD.kind AND NEW.digest IS OLD.digest AND NEW.prev IS OLD.prev AND NEW.mac IS OLD.mac
            AND EXISTS (
            SELECT 1 FROM entries e WHERE e.kind = 'erase' AND e.seq > OLD.seq
            AND json_extract(e.body, '$.entry_id') = OLD.entry_id))
        BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END""",
    "entries_no_delete": """
        CREATE TRIGGER IF NOT EXISTS entries_no_delete BEFORE DELETE ON entries
        BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END""",
}


def engine_for(path: Path, busy_s: float = BUSY_SECONDS) -> Engine:
    """An engine on the SQLite file at `path`, which is created with mode 0600 if missing.

    WAL with synchronous=FULL: a commit is on the disk when it returns. `secure_delete` overwrites what an erasure
    empties. Transactions on a connection with the execution option `immediate` take the write lock at once.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": busy_s})

    @event.listens_for(engine, "connect")
    def _connect(connection: Any, _record: Any) -> None:
        connection.isolation_level = None
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "secure_delete=ON", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        immediate = connection.get_execution_options().get("immediate", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")

    return engine


def guard(connection: Connection) -> None:
    """Creates the triggers that refuse UPDATE and DELETE, if they are not there."""
    for statement in _TRIGGERS.values():
        connection.execute(text(statement))


def is_guarded(connection: Connection) -> bool:
    """True if the triggers stand as they were made."""
    found = connection.execute(text("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")).all()
    have = {str(name): _squeeze(str(sql)) for name, sql in found}
    return all(have.get(n) == _squeeze(s.replace(" IF NOT EXISTS", "")) for n, s in _TRIGGERS.items())


def flush(engine: Engine) -> None:
    """Folds the write-ahead log into the store, so that erased text does not live on there."""
    raw = engine.raw_connection()
    try:
        raw.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        raw.close()


def _squeeze(sql: str) -> str:
    return " ".join(sql.split())
