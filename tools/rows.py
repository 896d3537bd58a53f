"""Traceability of requirements: each row of tests/rows.yaml against the tests that name it: `make rows`, or `python -m tools.rows [--json]`.

The rows stand in `tests/rows.yaml`; a test names one with `@pytest.mark.row("2-07")`, a case of a table with
`pytest.param(…, marks=pytest.mark.row("2-07"))`. Tests are read, not run. Exit code 1: a row that has an acceptance has no
test, or a mark names no row or marks no test.
"""

from __future__ import annotations

import argparse
import ast
import json
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent


@dataclass(slots=True)
class Row:
    """A requirement, and the tests that show it. `accept` empty: nothing has to. `missing`: what the product still lacks for it."""

    id: str
    need: str
    accept: str = ""
    missing: str = ""
    tests: list[str] = field(default_factory=list)

    @property
    def uncovered(self) -> bool:
        return bool(self.accept) and not self.tests


@dataclass(frozen=True, slots=True)
class Mark:
    """A row that a test names; `test` empty: the mark stands on nothing that is run as a test."""

    row: str
    test: str
    place: str


def read_rows(path: Path) -> list[Row]:
    """Every row, in the order of the file."""
    return [Row(key, **row) for key, row in yaml.safe_load(path.read_text("utf-8")).items()]


def read_marks(folder: Path) -> list[Mark]:
    """The marks of every test module under `folder`."""
    return [
        mark
        for path in sorted(folder.rglob("test_*.py"))
        for mark in marks_of(path.read_text("utf-8"), path.relative_to(folder.parent))
    ]


def marks_of(source: str, path: Path) -> Iterator[Mark]:
    """The marks of one module: on its tests and their cases, on their class, or on the module as `pytestmark`."""
    module = ast.parse(source)
    shared = {name: node.value for node in module.body if isinstance(node, ast.Assign) for name in _names(node.targets)}
    used: set[str] = set()
    whole = [*_rows([shared["pytestmark"]])] if "pytestmark" in shared else []
    for test, marked in _tests(module.body, ()):
        named = {n.id for m in marked for n in ast.walk(m) if isinstance(n, ast.Name)} & shared.keys()
        used |= named
        for row in [*whole, *_rows([*marked, *(shared[n] for n in sorted(named))])]:
            yield Mark(row, f"{path}::{test}", f"{path}::{test}")
    for name in sorted(shared.keys() - used - {"pytestmark"}):
        for row in _rows([shared[name]]):
            yield Mark(row, "", f"{path}: {name}")


def _tests(body: Sequence[ast.stmt], outer: tuple[ast.expr, ...]) -> Iterator[tuple[str, tuple[ast.expr, ...]]]:
    """Names of tests with the decorators that hold for them."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            yield node.name, (*outer, *node.decorator_list)
        elif isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            for name, marked in _tests(node.body, (*outer, *node.decorator_list)):
                yield f"{node.name}::{name}", marked


def _names(targets: Iterable[ast.expr]) -> list[str]:
    return [t.id for t in targets if isinstance(t, ast.Name)]


def _rows(nodes: Iterable[ast.expr]) -> Iterator[str]:
    """The argument of every `pytest.mark.row(…)` in `nodes`, as it is written if it is no string."""
    for node in (n for root in nodes for n in ast.walk(root)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.row":
            for argument in node.args:
                yield (
                    argument.value
                    if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
                    else ast.unparse(argument)
                )


def matched(rows: Sequence[Row], marks: Iterable[Mark]) -> list[str]:
    """Give each row its tests. What is wrong with the marks, a line each."""
    by_id = {row.id: row for row in rows}
    wrong = []
    for mark in marks:
        if mark.row not in by_id:
            wrong.append(f"{mark.place} names {mark.row!r}, which is no row")
        elif not mark.test:
            wrong.append(f"{mark.place} marks no test with {mark.row}")
        elif mark.test not in by_id[mark.row].tests:
            by_id[mark.row].tests.append(mark.test)
    wrong += [f"tests show {row.id}, which tests/rows.yaml calls missing" for row in rows if row.missing and row.tests]
    return wrong


def table(rows: Sequence[Row], width: int) -> Iterator[str]:
    """What no test shows first, then what tests show, then what has no acceptance."""
    parts = (
        ("no test", [r for r in rows if r.uncovered]),
        ("shown by tests", [r for r in rows if r.accept and r.tests]),
        ("no acceptance", [r for r in rows if not r.accept]),
    )
    for title, part in parts:
        yield f"{title}: {len(part)}"
        for row in part:
            said = f"{row.need} — {row.accept}" if row.accept else row.need
            yield textwrap.fill(said, max(width, 40), initial_indent=f"  {row.id}  ", subsequent_indent=" " * 8)
            yield from ([f"          missing: {row.missing}"] if row.missing else [])
            yield from (f"          {test}" for test in row.tests)
        yield ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print rows against tests; 0 if every row that has an acceptance has a test and every mark a row."""
    parser = argparse.ArgumentParser(prog="python -m tools.rows", description="rows of requirements against tests")
    parser.add_argument("--json", action="store_true", help="one JSON document")
    parser.add_argument("--rows", type=Path, default=ROOT / "tests" / "rows.yaml")
    parser.add_argument("--tests", type=Path, default=ROOT / "tests")
    given = parser.parse_args(arguments)
    rows = read_rows(given.rows)
    wrong = matched(rows, read_marks(given.tests))
    uncovered = [row.id for row in rows if row.uncovered]
    if given.json:
        listed = [
            {"id": r.id, "need": r.need, "accept": r.accept or None, "missing": r.missing or None, "tests": r.tests}
            for r in rows
        ]
        print(json.dumps({"rows": listed, "uncovered": uncovered, "wrong": wrong}, ensure_ascii=False, indent=1))
    else:
        print("\n".join(table(rows, shutil.get_terminal_size((120, 24)).columns)))
        print(
            f"{len(rows)} rows, {sum(bool(r.accept) for r in rows)} with an acceptance, {len(uncovered)} of these without a test"
        )
        print(*(f"wrong mark: {line}" for line in wrong), sep="\n", file=sys.stderr, end="\n" if wrong else "")
    return 1 if uncovered or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
