"""How the store's file is opened: made and marked by whoever writes, left alone by whoever only reads."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from grounding.errors import InputError, StoreError
from grounding.ingest.chunk import cut
from grounding.records import Document
from grounding.store.databases.sqlite import ReadOnlyStoreFile, StoreFile, copy_whole
from grounding.store.documents import Documents
from grounding.store.meta import Meta
from grounding.store.store import Store


def test_a_file_that_is_not_there_is_not_made_by_reading(tmp_path: Path) -> None:
    with (
        pytest.raises(
            StoreError, match=r"^the store cannot be read \(OperationalError: unable to open database file\)$"
        ),
        ReadOnlyStoreFile(tmp_path / "store.db").reading(),
    ):
        raise AssertionError
    assert list(tmp_path.iterdir()) == []


def test_what_is_written_is_read_beside_and_cannot_be_changed_there(tmp_path: Path) -> None:
    file, beside = StoreFile(tmp_path / "store.db"), ReadOnlyStoreFile(tmp_path / "store.db")
    with file.writing() as db:
        Meta(db).put("digest", "7")
        with beside.reading() as other:
            assert Meta(other).value("digest") is None  # not committed yet
    with beside.reading() as other:
        assert Meta(other).number("digest") == 7
        assert Documents(other).counts() == (0, 0)
    with pytest.raises(StoreError, match="readonly database"), beside.reading() as other:
        Meta(other).put("digest", "8")
    file.close()


def test_a_transaction_that_fails_leaves_nothing(tmp_path: Path) -> None:
    file = StoreFile(tmp_path / "store.db")

    def half() -> None:
        with file.writing() as db:
            Meta(db).put("digest", "7")
            db.exec_driver_sql("INSERT INTO absent VALUES (1)")

    with pytest.raises(StoreError, match=r"^the store cannot be written \(OperationalError: no such table: absent\)$"):
        half()
    with file.reading() as db:
        assert Meta(db).value("digest") is None
    file.close()


def test_another_schema_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    StoreFile(tmp_path / "store.db").close()
    with closing(sqlite3.connect(tmp_path / "store.db")) as db, db:
        db.execute("UPDATE meta SET value = '99' WHERE name = 'schema'")
    for _ in range(2):
        with pytest.raises(StoreError, match=r"^the store has schema 99, this program reads 5; ingest into a new"):
            StoreFile(tmp_path / "store.db")


def test_a_file_of_something_else_is_named_as_unreadable(tmp_path: Path) -> None:
    (tmp_path / "store.db").write_bytes(b"not a database, and long enough to have a header" * 10)
    with pytest.raises(StoreError, match=r"^the store cannot be read \(DatabaseError: file is not a database\)$"):
        StoreFile(tmp_path / "store.db")


def test_a_copy_that_cannot_be_written_names_its_target(tmp_path: Path) -> None:
    StoreFile(tmp_path / "store.db").close()
    target = tmp_path / "away" / "copy.db"
    with (
        pytest.raises(InputError, match=r"copy\.db: cannot be written \(unable to open database file\)$"),
        ReadOnlyStoreFile(tmp_path / "store.db").reading() as db,
    ):
        copy_whole(db, target, target)


def test_a_store_of_before_there_was_trust_is_brought_to_this_form(tmp_path: Path) -> None:
    """By whoever opens it first, also to read alone; e-mails are inbound then, and the rest ordinary."""
    path = tmp_path / "store.db"
    store = Store(path)
    for name, kind in (("a.md", "text/markdown"), ("b.eml", "message/rfc822")):
        document = Document(name, name, "Text.", content_type=kind)
        store.put([(document, cut(document), "/kb", "1")])
    store.close()
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("ALTER TABLE documents DROP COLUMN trust")
        db.execute("UPDATE meta SET value = '2' WHERE name = 'schema'")
    with ReadOnlyStoreFile(path).reading() as rows:
        assert {d.doc_id: d.trust for d in Documents(rows).live()} == {"a.md": "ordinary", "b.eml": "inbound"}
    again = Store(path)
    assert {row.trust for row in again.chunks_of(["b.eml"])} == {"inbound"}
    assert again.document("a.md") == Document("a.md", "a.md", "Text.", content_type="text/markdown")
    again.close()
