"""What was found, as a file."""

from __future__ import annotations

import csv
import io
import json

import pytest

from bot.desk.index import DownloadRow
from bot.desk.sql import FoundEntry
from bot.desk.table import BYTE_ORDER_MARK, COLUMNS, heading, line, proven_line

LISTED = FoundEntry(
    7,
    "e7",
    "2026-11-25T09:00:00Z",
    "turn",
    False,
    "repaired",
    "",
    "http",
    "ada",
    "",
    "=1+1",
    "delivered",
    True,
    "wrong",
)
ROW = DownloadRow(LISTED, ("a.md", "b.md"), "=HYPERLINK(1)", 'He said "no",\nand left')


def test_a_spreadsheet_reads_every_cell_as_text() -> None:
    heads, cells = csv.reader(io.StringIO(heading("csv") + line(ROW, "csv"), newline=""))
    assert tuple(heads) == COLUMNS
    said = dict(zip(heads, cells, strict=True))
    assert said["question"] == "'=HYPERLINK(1)"
    assert said["answer"] == 'He said "no",\nand left'
    assert (said["seq"], said["struck"], said["documents"], said["code"]) == ("7", "yes", "a.md b.md", "")


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t", "\r"])
def test_what_a_spreadsheet_would_run_is_marked_as_text(begin: str) -> None:
    row = DownloadRow(LISTED, (), f"{begin}cmd", "")
    assert f"'{begin}cmd" in line(row, "csv")


def test_a_row_has_no_mark_of_its_own() -> None:
    """It is for who writes a file to a spreadsheet: a command line writes the same rows without it."""
    assert BYTE_ORDER_MARK.encode() == b"\xef\xbb\xbf"
    assert BYTE_ORDER_MARK not in heading("csv") + line(ROW, "csv")


def test_what_is_proven_goes_before_what_the_index_has() -> None:
    cells = dict.fromkeys(COLUMNS, "proven")
    del cells["arrived"], cells["verdict"]
    (read,) = csv.reader(io.StringIO(proven_line(ROW, cells), newline=""))
    said = dict(zip(COLUMNS, read, strict=True))
    assert (said.pop("arrived"), said.pop("verdict")) == ("delivered", "wrong")
    assert set(said.values()) == {"proven"}


def test_a_program_reads_each_line_as_an_object() -> None:
    assert heading("jsonl") == ""
    text = line(ROW, "jsonl")
    assert text.count("\n") == 1
    assert json.loads(text)["question"] == "=HYPERLINK(1)"
    assert json.loads(text)["documents"] == ["a.md", "b.md"]
