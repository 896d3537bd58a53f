"""Rows as they are read: thinned evenly, and named where they cannot be used."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import pytest

from bot.evaluate.rows import RowErrors, json_lines, kept_aside, load, spread
from grounding.errors import InputError
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


def test_a_third_of_the_documents_is_kept_aside_and_always_the_same() -> None:
    texts = [f"document {n}" for n in range(3000)]
    aside = [kept_aside(text) for text in texts]
    assert 900 < sum(aside) < 1100
    assert aside == [kept_aside(text) for text in texts]
    assert kept_aside("document 0") is (zlib.crc32(b"document 0") % 3 == 0)


def test_lines_of_a_corpus_need_no_id_and_rows_do(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text('{"doc_id": "a"}\n\n{"doc_id": "b"}\n', encoding="utf-8")
    assert [line["doc_id"] for line in json_lines(path)] == ["a", "b"]
    with pytest.raises(InputError, match=r"corpus\.jsonl, line 1: field 'id'"):
        load(path)


def test_an_error_in_a_row_names_file_and_row() -> None:
    with pytest.raises(InputError, match=r"^mine\.jsonl, row 7: too long$"), RowErrors(Path("mine.jsonl"), {"id": "7"}):
        raise InputError("too long")
