"""Questions of a person's own: asked of the knowledge base that is there, compared, gated, and written as a page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.bot.commands.conftest import Attest
from tests.bot.commands.fakes import FakeWorld
from tests.eval.test_suites import GOLDEN, suites, write

ASKED = (
    {"id": "1", "query": "refunds take days", "relevant": ["refunds.md"], "tags": ["money"]},
    {"id": "2", "query": "salaries of payroll", "relevant": ["salaries.md"], "as": "hanna", "tags": ["money", "hr"]},
    {"id": "3", "query": "waterproof metres", "relevant": ["gone.md", "trail.md"]},
    {"id": "4", "query": "unicorn refunds", "relevant": [], "answerability": "UNANSWERABLE"},
    {"id": "5", "query": "zzz", "relevant": ["refunds.md"], "answerability": ["ANSWERABLE"]},
)


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


def test_golden_rows_that_cite_only_unknown_documents_are_named(attest: Attest, tmp_path: Path) -> None:
    known = {"outcome": "answered", "cite": ["gone.md", "refunds.md"]}
    write(
        tmp_path / "golden.jsonl",
        {**GOLDEN, "expect": known},
        {**GOLDEN, "id": "g2", "expect": {"outcome": "answered", "cite": ["gone.md"]}},
    )
    ran = attest("eval", "golden", "--data", str(tmp_path))
    assert "dev: 1 of 2 rows cite only doc_ids that are not in the knowledge base: gone.md" in ran.err


@pytest.mark.row("1-07")
@pytest.mark.row("2-25")
def test_grades_tell_what_is_answered_though_absent_and_refused_though_present(attest: Attest, tmp_path: Path) -> None:
    write(tmp_path / "questions.jsonl", *ASKED)
    found = suites(attest, "retrieval", "--data", str(tmp_path), "--grades")["retrieval"]["questions"]
    assert (found["answered_though_absent"], found["absent_n"]) == (1.0, 1)
    assert (found["refused_though_present"], found["present_n"]) == (0.25, 4)
    assert (found["n"], found["without_relevant"]) == (4, 1)
    assert found["recall_5_graded"] == found["recall_5"]


def test_golden_tells_them_by_outcome(attest: Attest, tmp_path: Path) -> None:
    absent, present = {"outcome": ["insufficient", "withheld"]}, {"outcome": ["answered", "repaired"]}
    rows = [{**GOLDEN, "id": str(n), "expect": expect} for n, expect in enumerate((absent, present, {"outcome": []}))]
    write(tmp_path / "golden.jsonl", *rows)
    found = suites(attest, "golden", "--data", str(tmp_path))["golden"]["dev"]
    assert (found["answered_though_absent"], found["absent_n"]) == (1.0, 1)
    assert (found["refused_though_present"], found["present_n"]) == (0.0, 1)


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


def test_an_earlier_run_is_compared_and_gated(attest: Attest, tmp_path: Path) -> None:
    write(tmp_path / "questions.jsonl", *ASKED)
    before = attest("eval", "retrieval", "--data", str(tmp_path), "--json").document
    for row in before["suites"][0]["sets"][0]["questions"]:
        row["metrics"]["ndcg_10"] = 1.0
    (tmp_path / "before.json").write_text(json.dumps(before), encoding="utf-8")
    gate = {"retrieval": {"questions against earlier run": {"ndcg_10": {"min": 0.0}}}}
    (tmp_path / "gate.json").write_text(json.dumps(gate), encoding="utf-8")
    files = ("--baseline", str(tmp_path / "before.json"), "--gate", str(tmp_path / "gate.json"))
    ran = attest("eval", "retrieval", "--data", str(tmp_path), *files)
    assert ran.code == 1
    assert "gate: retrieval/questions against earlier run/ndcg_10 is -" in ran.err
    assert "questions against earlier run" in ran.out
    assert "10,000 resamples, seed 20" in ran.out


def test_a_baseline_that_is_no_run_costs_no_run(attest: Attest, small: FakeWorld, tmp_path: Path) -> None:
    write(tmp_path / "questions.jsonl", *ASKED)
    ran = attest("eval", "retrieval", "--data", str(tmp_path), "--baseline", str(tmp_path / "questions.jsonl"))
    assert (ran.code, small.opened) == (2, 0)
    assert "not what `attest eval … --json` writes" in ran.err


def test_the_query_is_compared_with_the_last_turn(attest: Attest, tmp_path: Path) -> None:
    said = [{"role": "user", "text": "the cat sat"}]
    write(tmp_path / "query" / "q.jsonl", {"id": "1", "history": said, "rewrite": "the dog"})
    (found,) = attest("eval", "query", "--data", str(tmp_path), "--json").document["suites"][0]["sets"]
    (gain,) = found["gains"]
    assert (gain["against"], gain["difference"], gain["value"]) == ("last turn", 0.0, pytest.approx(0.4))


def test_the_page_is_written_beside_the_table_or_to_stdout_alone(attest: Attest, tmp_path: Path) -> None:
    write(tmp_path / "questions.jsonl", *ASKED)
    write(tmp_path / "golden.jsonl", {**GOLDEN, "expect": {"outcome": "blocked", "cite": ["refunds.md"]}})
    out = tmp_path / "page.html"
    ran = attest("eval", "all", "--data", str(tmp_path), "--grades", "--html", str(out))
    assert ran.code == 0, ran.err
    assert f"wrote {out}" in ran.err
    assert "recall_50" in ran.out
    page = out.read_text("utf-8")
    for part in ("Worst questions first", "waterproof metres", "not in the knowledge base", "Answered though absent"):
        assert part in page
    assert "outcome answered, expected blocked" in page
    alone = attest("eval", "golden", "--data", str(tmp_path), "--html", "-")
    assert alone.out.startswith("<!doctype html>")
    assert "golden    n" not in alone.out


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("--html", "-", "--json"), "both write to stdout"),
        (("--html", "/nowhere/page.html"), "its folder does not exist"),
        (("--html", "before.json", "--baseline", "before.json"), "is the input of this command"),
    ],
)
def test_a_page_that_cannot_be_written_costs_no_run(
    attest: Attest, small: FakeWorld, tmp_path: Path, *, arguments: tuple[str, ...], part: str
) -> None:
    write(tmp_path / "questions.jsonl", *ASKED)
    run: dict[str, Any] = {
        "suite": "retrieval",
        "sets": [{"name": "q", "questions": [{"id": "1", "metrics": {"a": 1}}]}],
    }
    (tmp_path / "before.json").write_text(json.dumps({"suites": [run]}), encoding="utf-8")
    named = [str(tmp_path / a) if a == "before.json" else a for a in arguments]
    ran = attest("eval", "retrieval", "--data", str(tmp_path), *named)
    assert (ran.code, small.opened) == (2, 0)
    assert part in ran.err


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
