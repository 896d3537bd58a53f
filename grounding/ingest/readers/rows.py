"""Tables as lines that stand by themselves, each value with its column: `Plan: Basic | Price: $9.00`.

A value without its column's name is how the wrong plan's price gets quoted, so every row carries the headers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

_VALUE = re.compile(r"^[\s$€£¥+(-]*\d[\d.,:/%\s)-]*\S{0,4}$")
_LONGEST_HEADER = 80


def header_rows(grid: Sequence[Sequence[str]]) -> int:
    """Number of header rows: 1 if the first row looks like names of columns, otherwise 0.

    Names are present in every used column but perhaps the first, differ, are short, and are not numbers.
    """
    if len(grid) < 2:
        return 0
    width = max((i + 1 for row in grid for i, cell in enumerate(row) if cell), default=0)
    names = list(grid[0][:width])
    if width < 2 or len(names) < width or not all(names[1:]):
        return 0
    named = [n.lower() for n in names if n]
    fine = len(set(named)) == len(named) and not any(_VALUE.match(n) or len(n) > _LONGEST_HEADER for n in named)
    return int(fine)


def row_lines(grid: Iterable[Sequence[str]], headers: Sequence[str]) -> Iterator[str]:
    """One line per row that has a cell; cells without a header stand alone, empty cells are left out."""
    for row in grid:
        cells = [_cell(headers[i] if i < len(headers) else "", cell) for i, cell in enumerate(row) if cell]
        if cells:
            yield " | ".join(cells)


def table_lines(grid: Sequence[Sequence[str]], header_count: int | None = None) -> list[str]:
    """Lines of a whole table, one per row. `header_count` None: decide by `header_rows`.

    A table of nothing but headers keeps them as a line. Headers in several rows are joined from the top down.
    """
    count = header_rows(grid) if header_count is None else header_count
    if count >= len(grid):
        return list(row_lines(grid, ()))
    return list(row_lines(grid[count:], _joined(grid[:count])))


def _joined(rows: Sequence[Sequence[str]]) -> list[str]:
    width = max((len(row) for row in rows), default=0)
    columns = ([row[i] for row in rows if i < len(row) and row[i]] for i in range(width))
    return [" ".join(dict.fromkeys(column)) for column in columns]


def _cell(header: str, value: str) -> str:
    if not header or header.lower() == value.lower():
        return value
    return f"{header}{' ' if header.endswith(':') else ': '}{value}"
