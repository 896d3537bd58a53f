"""The round trips to PostgreSQL of this process, by who makes them."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, event

_ROOT = Path(__file__).parents[2]
_LAYERS = ("database/", "databases/", "bot/state.py")
"""What lies between whoever asks and the driver."""


@dataclass(frozen=True)
class Trip:
    """One message that is waited for. `part`: the module that asks, as a path; `said`: how it begins, on one line."""

    part: str
    said: str


@contextmanager
def trips() -> Iterator[list[Trip]]:
    """Those that are made meanwhile, in their order: statements, commits and rollbacks; of what begins a transaction one, as it is said with its settings and its lock, and of what is
    said without waiting for answers one with the commit.
    """
    made: list[Trip] = []

    def said(connection: Connection, _cursor: Any, statement: str, *_more: Any) -> None:
        if connection.dialect.name == "postgresql" and (
            not _driver(connection).pgconn.pipeline_status or statement == "COMMIT"
        ):
            made.append(Trip(_part(), " ".join(statement.split())[:200]))

    def ended(connection: Connection) -> None:
        if connection.dialect.name == "postgresql" and _driver(connection).info.transaction_status:
            made.append(Trip(_part(), "the end"))

    listening = (("before_cursor_execute", said), ("commit", ended), ("rollback", ended))
    for name, heard in listening:
        event.listen(Engine, name, heard)
    try:
        yield made
    finally:
        for name, heard in listening:
            event.remove(Engine, name, heard)


def _driver(connection: Connection) -> Any:
    return connection.connection.driver_connection


def _part() -> str:
    for frame in reversed(traceback.extract_stack()):
        path = Path(frame.filename)
        name = path.relative_to(_ROOT).as_posix() if path.is_relative_to(_ROOT) else ""
        if name.startswith(("bot/", "rai/", "grounding/")) and not any(layer in name for layer in _LAYERS):
            return name
    return "bot/state.py"  # it asks in threads of its own
