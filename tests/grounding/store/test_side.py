"""What is kept beside the knowledge base, wherever it lies: whole or not at all, and nothing is said of what is in it."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from grounding.database.postgres import Postgres
from grounding.database.schema import SchemaPart, Step
from grounding.errors import StoreError
from grounding.store.dialects import forms
from grounding.store.side import Kept, Side, SideRows, side_at
from tests.postgres.faults import run
from tests.postgres.side import Places, made, places

PART = SchemaPart(
    "words", (Step(('CREATE TABLE said (word text COLLATE "C" PRIMARY KEY, n integer NOT NULL)',), 1),), ()
)
KEPT = Kept(
    "the words", "CREATE TABLE IF NOT EXISTS said (word TEXT PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID", PART
)
ADD = forms("INSERT INTO said (word, n) VALUES ({param}, {param})")
SET = forms("UPDATE said SET n = {param} WHERE word = {param}")
OF = forms("SELECT n FROM said WHERE word = {param}")
AMONG = forms("SELECT word FROM said WHERE word IN (SELECT value FROM {texts}) ORDER BY word")
ALL = forms("SELECT word, n FROM said ORDER BY word")


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Places]:
    with places(request, tmp_path / "side.db", PART) as of:
        yield of


@pytest.fixture
def side(place: Places) -> Side:
    return side_at(place(), KEPT)


def add(side: Side, *words: str) -> None:
    side.write(lambda db: db.each(ADD, [(word, 1) for word in words]))


def test_what_is_written_is_found_in_the_order_of_bytes(side: Side) -> None:
    add(side)
    add(side, "b", "ä", "Z", "a\x00\ud800")
    words = ["Z", "a\ufffd\ufffd", "b", "ä"]
    assert side.read(lambda db: [word for word, _ in db.stream(ALL)]) == words
    assert side.look(lambda db: db.rows(AMONG, ["ä", "a\x00\ud800", "none"])) == [("a\ufffd\ufffd",), ("ä",)]
    assert side.read(lambda db: db.rows(AMONG, [])) == []


def test_many_rows_come_one_after_the_other(side: Side) -> None:
    add(side, *(f"{n:05}" for n in range(1000)))
    assert side.write(lambda db: [word for word, _ in db.stream(ALL)]) == [f"{n:05}" for n in range(1000)]


def test_a_write_that_fails_leaves_nothing(side: Side) -> None:
    def work(db: SideRows) -> None:
        db.rows(ADD, "a", 1)
        raise KeyError

    with pytest.raises(KeyError):
        side.write(work)
    with pytest.raises(StoreError, match=r"^the words cannot be (written|used)[^\n]*$") as told:
        add(side, "secret", "secret")
    assert "secret" not in str(told.value)
    assert side.read(lambda db: db.rows(ALL)) == []


def test_who_writes_sees_what_all_before_wrote(place: Places) -> None:
    sides = [side_at(place(), KEPT) for _ in range(3)]
    add(sides[0], "a")

    def count(db: SideRows) -> None:
        ((n,),) = db.rows(OF, "a")
        db.rows(SET, n + 1, "a")

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda n: sides[n % 3].write(count), range(30)))
    assert sides[1].look(lambda db: db.rows(OF, "a")) == [(31,)]


def test_a_file_is_made_by_whoever_writes_and_not_by_a_look(tmp_path: Path) -> None:
    side = side_at(tmp_path / "side.db", KEPT)
    with pytest.raises(StoreError, match=r"^the words cannot be read \(OperationalError\)$"):
        side.look(lambda db: db.rows(ALL))
    assert [side.is_made, side.is_shared] == [False, False]
    add(side, "a")
    side.discard()
    side.discard()
    assert list(tmp_path.iterdir()) == []


def test_tables_of_another_schema_are_not_used_and_none_is_thrown_away(database_url: str) -> None:
    made(database_url, PART).close()
    known = side_at(Postgres(database_url), KEPT)
    add(known, "a")
    known.discard()
    run(database_url, "UPDATE attest_schema SET number = 2, oldest = 2")
    assert known.look(lambda db: db.rows(ALL)) == [("a", 1)]
    late = side_at(Postgres(database_url), KEPT)
    assert late.is_made
    for use in (late.look, late.read, late.write):
        with pytest.raises(StoreError, match="the words in the database is of schema 2, which is newer"):
            use(lambda db: db.rows(ALL))
