"""The contents that a store holds: found again for whoever refers to them, and put into the bodies of those that do."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection

from rai.ledger import sql
from rai.ledger.chain import SealedRow, canonical
from rai.ledger.contents import CONTENT, Split, content_body, is_split, join, named_in, numbers_in
from rai.records import Entry

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


def put_together(connection: Connection, entries: Sequence[Entry]) -> list[Entry]:
    """`entries` with the contents that they refer to, which are read together."""
    referring = [entry for entry in entries if is_split(entry.body, entry.kind)]
    values = dict(_values(connection, {number for entry in referring for number in numbers_in(entry.body)}))
    return [replace(e, body=join(e.body, e.kind, values)) if is_split(e.body, e.kind) else e for e in entries]


def _bodies(connection: Connection, numbers: Iterable[int]) -> Iterator[tuple[int, str]]:
    return sql.bodies_of(connection, CONTENT, sorted(set(numbers)))


def _values(connection: Connection, numbers: Iterable[int]) -> Iterator[tuple[int, Any]]:
    """The contents in the entries of these numbers, those alone that can be read: whoever refers to another says so."""
    for number, body in _bodies(connection, numbers):
        with suppress(TypeError, ValueError, KeyError, RecursionError):
            yield number, json.loads(body)["value"]
