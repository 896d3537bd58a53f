"""The fuzz run over a small folder: what raises and what hangs is told with its place, and what is sound is not."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest

from rai.check.answer import Answer
from rai.check.context import Finding
from rai.check.rules.place_rules import weekday_of
from rai.records import Claim
from tools.fuzz import USES, Find, Text, fuzz, main, texts


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [
        {"id": "a", "answer": "It takes 30 days to arrive.", "sources": [{"text": "It takes 20 days."}]},
        {"id": "b", "history": [{"role": "user", "text": "Customer: from 14:30 UTC to 16:00 UTC?"}]},
        {"id": "c", "answer": "Call 020 7946 0321 before noon."},
    ]
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    (tmp_path / "page.md").write_text("# Opening hours\n\n| Day | Hours |\n|---|---|\n| Monday | 9 to 5 |\n", "utf-8")
    return tmp_path


def test_every_string_has_its_place_and_the_next_rows_sources(folder: Path) -> None:
    found = {t.text: t for t in texts(folder)}
    assert found["It takes 30 days to arrive."].place == "in/rows.jsonl:1"
    assert found["It takes 30 days to arrive."].sources == ("Customer: from 14:30 UTC to 16:00 UTC?",)
    assert found["Call 020 7946 0321 before noon."].place == "in/rows.jsonl:3"
    assert any(t.place == "page.md:1" for t in found.values())


def test_sound_uses_of_sound_texts_find_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(folder), "--workers", "1"]) == 0
    assert "5 of 5 texts, 5 uses each" in capsys.readouterr().out


def _crash(text: Text) -> None:
    if "UTC" in text.text:
        int("30 UTC")


def _hang(text: Text) -> None:
    if "noon" in text.text:
        re.search(r"(a+)+b", "a" * 60)


def test_a_planted_crash_and_a_planted_hang_are_found(folder: Path) -> None:
    said: list[str] = []
    finds = fuzz(texts(folder), {"crash": _crash, "hang": _hang}, limit_s=2.0, say=said.append)
    assert {(f.place, f.use) for f in finds} == {("in/rows.jsonl:2", "crash"), ("in/rows.jsonl:3", "hang")}
    assert {f.what.split(" in ")[0].partition(":")[0] for f in finds} == {"ValueError at test_fuzz.py", "slow"}
    assert len(said) == 2
    assert not any("UTC to" in line or "7946" in line for line in said)


def test_a_rule_that_raises_is_a_find_though_the_check_goes_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check hides it: one rule less is no lost answer. A run that looks for it must not."""

    def raises(n: int, claim: Claim, answer: Answer) -> Finding | None:
        if "30 days" in answer.text:
            raise ValueError("30 UTC")
        return weekday_of(n, claim, answer)

    monkeypatch.setattr("rai.check.value_rules.weekday_of", raises)
    finds = fuzz(texts(folder), {"answer": USES["answer"]}, say=lambda _: None)
    assert [f.place for f in finds] == ["in/rows.jsonl:1"]
    assert finds[0].what.startswith("a rule failed: ValueError at ")


def test_a_find_is_an_exit_code(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(folder), "--workers", "1"], {"crash": _crash}) == 1
    assert "in/rows.jsonl:2: crash: ValueError at test_fuzz.py" in capsys.readouterr().out


def test_a_sample_is_the_same_for_the_same_seed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(folder), "--workers", "1", "--sample", "2", "--seed", "7"]) == 0
    assert capsys.readouterr().out.startswith("2 of 5 texts")


def test_a_use_that_overruns_once_is_tried_again(tmp_path: Path) -> None:
    marker = tmp_path / "slow-once"

    def once(text: Text) -> None:
        if text.place and not marker.exists():
            marker.touch()
            time.sleep(30)

    assert fuzz([Text("a:1", "any text", ())], {"once": once}, limit_s=2.0, say=lambda _: None) == list[Find]()


def test_an_empty_folder_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 2
    assert "holds no text" in capsys.readouterr().err
