"""Honest answers and answers with one error, over a system whose verdicts are known."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bot.commands.conftest import Attest
from tests.bot.evaluate.labelled import suites, write


def test_answers_are_measured_by_style_type_and_rule(attest: Attest, tmp_path: Path) -> None:
    """A right answer that is left alone, one that is not, and an error that is pointed at."""
    source = [{"id": "s", "text": "The cat eats three mice a day."}]
    row = {"question": "How much does the cat eat?", "sources": source}
    wrong = "The cat eats 5 mice a day."
    write(
        tmp_path / "answers" / "pets.jsonl",
        row | {"id": "1", "answer": "The cat eats three mice a day.", "honest": True, "style": "close"},
        row | {"id": "2", "answer": wrong, "honest": True, "style": "free"},
        row | {"id": "3", "answer": wrong, "honest": False, "type": "digit", "start": 13, "end": 14, "style": "close"},
    )
    found = suites(attest, "answers", "--data", str(tmp_path), "--by-rule")["answers"]
    assert (found["pets"]["n"], found["pets"]["honest_flagged"], found["pets"]["located_in_values"]) == (3, 0.5, 1.0)
    assert found["pets:close"]["honest_flagged"] == 0.0
    assert found["pets:digit"]["called_supported"] == 0.0
    rules = [part for name, part in found.items() if part.get("wrong") is not None and "right" in part]
    assert sum(part["n"] for part in rules) == sum(1 for _ in ("2", "3"))
    assert all(part["right"] == part["wrong"] == 0.5 for part in rules)


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        ({"honest": "yes"}, "'honest' must be true or false"),
        ({"type": "typo"}, "'type' must be one of"),
        ({"end": 99}, "must be the characters of the error"),
    ],
)
def test_a_row_of_answers_that_is_not_in_the_form_is_named(
    attest: Attest, tmp_path: Path, changed: dict[str, object], word: str
) -> None:
    row = {"id": "7", "answer": "It eats 9.", "sources": [], "honest": False, "type": "digit", "start": 8, "end": 9}
    write(tmp_path / "answers" / "a.jsonl", row | changed)
    ran = attest("eval", "answers", "--data", str(tmp_path))
    assert (ran.code, "row 7" in ran.err, word in ran.err) == (2, True, True)
