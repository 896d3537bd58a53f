"""Decisions on passages that were taken for planted orders: they hold from the next question on, and end with the text."""

from __future__ import annotations

from pathlib import Path

import pytest

from grounding.errors import StoreError
from grounding.records import Access, Query
from rai.embedded.quarantine import DecisionFile, EmbeddedQuarantine
from rai.embedded.verdict_file import VerdictFile
from rai.screening.quarantine import Decided, passage_key
from rai.screening.retriever import ScreenedRetriever
from tests.rai.embedded.test_verdict_file import ORDER, TEXTS, Counting, Shelf


def over(shelf: Shelf, folder: Path) -> tuple[EmbeddedQuarantine, ScreenedRetriever]:
    screen, verdicts = Counting(), VerdictFile(folder / "screen.db", "v1")
    decisions = DecisionFile(folder / "quarantine.db")
    retriever = ScreenedRetriever(shelf, screen, earlier=verdicts.known, released=decisions.released)
    return EmbeddedQuarantine(shelf, shelf, screen, verdicts, decisions), retriever


async def screened(retriever: ScreenedRetriever) -> dict[str, bool]:
    found = await retriever.retrieve(Query("q"), Access(), 9)
    return {p.doc_id: bool(p.screened) for p in found.passages}


async def test_it_holds_what_the_screen_leaves_out_with_rule_and_score(tmp_path: Path) -> None:
    quarantine, _ = over(Shelf(dict(TEXTS)), tmp_path)
    [passage] = await quarantine.passages()
    assert (passage.doc_id, passage.title, passage.text, passage.state) == ("b", "B", ORDER, "held")
    assert passage.rule
    assert 0.5 <= passage.score <= 1
    assert passage.id == passage_key("b", "B", ORDER)[:12]


async def test_a_release_holds_at_once_and_until_the_text_changes(tmp_path: Path) -> None:
    shelf = Shelf(dict(TEXTS))
    quarantine, retriever = over(shelf, tmp_path)
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


async def test_the_same_words_elsewhere_are_not_released_with_it(tmp_path: Path) -> None:
    shelf = Shelf({**TEXTS, "forum": ORDER})
    quarantine, retriever = over(shelf, tmp_path)
    first, _ = await quarantine.passages()
    assert first.doc_id == "b"
    await quarantine.decide(first, "released")
    assert await screened(retriever) == {"a": False, "b": False, "forum": True}


async def test_confirming_takes_a_release_back(tmp_path: Path) -> None:
    quarantine, retriever = over(Shelf(dict(TEXTS)), tmp_path)
    [passage] = await quarantine.passages()
    await quarantine.decide(passage, "released")
    await quarantine.decide(passage, "confirmed")
    assert await screened(retriever) == {"a": False, "b": True}
    assert [p.state for p in await quarantine.passages()] == ["confirmed"]


async def test_a_file_that_cannot_be_read_releases_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "quarantine.db").write_bytes(b"this is no database" * 100)
    quarantine, retriever = over(Shelf(dict(TEXTS)), tmp_path)
    assert await screened(retriever) == {"a": False, "b": True}
    assert "nothing is released" in caplog.text
    [passage] = await quarantine.passages()
    with pytest.raises(StoreError, match="nothing was decided"):
        await quarantine.decide(passage, "released")


def test_decisions_are_found_among_many(tmp_path: Path) -> None:
    file = DecisionFile(tmp_path / "quarantine.db")
    assert file.released(["k"]) == frozenset()
    file.keep("k7", Decided("released", "2026-11-20"))
    file.keep("k8", Decided("confirmed", "2026-11-20"))
    assert file.released([f"k{n}" for n in range(1200)]) == {"k7"}
