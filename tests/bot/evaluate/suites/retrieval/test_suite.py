"""A search of documents that are known: figures of a ranking by hand, and what is said of each question."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from bot.evaluate.suites.retrieval.corrective_step import JudgedQuestion
from bot.evaluate.suites.retrieval.suite import RankedQuestion, figures, question_of
from grounding.corrective.decide import decide
from grounding.policies.files import policy_named
from grounding.records import Grade, Grading, Passage, Query, Turn
from tests.bot.commands.conftest import Attest
from tests.bot.commands.fakes import FakeWorld
from tests.bot.evaluate.labelled import ASKED, suites, write


def test_figures_of_a_ranking_by_hand() -> None:
    ranked = ["x", "a", "y", "z", "b", "w", "c"]
    found = figures(ranked, ["a", "b", "c", "never"])
    best = 1 + 1 / math.log2(3) + 1 / 2 + 1 / math.log2(5)
    gain = 1 / math.log2(3) + 1 / math.log2(6) + 1 / math.log2(8)
    assert found == pytest.approx({"ndcg_10": gain / best, "mrr": 0.5, "recall_5": 0.5, "recall_50": 0.75})
    assert figures(ranked, []) == {}


def test_a_document_named_twice_counts_once_and_one_beyond_fifty_not_at_all() -> None:
    assert figures(["a"], ["a", "a"]) == {"ndcg_10": 1.0, "mrr": 1.0, "recall_5": 1.0, "recall_50": 1.0}
    late = [f"x{n}" for n in range(50)] + ["a"]
    assert figures(late, ["a"]) == {"ndcg_10": 0.0, "mrr": 0.0, "recall_5": 0.0, "recall_50": 0.0}


def passage(name: str, bm25: float | None, semantic: float | None, doc: str | None = None) -> Passage:
    return Passage(name, doc or name, name, "", bm25=bm25, semantic=semantic)


@pytest.mark.row("1-07")
def test_recall_after_grading_takes_the_order_of_the_grades() -> None:
    """Eight documents in the order found; the right one stands seventh and has the best grade."""
    found = [passage(f"d{n}", 1.0, None) for n in range(8)]
    grading = Grading(
        "graded", tuple(Grade(p.chunk_id, 0.9 if p.doc_id == "d6" else 0.5, "Good", "yes", None, "") for p in found[:7])
    )
    decided_so = JudgedQuestion(decide(grading, policy_named("hybrid-crag")), grading, answered=True)
    asked = RankedQuestion(
        {"id": "1", "relevant": ["d6"]}, (Turn("user", "x"),), Query("x"), tuple(found), None, decided_so
    )
    made = question_of(asked, {"d6": "Right"}, {})
    assert (made.metrics["recall_5"], made.metrics["recall_5_graded"]) == (0.0, 1.0)
    assert (made.action, made.answered, made.plain) == ("correct", True, {})


def test_retrieval_builds_its_own_knowledge_base(attest: Attest, small: FakeWorld, tmp_path: Path) -> None:
    small.library.held.clear()
    folder = tmp_path / "retrieval" / "pets"
    write(
        folder / "corpus.jsonl",
        {"doc_id": "cat", "title": "Cats", "text": "cats purr"},
        {"doc_id": "dog", "title": "Dogs", "text": "dogs bark"},
        {"doc_id": "both", "title": "Pets", "text": "cats and dogs eat"},
    )
    write(
        folder / "queries.jsonl",
        {"id": "1", "history": [{"role": "user", "text": "purring cats"}], "relevant": ["cat"]},
        {"id": "2", "query": "dogs barking", "relevant": ["both", "absent"]},
        {"id": "3", "query": "fish", "relevant": []},
    )
    found = suites(attest, "retrieval", "--data", str(tmp_path))["retrieval"]["pets"]
    ndcg = (1 + (1 / 1.584962500721156) / (1 + 1 / 1.584962500721156)) / 2
    assert found == pytest.approx(
        {"n": 2, "ndcg_10": ndcg, "mrr": 0.75, "recall_5": 0.75, "recall_50": 0.75, "without_relevant": 1.0}
    )
    (paths, _, lexical_only, settings) = small.ingests[0]
    assert paths == (folder / "corpus.jsonl",)
    assert not lexical_only
    assert "attest-eval-" in str(settings.files.home)
    assert not settings.files.home.exists()
    assert small.opened == small.closed


@pytest.mark.row("1-07")
@pytest.mark.row("2-25")
def test_grades_tell_what_is_answered_though_absent_and_refused_though_present(attest: Attest, tmp_path: Path) -> None:
    write(tmp_path / "questions.jsonl", *ASKED)
    found = suites(attest, "retrieval", "--data", str(tmp_path), "--grades")["retrieval"]["questions"]
    assert (found["answered_though_absent"], found["absent_n"]) == (1.0, 1)
    assert (found["refused_though_present"], found["present_n"]) == (0.25, 4)
    assert (found["n"], found["without_relevant"]) == (4, 1)
    assert found["recall_5_graded"] == found["recall_5"]


def test_json_has_intervals_gains_and_a_figure_for_each_question_without_its_text(
    attest: Attest, tmp_path: Path
) -> None:
    write(tmp_path / "questions.jsonl", *ASKED)
    ran = attest("eval", "retrieval", "--data", str(tmp_path), "--json")
    (found,) = ran.document["suites"][0]["sets"]
    low, high = found["intervals"]["ndcg_10"]
    assert low <= found["metrics"]["ndcg_10"] <= high
    assert {(gain["metric"], gain["against"], gain["n"]) for gain in found["gains"]} == {
        (name, "plain hybrid", 4) for name in ("ndcg_10", "mrr", "recall_5", "recall_50")
    }
    assert [row["id"] for row in found["questions"]] == ["1", "2", "3", "5"]
    assert "payroll" not in ran.out


@pytest.mark.parametrize(
    ("row", "part"),
    [
        ({"id": "1", "relevant": "refunds.md", "query": "x"}, "'relevant'"),
        ({"id": "1", "relevant": ["refunds.md"]}, "history"),
        ({"id": "1", "relevant": ["refunds.md"], "query": "x", "tags": "a"}, "'tags'"),
        ({"id": "1", "relevant": ["refunds.md"], "query": "x", "answerability": 1}, "'answerability'"),
    ],
)
def test_a_question_that_cannot_be_read_is_named(
    attest: Attest, tmp_path: Path, *, row: dict[str, Any], part: str
) -> None:
    write(tmp_path / "questions.jsonl", row)
    ran = attest("eval", "retrieval", "--data", str(tmp_path))
    assert (ran.code, ran.out) == (2, "")
    assert part in ran.err
    assert f"{tmp_path / 'questions.jsonl'}, row 1" in ran.err
