"""Rows as they are read: thinned evenly, and named where they cannot be used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.evaluate.rows import spread
from tests.bot.commands.conftest import Attest
from tests.bot.evaluate.labelled import GOLDEN, suites, write


def test_the_rows_of_a_limit_are_evenly_spread() -> None:
    assert spread(range(10), 3) == [0, 3, 6]
    assert spread(range(3), 5) == [0, 1, 2]
    assert spread(range(3), None) == [0, 1, 2]


def test_limit_is_per_file(attest: Attest, tmp_path: Path) -> None:
    write(tmp_path / "screen" / "a.jsonl", *({"id": str(n), "text": "x", "label": "allow"} for n in range(9)))
    assert suites(attest, "screen", "--data", str(tmp_path), "--limit", "4")["screen"]["a"]["n"] == 4


@pytest.mark.parametrize(
    ("suite", "path", "row", "part"),
    [
        ("provenance", "provenance/a.jsonl", {"id": "1", "answer": "x", "sources": []}, "'label' must be one of"),
        (
            "provenance",
            "provenance/a.jsonl",
            {"id": "1", "label": "supported", "sources": []},
            "row 1: answer must be text",
        ),
        ("screen", "screen/a.jsonl", {"id": "1", "label": "allow"}, "'text'"),
        ("injection", "injection/a.jsonl", {"id": "1", "label": "block"}, "'text'"),
        ("query", "query/a.jsonl", {"id": "1", "rewrite": "x"}, "history"),
        ("golden", "golden.jsonl", {"id": "1", "history": [], "expect": {}}, "history"),
        ("golden", "golden.jsonl", {**GOLDEN}, "'expect'"),
        ("golden", "golden.jsonl", {"no": "id"}, "line 1: field 'id'"),
    ],
)
def test_a_row_that_cannot_be_scored_is_named(
    attest: Attest, tmp_path: Path, *, suite: str, path: str, row: dict[str, Any], part: str
) -> None:
    write(tmp_path / path, row)
    ran = attest("eval", suite, "--data", str(tmp_path))
    assert (ran.code, ran.out) == (2, "")
    assert part in ran.err
    assert str(tmp_path / path) in ran.err
