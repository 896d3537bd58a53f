"""Tables of cases: the YAML file beside a test, whose rows become the cases that pytest runs, each under its own name.

`Tables(__file__)` in `test_dates.py` reads `dates.yaml`, which holds named tables. A table is a list of rows; a row has an `id`,
by which pytest names its case, and the arguments of the test that it is for. What a row leaves out is None. A row may also be
a single text, if the test takes no more than that; it is then its own name.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from _pytest.mark import ParameterSet


class _Loader(yaml.CSafeLoader):
    """YAML in which a key stands once: of two tables of one name, the first would be lost without a word."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys = [key.value for key, _ in node.value]
        twice = sorted({key for key in keys if keys.count(key) > 1})
        if twice:
            raise ValueError(f"line {node.start_mark.line + 1}: these stand twice: {', '.join(twice)}")
        return super().construct_mapping(node, deep)


class Tables:
    """The tables of one file. Raises ValueError if a name stands twice in it or a row has no id of its own."""

    def __init__(self, test: str) -> None:
        """Read the file that is named as the module `test` without its `test_`."""
        path = Path(test)
        self.path = path.with_name(f"{path.stem.removeprefix('test_')}.yaml")
        self.tables: dict[str, list[Any]] = yaml.load(self.path.read_text("utf-8"), Loader=_Loader)
        for name, rows in self.tables.items():
            self._check(name, rows)

    def _check(self, name: str, rows: list[Any]) -> None:
        ids = [row.get("id") for row in rows if isinstance(row, dict)]
        bad = [i for i in ids if not isinstance(i, str) or ids.count(i) > 1]
        if bad:
            raise ValueError(f"{self.path.name}, {name}: no text, or twice the same, as id: {bad}")

    def rows(self, table: str) -> list[dict[str, Any]]:
        """The rows of a table with every field that one of them has, their ids left out."""
        fields = dict.fromkeys(field for row in self.tables[table] for field in row if field != "id")
        return [{field: row.get(field) for field in fields} for row in self.tables[table]]

    def row(self, table: str, name: str) -> dict[str, Any]:
        """The row whose id is `name`."""
        return next(row for row in self.tables[table] if row["id"] == name)

    def texts(self, table: str) -> list[str]:
        """A table whose rows are texts."""
        return list(self.tables[table])

    def each(
        self,
        table: str,
        argument: str = "text",
        more: Sequence[ParameterSet] = (),
        **marks: pytest.MarkDecorator,
    ) -> pytest.MarkDecorator:
        """Run the test with every row of `table`; a row that is a text is its `argument`.

        `more` are cases that are better made than written. A field that `marks` names is no argument: a row in which it is true gets that mark.
        """
        plain = [row for row in self.tables[table] if not isinstance(row, dict)]
        if plain:
            return pytest.mark.parametrize(argument, [*plain, *more])
        rows = self.rows(table)
        arguments = [field for field in rows[0] if field not in marks]
        cases: list[ParameterSet] = []
        for given, row in zip(self.tables[table], rows, strict=True):
            given_marks = [mark for field, mark in marks.items() if row.get(field)]
            cases.append(pytest.param(*(row[a] for a in arguments), id=given["id"], marks=given_marks))
        return pytest.mark.parametrize(arguments, [*cases, *more])
