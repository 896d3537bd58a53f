"""Small files beside the store: what is written is read back, and reading makes no file."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from grounding.store.side_file import opened, read_only


def test_what_was_written_is_read_and_cannot_be_changed(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "side.db"
    with opened(path, "CREATE TABLE IF NOT EXISTS said (word TEXT);", "the words") as db:
        db.execute("INSERT INTO said VALUES ('yes')")
    with read_only(path) as db:
        assert db.execute("SELECT word FROM said").fetchall() == [("yes",)]
        with pytest.raises(sqlite3.OperationalError):
            db.execute("DELETE FROM said")


def test_reading_makes_no_file(tmp_path: Path) -> None:
    path = tmp_path / "side.db"
    with pytest.raises(sqlite3.OperationalError):
        read_only(path)
    assert not path.exists()
