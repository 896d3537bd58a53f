"""Reader of CSV and similar tables: the delimiter is the one under which every row has the same number of cells."""

from __future__ import annotations

import csv
import io
from collections import Counter

from grounding.ingest.readers import content_types
from grounding.ingest.readers.encoding import decode
from grounding.ingest.readers.extract import Extract, Refused, Writer, clean, one_line
from grounding.ingest.readers.rows import header_rows, row_lines

CONTENT_TYPE = content_types.DELIMITED

_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE_CHARS = 64_000
_MAX_CELL = 1_000_000
_TITLE = 160
"""Characters of a note above a table that can be its title."""


def delimiter_of(text: str) -> str | None:
    """The delimiter of a table in `text`, or None: at least two rows, at least two cells in each, all alike.

    One row in twenty may differ, for notes and totals.
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
        if width >= 2 and total >= 2 and count >= 0.95 * total:
            best = max(best or (0.0, 0, ""), (count / total, width, delimiter))
    return best[2] if best else None


def _apart(text: str) -> tuple[str, str]:
    """The notes above a table, as lines that begin with "#", and the table."""
    at = 0
    while at < len(text):
        end = text.find("\n", at) + 1 or len(text)
        line = text[at:end].strip()
        if line and not line.startswith("#"):
            break
        at = end
    return text[:at], text[at:]


def looks_delimited(text: str, *, named: bool = True) -> bool:
    """True if the rows of `text` are alike and no prose; with `named`, the first must also name columns."""
    text = _apart(text)[1]
    delimiter = delimiter_of(text)
    if delimiter is None:
        return False
    rows = [row for row in _parse(text[:_SAMPLE_CHARS], delimiter, skip=False) if any(row)]
    if len(rows) < 2 or _is_prose(rows[0]):
        return False
    return not named or bool(header_rows([[one_line(c) for c in row] for row in rows[:50]]))


def _is_prose(header: list[str]) -> bool:
    """True if the commas of a first row are those of sentences, with a space behind them or nothing at all."""
    spaced = len(header) < 3 and any(cell.startswith(" ") or not cell for cell in header[1:])
    return spaced or any(cell.rstrip().endswith((".", "!", "?")) or len(cell) > 60 for cell in header)


def read_delimited_file(data: bytes, name: str) -> Extract:
    """Extract of a delimited file in any encoding; see `read_delimited`."""
    return read_delimited(decode(data), name)


def read_delimited(text: str, name: str) -> Extract:
    """Extract of a delimited table, one line per row with its headers. Raises Refused."""
    notes, table = _apart(text)
    delimiter = delimiter_of(table) or ","
    try:
        grid = [[one_line(cell) for cell in row] for row in _parse(clean(table), delimiter)]
    except csv.Error as error:
        raise Refused("corrupt", f"a table that cannot be read: {error}") from None
    grid = [row for row in grid if any(row)]
    top = header_rows(grid[:200])
    writer = Writer()
    said = [note for line in clean(notes).splitlines() if (note := line.strip("# \t"))]
    for note in said:
        writer.line(note)
    for line in row_lines(grid[top:] or grid, grid[0] if top else ()):
        writer.line(line)
    titled = said[0] if said and len(said[0]) <= _TITLE else name  # what stands above a table is what it is about
    return writer.extract(titled, CONTENT_TYPE)


def _parse(text: str, delimiter: str, *, skip: bool = True) -> list[list[str]]:
    csv.field_size_limit(_MAX_CELL)
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=skip))
