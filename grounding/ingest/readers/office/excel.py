"""Reader of XLSX by sheet: rows that carry their headers, values as the sheet shows them, nothing that is hidden."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from typing import Any, cast
from xml.etree.ElementTree import Element

import openpyxl
from openpyxl.worksheet._read_only import ReadOnlyWorksheet
from openpyxl.xml.functions import iterparse

from grounding.ingest.readers import content_types
from grounding.ingest.readers.archive import damage_refused
from grounding.ingest.readers.extract import Extract, Refused, Writer, one_line
from grounding.ingest.readers.office.number_format import shown
from grounding.ingest.readers.rows import header_rows, row_lines

CONTENT_TYPE = content_types.EXCEL

MAX_CELLS = 20_000_000
_LOOK = 12  # rows at the top of a sheet among which the headers are sought
_NAMESPACE = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_CELL = re.compile(r"^([A-Z]+)(\d+)$")


def read_excel(data: bytes, name: str) -> Extract:
    """Extract of an XLSX with "sheet NAME" locators. Raises Refused.

    Formulas give the value that was saved with them.
    """
    writer = Writer()
    with damage_refused("an Excel file"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # openpyxl warns of parts that it leaves out; none of them is text
            book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        try:
            title = one_line(book.properties.title or "")
            for sheet in book.worksheets:
                if sheet.sheet_state == "visible":
                    writer.place(f"sheet {one_line(sheet.title)}")
                    for block in _blocks(sheet):
                        writer.lines(block)
        finally:
            book.close()
    return writer.extract(title or name, CONTENT_TYPE)


def _blocks(sheet: ReadOnlyWorksheet) -> Iterator[list[str]]:
    """Blocks of rows between empty rows, each with the headers of its own first row."""
    rows, columns = _hidden(sheet)
    block: list[list[str]] = []
    cells = 0
    sheet.reset_dimensions()
    for number, row in enumerate(_rows(sheet), 1):
        cells += max(len(row), 1)
        if cells > MAX_CELLS:
            raise Refused("too_large", f"more than {MAX_CELLS // 1_000_000} million cells on a sheet")
        line = [] if number in rows else _line(row, columns)
        if any(line):
            block.append(line)
        elif block and number not in rows:
            yield _lines(block)
            block = []
    if block:
        yield _lines(block)


def _rows(sheet: ReadOnlyWorksheet) -> Iterator[tuple[Any, ...]]:
    yield from cast(Any, sheet).iter_rows()  # the stubs give the method of another class


def _line(row: tuple[Any, ...], hidden: frozenset[int]) -> list[str]:
    return [
        "" if at in hidden or cell.value is None else one_line(shown(cell.value, cell.number_format))
        for at, cell in enumerate(row, 1)
    ]


def _lines(block: list[list[str]]) -> list[str]:
    """Text lines of a block of rows; what stands above the headers (a title, a note) stays a line of its own."""
    for top in range(min(_LOOK, len(block) - 1)):
        if header_rows(_narrowed(block[top:])):
            return [*row_lines(block[:top], ()), *row_lines(block[top + 1 :], block[top])]
        if sum(map(bool, block[top])) > 1:
            break
    return list(row_lines(block, ()))


def _narrowed(block: list[list[str]]) -> list[list[str]]:
    """The block without columns that are empty throughout."""
    width = max(map(len, block))
    used = [i for i in range(width) if any(i < len(row) and row[i] for row in block)]
    return [[row[i] if i < len(row) else "" for i in used] for row in block]


def _hidden(sheet: ReadOnlyWorksheet) -> tuple[frozenset[int], frozenset[int]]:
    """Numbers of hidden rows and columns, which openpyxl's read-only mode does not tell."""
    rows: set[int] = set()
    columns: set[int] = set()
    with cast(Any, sheet)._get_source() as source:  # noqa: SLF001  # the only handle on the sheet's XML in this mode
        for _, element in iterparse(source):
            if element.tag == f"{_NAMESPACE}row":
                if _is_hidden(element) and element.get("r"):
                    rows.add(int(element.get("r", "0")))
                element.clear()
            elif element.tag == f"{_NAMESPACE}col" and _is_hidden(element):
                columns.update(range(int(element.get("min", "0")), min(int(element.get("max", "0")), 16_384) + 1))
    return frozenset(rows), frozenset(columns)


def _is_hidden(element: Element) -> bool:
    return element.get("hidden") in ("1", "true")
