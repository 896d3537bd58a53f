"""SQLite files that several open at once."""

from __future__ import annotations

import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from grounding.database.sqlite import engine_for, make_private, tell

AT_ONCE, ROUNDS = 4, 40
"""Without a second try about one opening in twenty was refused here."""


def test_several_may_open_a_new_file_at_once(tmp_path: Path) -> None:
    refused: list[str] = []

    def opens(path: Path, together: threading.Barrier) -> None:
        engine = engine_for(path, ("journal_mode=WAL", "synchronous=NORMAL"), 15.0)
        together.wait()
        try:
            with engine.begin() as connection:
                connection.exec_driver_sql("CREATE TABLE IF NOT EXISTS t (a)")
        except Exception as error:  # noqa: BLE001 - a thread's error is told by the test
            refused.append(str(error))
        engine.dispose()

    for n in range(ROUNDS):
        path, together = tmp_path / f"{n}.db", threading.Barrier(AT_ONCE)
        make_private(path)
        threads = [threading.Thread(target=opens, args=(path, together)) for _ in range(AT_ONCE)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert refused == []


def test_a_file_that_stays_locked_is_left_after_the_time_to_wait(tmp_path: Path) -> None:
    path = tmp_path / "held.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as holder, closing(sqlite3.connect(path)) as other:
        holder.execute("CREATE TABLE t (a)")
        holder.execute("BEGIN EXCLUSIVE")
        other.execute("PRAGMA busy_timeout=1")
        began = time.monotonic()
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            tell(other, ("journal_mode=WAL",), 0.2)
        assert time.monotonic() - began >= 0.2


def test_what_is_no_lock_is_not_tried_again(tmp_path: Path) -> None:
    path = tmp_path / "none.db"
    path.write_text("this is no database, however long one looks at it " * 40)
    with closing(sqlite3.connect(path)) as connection, pytest.raises(sqlite3.DatabaseError):
        tell(connection, ("journal_mode=WAL",), 60.0)
