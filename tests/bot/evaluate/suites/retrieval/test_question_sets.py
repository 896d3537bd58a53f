"""Sets of questions, and the knowledge base that each is asked of."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bot.commands.conftest import Attest
from tests.bot.commands.fakes import FakeWorld
from tests.bot.evaluate.labelled import ASKED, GOLDEN, suites, write


def test_questions_are_asked_of_the_knowledge_base_that_is_there(
    attest: Attest, small: FakeWorld, tmp_path: Path
) -> None:
    write(tmp_path / "questions.jsonl", *ASKED)
    ran = attest("eval", "retrieval", "--data", str(tmp_path), "--json")
    (found,) = ran.document["suites"][0]["sets"]
    assert (found["name"], found["n"]) == ("questions", 4)
    assert found["metrics"]["recall_50"] == pytest.approx((1 + 1 + 0.5 + 0) / 4)
    assert found["metrics"]["without_relevant"] == 1
    assert small.ingests == []
    assert "asked of the knowledge base that is there, 3 documents" in ran.err
    assert "1 of 4 questions name 1 doc_ids" in ran.err
    assert "can never be found: gone.md" in ran.err


def test_a_set_without_a_corpus_is_asked_of_it_too(attest: Attest, small: FakeWorld, tmp_path: Path) -> None:
    write(tmp_path / "retrieval" / "mine" / "queries.jsonl", *ASKED)
    assert suites(attest, "retrieval", "--data", str(tmp_path))["retrieval"]["mine"]["n"] == 4
    assert small.ingests == []


def test_an_empty_knowledge_base_is_said_to_be_empty(attest: Attest, small: FakeWorld, tmp_path: Path) -> None:
    small.library.held.clear()
    write(tmp_path / "questions.jsonl", *ASKED)
    write(tmp_path / "golden.jsonl", {**GOLDEN, "expect": {"outcome": "answered"}})
    ran = attest("eval", "all", "--data", str(tmp_path))
    assert ran.err.count("the knowledge base is empty; fill it with `attest ingest` first") == 2
