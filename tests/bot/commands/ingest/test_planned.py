"""`attest ingest --root`, `--runs` and `--end`: what goes together, and what is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from grounding.embedded.index import EmbeddedIndex
from grounding.ingest.runs import PlannedItem
from tests.bot.commands.conftest import Attest
from tests.bot.commands.fakes import FakeWorld


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ATTEST_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_a_name_makes_it_a_planned_run(attest: Attest, small: FakeWorld, tmp_path: Path) -> None:
    (tmp_path / "kb").mkdir()
    assert attest("ingest", str(tmp_path / "kb"), "--root", "handbook").code == 0
    assert (small.roots, len(small.ingests)) == (["handbook"], 1)
    assert attest("ingest", str(tmp_path / "kb"), "--root", "handbook", "--dry-run").code == 0
    assert len(small.roots) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["{kb}", "--root", "a/b"], "--root 'a/b': allowed are up to 64 letters, digits, dots, dashes and underscores"),
        (["{kb}", "{kb}", "--root", "a"], "ingest --root takes one PATH, a folder or a .jsonl corpus"),
        (["{kb}", "--root", "a", "--watch"], "and none of --sample, --rebuild, --watch"),
        (["--root", "a"], "ingest --root takes one PATH"),
        (["--runs", "--end", "--root", "a"], "ingest takes either --runs or --end"),
        (["{kb}", "--runs"], "ingest --runs takes no PATH and goes with --root alone"),
        (["--end"], "ingest --end takes --root NAME: whose run is to be ended"),
        (["--end", "--root", "a"], "--root a: no run of it is under way; attest ingest --runs lists them"),
    ],
)
def test_what_does_not_go_together_is_told_in_a_line(
    attest: Attest, home: Path, tmp_path: Path, arguments: list[str], said: str
) -> None:
    (tmp_path / "kb").mkdir()
    ran = attest("ingest", *(argument.format(kb=tmp_path / "kb") for argument in arguments))
    assert (ran.code, ran.err.count("\n")) == (2, 1), home
    assert said in ran.err


def test_runs_are_shown_and_one_is_ended(attest: Attest, home: Path) -> None:
    assert "no runs yet" in attest("ingest", "--runs").err
    index = EmbeddedIndex(home / "index", None)
    book = index.store.runs()
    begun = book.begin("root:handbook", "{}", "machine:1")
    assert begun.lease is not None
    book.add(begun.lease, [[PlannedItem(f"{n}", "s", 0) for n in range(1500)]], 0)
    book.add(begun.lease, [[PlannedItem("x", "s", 0)]], 1)
    book.planned(begun.lease, "{}", [])
    lease = book.lease(begun.run, "machine:1")
    assert lease is not None
    book.done(lease, "{}", [])
    book.lease(begun.run, "machine:2")
    shown = attest("ingest", "--runs").out.split()
    assert {begun.run, "handbook", "running", "1,501", "1,500", "1"} <= set(shown)
    (state,) = attest("ingest", "--runs", "--root", "handbook", "--json").document["runs"]
    assert (state["root"], state["documents"], state["done"], state["workers"]) == ("handbook", 1501, 1500, 1)
    assert state["left_s"] > 0
    assert attest("ingest", "--runs", "--root", "other", "--json").document == {"runs": []}
    ended = attest("ingest", "--end", "--root", "handbook")
    assert f"run {begun.run} of --root handbook is ended" in ended.err
    assert "ended" in ended.out
    index.close()
