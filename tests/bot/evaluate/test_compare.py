"""Two runs over the same questions: what is paired, what is counted, and which files are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.evaluate.compare import EARLIER, PLAIN, gains, over_earlier, over_plain, read_earlier
from bot.evaluate.results import SetResult, SuiteResult
from grounding.errors import InputError
from tests.bot.commands.conftest import Attest
from tests.bot.commands.fakes import FakeWorld
from tests.bot.evaluate.labelled import ASKED, write
from tests.bot.evaluate.questions import question


def test_differences_are_of_the_same_question_and_of_those_that_both_have() -> None:
    here = [question("a", (1,)), question("b", (2,)), question("c", (4,)), question("new", (1,))]
    (gain,) = gains(here, [{"ndcg_10": 0.5}, {"ndcg_10": 0.5}, {"ndcg_10": 1.0, "mrr": 1.0}, {}], EARLIER)
    assert (gain.value, gain.other) == pytest.approx(((1 + 0.5 + 0.25) / 3, 2 / 3))
    assert gain.span.mean == pytest.approx(-0.25 / 3)
    assert (gain.better, gain.worse, gain.span.n) == (1, 1, 3)
    assert gain.span.low <= gain.span.mean <= gain.span.high


def test_a_gain_on_every_question_has_an_interval_above_zero() -> None:
    here = [question(str(n), (1,), plain=(2,)) for n in range(20)]
    (gain,) = over_plain(here)
    assert (gain.against, gain.span.mean, gain.span.low, gain.span.high) == (PLAIN, 0.5, 0.5, 0.5)


def test_questions_that_share_an_id_are_each_compared_with_their_own_baseline() -> None:
    (gain,) = over_plain([question("same", (1,), plain=(2,)), question("same", (1,), plain=(1,))])
    assert (gain.other, gain.span.n) == (0.75, 2)


def written(path: Path, value: Any) -> Path:
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def run_of(*questions: Any, name: str = "mine") -> SuiteResult:
    return SuiteResult("retrieval", (SetResult(name, len(questions), {"ndcg_10": 0.5}, tuple(questions)),))


def test_what_one_run_writes_another_reads(tmp_path: Path) -> None:
    before = run_of(question("a", (2,), said="SECRET WORDS"), question("b", (1,)))
    path = written(tmp_path / "before.json", {"suites": [before.as_json()], "seconds": 1.0})
    assert "SECRET" not in path.read_text("utf-8")
    (result,) = over_earlier(
        [run_of(question("a", (1,)), question("b", (1,)), question("c", (1,)))], read_earlier(path)
    )
    (gain,) = result.sets[0].gains
    assert (gain.against, gain.span.mean, gain.better, gain.worse, gain.span.n) == (EARLIER, 0.25, 1, 0, 2)
    assert "1 of 3 questions are not in" in result.sets[0].notes[0]


@pytest.mark.parametrize(
    ("value", "part"),
    [
        ("{", "not what"),
        ("[1]", "not what"),
        ({"suites": [{"suite": "retrieval", "sets": [{"name": "mine", "questions": [{"id": "a"}]}]}]}, "not what"),
        ({"suites": []}, "no figures per question"),
        ({"suites": [{"suite": "screen", "sets": [{"name": "a", "n": 1, "metrics": {}}]}]}, "no figures per question"),
    ],
)
def test_a_file_that_is_no_run_is_refused(tmp_path: Path, value: Any, part: str) -> None:
    with pytest.raises(InputError, match=part):
        read_earlier(written(tmp_path / "before.json", value))


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_earlier(tmp_path / "none.json")


def test_a_run_of_other_questions_is_no_comparison_and_costs_no_figure(tmp_path: Path) -> None:
    other = {"suites": [run_of(question("a"), name="other").as_json()]}
    (result,) = over_earlier([run_of(question("a"))], read_earlier(written(tmp_path / "before.json", other)))
    assert result.sets[0].gains == ()
    assert "1 of 1 questions are not in" in result.sets[0].notes[0]
    assert result.sets[0].metrics == {"ndcg_10": 0.5}


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
