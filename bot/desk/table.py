"""What a search found as a file: CSV for a spreadsheet, JSON lines for a program."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from typing import Literal

from bot.desk.index import DownloadRow

Form = Literal["csv", "jsonl"]
TYPES = {"csv": "text/csv", "jsonl": "application/jsonl"}
COLUMNS = (
    "seq",
    "entry_id",
    "at",
    "kind",
    "outcome",
    "code",
    "channel",
    "user",
    "product",
    "arrived",
    "struck",
    "verdict",
    "documents",
    "question",
    "answer",
)
BYTE_ORDER_MARK = "\ufeff"
"""What a file of CSV begins with that a spreadsheet is to open: without it, it takes UTF-8 for the encoding of its country, and £, € and accents for other signs."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the beginning of a formula."""


def heading(form: Form) -> str:
    """What stands before the first row."""
    return _line(COLUMNS) if form == "csv" else ""


def line(row: DownloadRow, form: Form) -> str:
    """A row, with its end of line."""
    said = row.as_json()
    if form == "jsonl":
        return json.dumps(said, ensure_ascii=False) + "\n"
    said["documents"] = " ".join(row.documents)
    said["struck"] = "yes" if row.row.struck else ""
    return _line([cell(said[name]) for name in COLUMNS])


def proven_line(row: DownloadRow, cells: Mapping[str, str]) -> str:
    """A row of CSV whose `cells` are what a proven entry says; the other columns, which later entries say, are as the index has them."""
    told = {"arrived": cell(row.row.arrived), "verdict": cell(row.row.verdict), **cells}
    return _line([told[name] for name in COLUMNS])


def cell(value: object) -> str:
    """A value as text that no spreadsheet runs."""
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text


def _line(cells: object) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerow(cells)  # type: ignore[arg-type]
    return out.getvalue()
