"""`attest eval`: its own arguments, the sample in a temporary home, and the page."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.records import Ask, Reply
from rai.records import Outcome
from tests.bot.commands.conftest import Attest
from tests.bot.commands.fakes import FakeWorld, answered
from tests.bot.evaluate.labelled import ASKED, GOLDEN, write


def test_sample_measures_the_bundled_questions_in_a_temporary_home(
    attest: Attest, small: FakeWorld, tmp_path: Path
) -> None:
    assert attest("eval", "screen", "--sample").code == 2
    assert attest("eval", "golden", "--sample", "--data", str(tmp_path)).code == 2

    def refuse(ask: Ask) -> Reply:
        return replace(answered(ask), outcome=Outcome.INSUFFICIENT)

    small.answers = refuse
    ran = attest("eval", "golden", "--sample", "--limit", "3", "--json")
    assert ran.code == 0, ran.err
    assert sum(part["n"] for part in ran.document["suites"][0]["sets"]) == 3
    paths, _, _, settings = small.ingests[0]
    assert paths[0].name == "kb"
    assert not settings.files.home.exists()


def test_turns_of_the_sample_are_asked_in_a_temporary_home(attest: Attest, small: FakeWorld) -> None:
    ran = attest("eval", "turns", "--sample", "--limit", "3", "--json")
    assert ran.code == 0, ran.err
    whole = ran.document["suites"][0]["sets"][0]
    assert (whole["name"], whole["n"]) == ("sample", 3)
    ((paths, _, _, settings),) = small.ingests
    assert paths[0].name == "kb"
    assert not settings.files.home.exists()


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
