"""The contents that a store holds: found again for whoever refers to them, and put into the bodies of those that do."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, TypeVar

from sqlalchemy import Connection

from grounding.errors import StoreError
from rai.entry_schema import STORED
from rai.ledger import sql
from rai.ledger.chain import SealedRow, canonical
from rai.ledger.contents import CONTENT, Split, content_body, is_split, join, named_in, numbers_in
from rai.records import Entry

T = TypeVar("T")
_REFERS = f'"{STORED}":'
"""Stands in the text of every body that refers to contents, and in few others."""
_BACK = 50_000
"""Entries before the last among which contents are looked for when a ledger is opened; what lies before is stored once more."""


class StoredContents:
    """The numbers of the contents of one store, as far as they were looked for. Not safe for use by two writers at a time."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._looked = 0

    def numbers(
        self, connection: Connection, parts: Split, insert: Callable[[Connection, str, str], SealedRow]
    ) -> dict[str, int]:
        """The numbers of the entries that hold the contents of `parts`; those that none holds are added with `insert`, in the transaction of `connection`."""
        self._look(connection)
        known = {named: self._numbers[named] for named in parts.contents if named in self._numbers}
        # What is there must be what it was: a content can be erased or changed at any time, and a turn that refers to it could not be read.
        there = {number: named_in(body) for number, body in _bodies(connection, known.values())}
        numbers = {named: number for named, number in known.items() if there.get(number) == named}
        for named, value in parts.contents.items():
            if named not in numbers:
                numbers[named] = insert(connection, CONTENT, canonical(content_body(value))).seq
        return numbers

    def _look(self, connection: Connection) -> None:
        """Goes on to the last entry that is stored. What this transaction adds is found by the next, if it was not rolled back."""
        last = sql.Reader().last(connection)
        end = last.seq if last else 0
        if end < self._looked:  # another store was put in its place
            self._numbers, self._looked = {}, 0
        for number, body in sql.bodies_after(connection, CONTENT, max(self._looked, end - _BACK)):
            if named := named_in(body):
                self._numbers[named] = number
        self._looked = end


@dataclass(frozen=True, slots=True)
class StoredPart:
    """Entries as they are stored, with the bodies of the contents that they refer to, by number. It can be sent to another process."""

    rows: tuple[SealedRow, ...]
    contents: Mapping[int, str]


def stored_part(connection: Connection, rows: Sequence[SealedRow]) -> StoredPart:
    """These rows, with the contents that they refer to. Raises StoreError for a body that is no JSON."""
    return StoredPart(
        tuple(rows),
        dict(_bodies(connection, (number for entry in _referring(rows) for number in numbers_in(entry.body)))),
    )


def entries_of(part: StoredPart) -> Iterator[Entry]:
    """The entries of a part, in its order, put together. Each is made when it is asked for: a whole turn is thousands of objects, and a hundred of them at
    once cost more to keep than to read. Raises StoreError for a body that is no JSON.
    """
    referring = {entry.seq: entry for entry in _referring(part.rows)}
    values = dict(_values(part.contents))
    spelled = cache(lambda number: canonical(values[number]))
    for row in part.rows:
        entry = referring.get(row.seq)
        yield entry_of(row) if entry is None else replace(entry, body=join(entry.body, entry.kind, values, spelled))


def made_of(make: Callable[[Entry], T], part: StoredPart) -> list[T]:
    """What `make` gives of each entry of a part."""
    return [make(entry) for entry in entries_of(part)]


def _referring(rows: Sequence[SealedRow]) -> list[Entry]:
    perhaps = [entry_of(row) for row in rows if isinstance(row.body, str) and _REFERS in row.body]
    return [entry for entry in perhaps if is_split(entry.body, entry.kind)]


def entry_of(row: SealedRow) -> Entry:
    """The entry of a row, with its body as it is stored. Raises StoreError for one that is no JSON."""
    try:
        body = {"erased": True} if row.body is None else json.loads(row.body)
    except (TypeError, ValueError):
        raise StoreError(f"entry {row.seq} of the ledger cannot be read; see attest ledger verify") from None
    return Entry(row.entry_id, row.seq, row.at, row.kind, body, row.prev, row.mac)


def _bodies(connection: Connection, numbers: Iterable[int]) -> Iterator[tuple[int, str]]:
    return sql.bodies_of(connection, CONTENT, sorted(set(numbers)))


def _values(bodies: Mapping[int, str]) -> Iterator[tuple[int, Any]]:
    """The contents in these bodies by number, those alone that can be read: whoever refers to another says so."""
    for number, body in bodies.items():
        with suppress(TypeError, ValueError, KeyError, RecursionError):
            yield number, json.loads(body)["value"]
