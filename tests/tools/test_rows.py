"""The list of requirements against the tests: every row that has an acceptance is shown by a test, and losing one is loud."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tools.rows import ROOT, Mark, Row, main, marks_of, matched, read_marks, read_rows, table


def test_every_row_with_an_acceptance_is_named_by_a_test() -> None:
    """But for those of which the list says what the product lacks."""
    rows = read_rows(ROOT / "tests" / "rows.yaml")
    assert matched(rows, read_marks(ROOT / "tests")) == []
    assert [row.id for row in rows if row.uncovered and not row.missing] == []


def test_what_is_missing_may_not_be_shown() -> None:
    row = Row("1-01", "a thing", "it is seen", missing="the thing")
    assert matched([row], [Mark("1-01", "tests/test_x.py::test_x", "x")]) == [
        "tests show 1-01, which tests/rows.yaml calls missing"
    ]


def test_no_row_of_the_sections_is_missing_from_the_list() -> None:
    """25, 15, 26, 27 and 28 rows, and ten conflicts; those without an acceptance are these and no others."""
    sizes = {"0": 25, "1": 15, "2": 26, "3": 27, "4": 28, "C": 10}
    rows = read_rows(ROOT / "tests" / "rows.yaml")
    assert [row.id for row in rows] == [f"{part}-{n:02}" for part, most in sizes.items() for n in range(1, most + 1)]
    assert [row.id for row in rows if not row.accept] == ["0-25", "1-10", "2-12", "2-26", "3-14", "4-26"]


MODULE = """
import pytest
pytestmark = [pytest.mark.asyncio, pytest.mark.row("9-01")]
CASES = [pytest.param(1, marks=pytest.mark.row("9-02")), 2]
FORGOTTEN = [pytest.param(1, marks=[pytest.mark.row("9-03")])]

@pytest.mark.row("9-04")
@pytest.mark.parametrize("n", CASES)
async def test_one(n): ...

@pytest.mark.parametrize("n", [pytest.param(1, marks=[pytest.mark.row("9-05"), pytest.mark.slow])])
def test_two(n): ...

@pytest.mark.row("9-06")
class TestThree:
    @pytest.mark.row("9-07")
    def test_four(self): ...

@pytest.mark.row("9-08")
def helper(): ...
"""


def test_marks_are_found_where_pytest_finds_them() -> None:
    """On tests, their cases, cases with a name, classes and modules; a mark on anything else shows nothing."""
    found = {(m.row, m.test.partition("::")[2]) for m in marks_of(MODULE, Path("tests/test_x.py"))}
    assert found == {
        ("9-01", "test_one"),
        ("9-02", "test_one"),
        ("9-04", "test_one"),
        ("9-01", "test_two"),
        ("9-05", "test_two"),
        ("9-01", "TestThree::test_four"),
        ("9-06", "TestThree::test_four"),
        ("9-07", "TestThree::test_four"),
        ("9-03", ""),
    }


def _project(folder: Path, row: str) -> list[str]:
    (folder / "tests").mkdir(parents=True)
    (folder / "rows.yaml").write_text("1-01: {need: a thing, accept: it is seen}\n1-02: {need: background}\n", "utf-8")
    (folder / "tests" / "test_x.py").write_text(
        f'import pytest\n@pytest.mark.row("{row}")\ndef test_x(): ...\n', "utf-8"
    )
    return ["--rows", str(folder / "rows.yaml"), "--tests", str(folder / "tests")]


def test_all_covered_is_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*_project(tmp_path, "1-01"), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["uncovered"], said["wrong"]) == ([], [])
    assert said["rows"][0] == {
        "id": "1-01",
        "need": "a thing",
        "accept": "it is seen",
        "missing": None,
        "tests": ["tests/test_x.py::test_x"],
    }


def test_an_uncovered_row_and_a_mark_of_no_row_are_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(_project(tmp_path, "1-03")) == 1
    out, err = capsys.readouterr()
    assert "no test: 1\n  1-01  a thing — it is seen" in out
    assert err == "wrong mark: tests/test_x.py::test_x names '1-03', which is no row\n"


def test_a_mark_on_cases_that_no_test_takes_is_wrong() -> None:
    rows = read_rows(ROOT / "tests" / "rows.yaml")
    assert matched(rows, [Mark("0-01", "", "tests/test_x.py: CASES")]) == [
        "tests/test_x.py: CASES marks no test with 0-01"
    ]


def test_uncovered_rows_come_first() -> None:
    rows = read_rows(ROOT / "tests" / "rows.yaml")
    rows[3].tests.append("tests/test_x.py::test_x")
    lines = list(table(rows[:5], 100))
    titles = [line for line in lines if line and not line.startswith(" ")]
    assert titles == ["no test: 4", "shown by tests: 1", "no acceptance: 0"]
