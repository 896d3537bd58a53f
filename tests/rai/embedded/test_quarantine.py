"""Decisions on passages that were taken for planted orders: they hold from the next question on, and end with the text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url

from grounding.database.postgres import Postgres
from grounding.errors import StoreError
from grounding.records import Access, Query
from rai.embedded.quarantine import PART, DecisionFile, EmbeddedQuarantine
from rai.embedded.verdict_file import VerdictFile
from rai.screening.quarantine import Decided, passage_key
from rai.screening.retriever import ScreenedRetriever
from tests.postgres.faults import run
from tests.postgres.server import table_files
from tests.postgres.side import Places, made, places
from tests.rai.embedded.test_verdict_file import ORDER, TEXTS, Counting, Shelf


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Places]:
    with places(request, tmp_path / "quarantine.db", PART) as of:
        yield of


def over(shelf: Shelf, folder: Path, place: Places) -> tuple[EmbeddedQuarantine, ScreenedRetriever]:
    screen, verdicts = Counting(), VerdictFile(folder / "screen.db", "v1")
    decisions = DecisionFile(place())
    retriever = ScreenedRetriever(shelf, screen, earlier=verdicts.known, released=decisions.released)
    return EmbeddedQuarantine(shelf, shelf, screen, verdicts, decisions), retriever


async def screened(retriever: ScreenedRetriever) -> dict[str, bool]:
    found = await retriever.retrieve(Query("q"), Access(), 9)
    return {p.doc_id: bool(p.screened) for p in found.passages}


async def test_it_holds_what_the_screen_leaves_out_with_rule_and_score(tmp_path: Path, place: Places) -> None:
    quarantine, _ = over(Shelf(dict(TEXTS)), tmp_path, place)
    [passage] = await quarantine.passages()
    assert (passage.doc_id, passage.title, passage.text, passage.state) == ("b", "B", ORDER, "held")
    assert passage.rule
    assert 0.5 <= passage.score <= 1
    assert passage.id == passage_key("b", "B", ORDER)[:12]


async def test_a_release_holds_at_once_and_until_the_text_changes(tmp_path: Path, place: Places) -> None:
    shelf = Shelf(dict(TEXTS))
    quarantine, retriever = over(shelf, tmp_path, place)
    [passage] = await quarantine.passages()
    assert await screened(retriever) == {"a": False, "b": True}
    await quarantine.decide(passage, "released", "our own words")
    assert await screened(retriever) == {"a": False, "b": False}  # a running server asks each time
    assert [(p.state, p.decided and p.decided.note) for p in await quarantine.passages()] == [
        ("released", "our own words")
    ]
    shelf.texts["b"], shelf.version = ORDER + " Twice.", "2"
    assert await screened(retriever) == {"a": False, "b": True}
    assert [p.state for p in await quarantine.passages()] == ["held"]
    shelf.texts["b"], shelf.version = ORDER, "3"
    assert await screened(retriever) == {"a": False, "b": False}


async def test_the_same_words_elsewhere_are_not_released_with_it(tmp_path: Path, place: Places) -> None:
    shelf = Shelf({**TEXTS, "forum": ORDER})
    quarantine, retriever = over(shelf, tmp_path, place)
    first, _ = await quarantine.passages()
    assert first.doc_id == "b"
    await quarantine.decide(first, "released")
    assert await screened(retriever) == {"a": False, "b": False, "forum": True}


async def test_confirming_takes_a_release_back(tmp_path: Path, place: Places) -> None:
    quarantine, retriever = over(Shelf(dict(TEXTS)), tmp_path, place)
    [passage] = await quarantine.passages()
    await quarantine.decide(passage, "released")
    await quarantine.decide(passage, "confirmed")
    assert await screened(retriever) == {"a": False, "b": True}
    assert [p.state for p in await quarantine.passages()] == ["confirmed"]


async def test_a_file_that_cannot_be_read_releases_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "quarantine.db").write_bytes(b"this is no database" * 100)
    quarantine, retriever = over(Shelf(dict(TEXTS)), tmp_path, lambda: tmp_path / "quarantine.db")
    assert await screened(retriever) == {"a": False, "b": True}
    assert "nothing is released" in caplog.text
    [passage] = await quarantine.passages()
    with pytest.raises(StoreError, match="nothing was changed"):
        await quarantine.decide(passage, "released")


def test_decisions_are_found_among_many(place: Places) -> None:
    decisions = DecisionFile(place())
    assert decisions.released(["k"]) == frozenset()
    assert decisions.notes() == {}
    decisions.keep("k7", Decided("released", "2026-11-20"))
    decisions.keep("k8", Decided("confirmed", "2026-11-20"))
    assert DecisionFile(place()).released([f"k{n}" for n in range(1200)]) == {"k7"}


def test_a_note_is_kept_as_every_database_can_and_the_newest_counts(place: Places) -> None:
    decisions = DecisionFile(place())
    decisions.keep("k1", Decided("released", "2026-11-20", "ours"))
    decisions.keep("k1", Decided("confirmed", "2026-11-21", "not\x00 ours\ud800"))
    assert DecisionFile(place()).decided(["k1", "k2"]) == {
        "k1": Decided("confirmed", "2026-11-21", "not\ufffd ours\ufffd")
    }


@pytest.fixture
def stored(tmp_path: Path, request: pytest.FixtureRequest) -> Callable[[], bytes]:
    """What the file holds, or the files of the tables."""
    file = tmp_path / "quarantine.db"
    return lambda: file.read_bytes() if file.exists() else table_files(request.getfixturevalue("database_url"))


def test_a_note_that_is_forgotten_is_in_no_file(place: Places, stored: Callable[[], bytes]) -> None:
    decisions = DecisionFile(place())
    assert decisions.forget(["k1"]) == 0
    for n in range(50):
        decisions.keep(f"k{n}", Decided("released", "2026-11-20", f"of Ada Lovelace {n}"))
    assert decisions.forget([f"k{n}" for n in range(50)]) == 50
    assert decisions.forget(["k1"]) == 0
    assert (decisions.notes(), len(decisions.released([f"k{n}" for n in range(50)]))) == ({}, 50)
    assert b"Lovelace" not in stored()


@pytest.mark.parametrize("note", ["", "theirs"])
def test_a_note_that_is_replaced_is_in_no_file(place: Places, stored: Callable[[], bytes], note: str) -> None:
    decisions = DecisionFile(place())
    decisions.keep("k1", Decided("released", "2026-11-20", "of Ada Lovelace"))
    decisions.keep("k2", Decided("released", "2026-11-20", "ours"))
    decisions.keep("k1", Decided("confirmed", "2026-11-21", note))
    assert decisions.decided(["k1"]) == {"k1": Decided("confirmed", "2026-11-21", note)}
    assert decisions.notes() == {"k2": "ours"} | ({"k1": note} if note else {})
    assert b"Lovelace" not in stored()


def test_a_worker_decides_and_forgets_and_can_do_nothing_else(database_url: str, worker_url: str) -> None:
    made(database_url, PART, make_url(worker_url).username).close()
    decisions = DecisionFile(Postgres(worker_url))
    decisions.keep("k1", Decided("released", "2026-11-20", "ours"))
    assert (decisions.forget(["k1"]), decisions.notes()) == (1, {})
    for statement in (
        "DELETE FROM quarantine_decisions",
        "TRUNCATE quarantine_decisions",
        "DROP TABLE quarantine_decisions",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            run(worker_url, statement)


def test_a_database_that_cannot_be_used_releases_nothing(database_url: str, caplog: pytest.LogCaptureFixture) -> None:
    decisions = DecisionFile(Postgres(database_url))
    missing = "the database has no tables for the quarantine yet; its owner makes them: attest database upgrade"
    assert decisions.released(["k1"]) == frozenset()
    assert caplog.messages == [f"{missing}; nothing is released"]
    with pytest.raises(StoreError, match=f"^{missing}$"):
        decisions.keep("k1", Decided("released", "2026-11-20"))
