"""Reader of CSV and similar tables: the delimiter is the one under which every row has the same number of cells. A table of questions and answers is read as sections."""

from __future__ import annotations

import csv
import io
from collections import Counter

from grounding.faq import question_and_answer
from grounding.ingest.readers import content_types
from grounding.ingest.readers.extract import Extract, Refused, Writer, clean, one_line
from grounding.ingest.readers.rows import header_rows, row_lines
from grounding.ingest.readers.texts.encoding import decode

CONTENT_TYPE = content_types.DELIMITED

_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE_CHARS = 64_000
FEW = 8
"""Rows of a table from which one may differ."""
_MAX_CELL = 1_000_000
_TITLE = 160
"""Characters of a note above a table that can be its title."""


def delimiter_of(text: str) -> str | None:
    """The delimiter of a table in `text`, or None: at least two rows, at least two cells in each, all alike.

    One row in twenty may differ, for notes and totals, and one of as few as `FEW`.
    """
    best: tuple[float, int, str] | None = None
    text = _apart(text)[1]
    sample = text[:_SAMPLE_CHARS]
    if len(text) > _SAMPLE_CHARS:
        sample = sample[: sample.rfind("\n") + 1]
    for delimiter in _DELIMITERS:
        if delimiter not in sample:
            continue
        widths = Counter(len(row) for row in _parse(sample, delimiter) if any(row))
        (width, count), total = widths.most_common(1)[0] if widths else (0, 0), widths.total()
        if width >= 2 and total >= 2 and total - count <= _may_differ(total):
            best = max(best or (0.0, 0, ""), (count / total, width, delimiter))
    return best[2] if best else None


def _may_differ(rows: int) -> float:
    """How many of so many rows may have another number of cells."""
    return max(0.05 * rows, 1.0 if rows >= FEW else 0.0)


def _apart(text: str) -> tuple[str, str, str]:
    """The notes above a table, as lines that begin with "#", the table, and the notes below it."""
    lines = text.splitlines(keepends=True)
    first = next((n for n, line in enumerate(lines) if not _is_note(line)), len(lines))
    last = next((n for n in range(len(lines), first, -1) if not _is_note(lines[n - 1])), first)
    return "".join(lines[:first]), "".join(lines[first:last]), "".join(lines[last:])


def _is_note(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def looks_delimited(text: str, *, named: bool = True) -> bool:
    """True if the rows of `text` are alike and no prose; with `named`, the first must also name columns."""
    text = _apart(text)[1]
    delimiter = delimiter_of(text)
    if delimiter is None:
        return False
    rows = [row for row in _parse(text[:_SAMPLE_CHARS], delimiter, skip=False) if any(row)]
    if len(rows) < 2 or _is_prose(rows[0]):
        return False
    return not named or bool(header_rows(_rows_and_notes([[one_line(c) for c in row] for row in rows])[0][:50]))


def _is_prose(header: list[str]) -> bool:
    """True if the commas of a first row are those of sentences, with a space behind them or nothing at all."""
    spaced = len(header) < 3 and any(cell.startswith(" ") or not cell for cell in header[1:])
    return spaced or any(cell.rstrip().endswith((".", "!", "?")) or len(cell) > 60 for cell in header)


def read_delimited_file(data: bytes, name: str) -> Extract:
    """Extract of a delimited file in any encoding; see `read_delimited`."""
    return read_delimited(decode(data), name)


def read_delimited(text: str, name: str) -> Extract:
    """Extract of a delimited table, one line per row with its headers. Raises Refused."""
    above, table, below = _apart(text)
    delimiter = delimiter_of(table) or ","
    try:
        grid = [[one_line(cell) for cell in row] for row in _parse(clean(table), delimiter)]
    except csv.Error as error:
        raise Refused("corrupt", f"a table that cannot be read: {error}") from None
    grid, odd = _rows_and_notes([row for row in grid if any(row)])
    top = header_rows(grid[:200])
    writer = Writer()
    said = _told(above)
    for note in said:
        writer.line(note)
    places = question_and_answer(grid[0]) if top else None
    if places is not None:
        for row in grid[top:]:
            _faq(row, grid[0], places, writer)
    else:
        for line in row_lines(grid[top:] or grid, grid[0] if top else ()):
            writer.line(line)
    for note in (*odd, *_told(below)):
        writer.line(note)
    titled = said[0] if said and len(said[0]) <= _TITLE else name  # what stands above a table is what it is about
    return writer.extract(titled, CONTENT_TYPE)


def _faq(row: list[str], headers: list[str], places: tuple[int, int], writer: Writer) -> None:
    """Write a question as the heading of its answer, and under them what else the row says; a row without one of them stays a row."""
    question, answer = (row[i] if i < len(row) else "" for i in places)
    said = question and answer
    if said:
        writer.heading(question, 2)
        writer.block(answer)
    rest = ["" if said and i in places else cell for i, cell in enumerate(row)]
    writer.lines(list(row_lines([rest], headers)))


def _rows_and_notes(grid: list[list[str]]) -> tuple[list[list[str]], list[str]]:
    """The rows of a table, and as text those that have more cells than most: sentences whose commas are none of the table's."""
    width = Counter(map(len, grid)).most_common(1)[0][0] if grid else 0
    odd = [row for row in grid if any(row[width:])]
    if len(odd) > _may_differ(len(grid)):
        return grid, []
    return [row for row in grid if not any(row[width:])], [", ".join(filter(None, row)) for row in odd]


def _told(notes: str) -> list[str]:
    return [note for line in clean(notes).splitlines() if (note := line.strip("# \t"))]


def _parse(text: str, delimiter: str, *, skip: bool = True) -> list[list[str]]:
    csv.field_size_limit(_MAX_CELL)
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=skip))
