"""The contents that a store holds: found again for whoever refers to them, and put into the bodies of those that do."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, TypeVar

from sqlalchemy import Connection

from grounding.errors import StoreError
from rai.entry_schema import STORED
from rai.ledger import sql
from rai.ledger.chain import SealedRow, canonical
from rai.ledger.contents import CONTENT, is_split, join, named_in, numbers_in
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

    def numbers(self, connection: Connection, end: int, named: Collection[str]) -> dict[str, int]:
        """The numbers of the entries that hold contents of these SHA-256, of those that one holds. `end`: the number of the last entry that is stored; what this
        transaction adds is found by the next, if it was not rolled back.
        """
        if not named:
            return {}
        if end < self._looked:  # another store was put in its place
            self._numbers, self._looked = {}, 0
        known = {self._numbers[name] for name in named if name in self._numbers}
        # What is there must be what it was: a content can be erased or changed at any time, and a turn that refers to it could not be read.
        there = dict[int, str]()
        after = max(self._looked, end - _BACK)
        if known or end > after:
            bodies = sql.bodies_after(connection, CONTENT, after, sorted(known))
            there = {number: name for number, body in bodies if (name := named_in(body))}
        self._numbers.update((name, number) for number, name in sorted(there.items()) if number > after)
        self._looked = end
        return {name: number for name in named if there.get(number := self._numbers.get(name, 0)) == name}


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
