"""Tables of cases are read as they are written, and one that would lose a case is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tables import Tables

WRITTEN = """
pairs:
  - {id: one, text: "1", same: true}
  - {id: two, text: "2", known: true}
texts: ["a", " b"]
"""


def tables(folder: Path, text: str) -> Tables:
    (folder / "things.yaml").write_text(text, "utf-8")
    return Tables(str(folder / "test_things.py"))


def test_rows_become_cases_under_their_ids(tmp_path: Path) -> None:
    """What a row leaves out is None, and a field that is given as a mark is no argument."""
    mark = tables(tmp_path, WRITTEN).each("pairs", known=pytest.mark.xfail(reason="known")).mark
    arguments, cases = mark.args
    assert arguments == ["text", "same"]
    assert [(c.id, c.values, len(c.marks)) for c in cases] == [("one", ("1", True), 0), ("two", ("2", None), 1)]


def test_a_row_is_found_by_its_id(tmp_path: Path) -> None:
    written = tables(tmp_path, WRITTEN)
    assert written.row("pairs", "two") == {"id": "two", "text": "2", "known": True}
    assert written.rows("pairs")[1] == {"text": "2", "same": None, "known": True}


def test_rows_that_are_texts_are_one_argument(tmp_path: Path) -> None:
    written = tables(tmp_path, WRITTEN)
    assert written.each("texts").mark.args == ("text", ["a", " b"])
    assert written.each("texts", "word").mark.args == ("word", ["a", " b"])
    assert written.texts("texts") == ["a", " b"]


def test_cases_that_are_made_stand_behind_those_that_are_written(tmp_path: Path) -> None:
    written = tables(tmp_path, WRITTEN)
    made = pytest.param("1" * 9, True, None, id="many")
    assert written.each("pairs", more=[made]).mark.args[1][-1] is made
    assert written.each("texts", more=[made]).mark.args[1][-1] is made


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a:\n  - {id: one}\na:\n  - {id: two}\n", "line 1: these stand twice: a"),
        ("a:\n  - {id: one, text: x, text: y}\n", "line 2: these stand twice: text"),
        ("a:\n  - {id: one}\n  - {id: one}\n", "things.yaml, a: no text, or twice the same, as id: ['one', 'one']"),
        ("a:\n  - {id: 404}\n", "things.yaml, a: no text, or twice the same, as id: [404]"),
        ("a:\n  - {text: x}\n", "things.yaml, a: no text, or twice the same, as id: [None]"),
    ],
    ids=["table", "field", "id", "number", "none"],
)
def test_what_would_lose_a_case_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ValueError) as raised:
        tables(tmp_path, text)
    assert str(raised.value) == said
