"""Bounds that a run must keep to, read from a file."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from bot.evaluate.compare import over_plain
from bot.evaluate.gate import Bound, failures, read_gate
from bot.evaluate.results import SetResult, SuiteResult
from grounding.errors import InputError
from tests.bot.commands.conftest import Attest
from tests.bot.commands.fakes import FakeWorld
from tests.bot.evaluate.labelled import write
from tests.bot.evaluate.questions import question


@pytest.mark.parametrize(
    ("gate", "code", "part"),
    [
        ('{"screen": {"a": {"recall": 0.5}}}', 0, ""),
        ("screen: {a: {recall: 0.6}}", 1, "gate: screen/a/recall is 0.5000, below 0.6"),
        ('{"screen": {"a": {"false_refusals": {"max": 0.5}}}}', 0, ""),
        ('{"screen": {"a": {"false_refusals": {"max": 0.4}}}}', 1, "above 0.4"),
        ('{"screen": {"a": {"recall": {"min": 0.5, "max": 0.5}}}}', 0, ""),
        ('{"golden": {"dev": {"right": 1}}}', 0, ""),
        ('{"screen": {"a": {"recal": 0.5}}}', 2, "screen/a/recal was not measured"),
        ('{"screen": {"b": {"recall": 0.5}}}', 2, "screen/b/recall was not measured"),
        ('{"screen": {"a": {"recall": "high"}}}', 2, "screen/a/recall must be a minimum"),
        ('{"screen": {"a": {"recall": {"least": 1}}}}', 2, "must be a minimum"),
        ('{"screen": {"a": {"recall": true}}}', 2, "must be a minimum"),
        ('{"screen": {"a": {"recall": .nan}}}', 2, "must be a minimum"),
        ("{}", 2, "at least one name"),
        ("[1]", 2, "must be an object"),
        ("{", 2, "neither JSON nor YAML"),
    ],
)
def test_gate(attest: Attest, tmp_path: Path, *, gate: str, code: int, part: str) -> None:
    write(
        tmp_path / "screen" / "a.jsonl",
        {"id": "1", "text": "a bomb", "label": "block"},
        {"id": "2", "text": "poison", "label": "block"},
        {"id": "3", "text": "bath bomb", "label": "allow"},
        {"id": "4", "text": "tea", "label": "allow"},
    )
    (tmp_path / "gate.yaml").write_text(gate, encoding="utf-8")
    ran = attest("eval", "screen", "--data", str(tmp_path), "--gate", str(tmp_path / "gate.yaml"), "--json")
    assert ran.code == code
    assert part in ran.err


def test_a_gate_on_a_suite_that_all_skipped_is_an_error(attest: Attest, tmp_path: Path) -> None:
    write(tmp_path / "screen" / "a.jsonl", {"id": "1", "text": "x", "label": "allow"})
    (tmp_path / "gate.json").write_text('{"golden": {"dev": {"right": 1}}}', encoding="utf-8")
    assert attest("eval", "all", "--data", str(tmp_path), "--gate", str(tmp_path / "gate.json")).code == 2


def test_a_gate_file_that_is_not_there_costs_no_run(attest: Attest, small: FakeWorld, tmp_path: Path) -> None:
    write(tmp_path / "screen" / "a.jsonl", {"id": "1", "text": "x", "label": "allow"})
    ran = attest("eval", "screen", "--data", str(tmp_path), "--gate", "/nowhere.yaml")
    assert (ran.code, small.opened) == (2, 0)


def written(path: Path, value: Any) -> Path:
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def test_a_gate_takes_differences_and_the_ends_of_their_intervals() -> None:
    here = tuple(question(str(n), (2,), plain=(1,)) for n in range(5))
    result = SuiteResult("retrieval", (SetResult("mine", 5, {"ndcg_10": 0.5}, here, over_plain(here)),))
    where = ("retrieval", "mine against plain hybrid")
    bounds = [Bound(*where, "ndcg_10", 0.0, None), Bound(*where, "ndcg_10_high", -0.6, None)]
    assert failures(bounds, [result], partial=False) == [
        "retrieval/mine against plain hybrid/ndcg_10 is -0.5000, below 0.0"
    ]
    with pytest.raises(InputError):
        failures([Bound("retrieval", "mine against earlier run", "ndcg_10", 0.0, None)], [result], partial=False)


def test_the_gate_of_the_documents_can_be_read(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "evaluation.md").read_text("utf-8")
    found = re.search(r"```yaml\n(.*?)```", page, re.DOTALL)
    assert found is not None
    bounds = read_gate(written(tmp_path / "gate.yaml", found[1]))
    assert {bound.set for bound in bounds} == {
        "questions",
        "questions against plain hybrid",
        "questions against earlier run",
    }
