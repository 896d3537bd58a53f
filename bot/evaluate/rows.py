"""Rows of labelled data: JSON lines read, thinned evenly, and the fields that several suites read of one."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from bot.rows import fields
from bot.rows.jsonl import BadLine, open_source, read_rows
from grounding.errors import InputError

T = TypeVar("T")
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RowErrors:
    """Around the reading of one row: an InputError raised inside leaves with the file and the row that it is about."""

    path: Path
    row: Row

    def __enter__(self) -> None:
        """Nothing is done before the row is read."""

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, InputError):
            raise InputError(f"{self.path}, row {self.row.get('id')}: {error}", code=error.code) from None


def load(path: Path) -> list[Row]:
    """Every row of a file. Raises InputError that names file and line."""
    with open_source(str(path)) as stream:
        return [_good(path, number, row) for number, row in read_rows(stream)]


def json_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file as they are, nothing checked: a corpus, or a public set in its own form."""
    with path.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())


def spread(rows: Sequence[T], limit: int | None) -> list[T]:
    """At most `limit` of `rows`, evenly spaced, order kept; None is all."""
    if limit is None or limit >= len(rows):
        return list(rows)
    return [rows[i * len(rows) // limit] for i in range(limit)]


def kept_aside(document: str) -> bool:
    """True for a third of all documents, by the CRC-32 of their text: the held-out part, which no rule is written on and no model fitted to."""
    return zlib.crc32(document.encode()) % 3 == 0


def label(path: Path, row: Row, allowed: Sequence[str]) -> str:
    """The field `label`. Raises InputError."""
    value = row.get("label")
    if value not in allowed:
        raise InputError(f"{path}, row {row.get('id')}: field 'label' must be one of {', '.join(allowed)}")
    return str(value)


def tags_of(row: Row) -> tuple[str, ...]:
    """The row's `tags` and `collection`: parts of the set that are measured apart. Raises InputError."""
    collection = fields.optional_text(row, "collection")
    return tuple(dict.fromkeys((*fields.texts(row, "tags"), *([collection] if collection else []))))


def _good(path: Path, number: int, row: Row | BadLine) -> Row:
    if isinstance(row, BadLine):
        raise InputError(f"{path}, line {number}: {row.error}", code=row.error.code)
    return row
