"""What a database does for the ledger's repository: how it reads and writes, and what it keeps others from changing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from rai.ledger.chain import SealedRow
from rai.ledger.sql import Reader


class RecordedTwice(Exception):
    """A turn of this kind is in the ledger already; the transaction is to end without a trace."""


class RecordedTurn(NamedTuple):
    """That an entry is the one of this kind that a turn has."""

    turn: str
    kind: str
    entry_id: str


class LedgerDatabase(Protocol):
    """The database that a ledger lies in. Whatever it raises inside `errors` is a StoreError."""

    place: str
    """Where that is: what the anchor is of."""
    makes_keys: bool
    """True if the keys of a new ledger may be made here: nobody else has it."""
    exists: bool
    """False if there is none, and it was opened to be read: then it is empty."""

    def reading(self) -> AbstractContextManager[Connection]:
        """One snapshot."""
        ...

    def writing(self) -> AbstractContextManager[Connection]:
        """A transaction of whoever alone writes now, durable when this ends."""
        ...

    def errors(self) -> AbstractContextManager[None]:
        """Raises StoreError, on one line and without a statement, for whatever the database says."""
        ...

    def prepare(self, connection: Connection) -> list[str]:
        """Makes what is missing, or refuses a database that its owner is to bring up; the names of the guards that were gone and are there again."""
        ...

    def make_empty(self) -> AbstractContextManager[Connection]:
        """Where there is none and none is made, the tables of an empty one in memory."""
        ...

    def reader(self, connection: Connection) -> Reader:
        """The reader of these tables."""
        ...

    def bring_up(self, connection: Connection) -> None:
        """Turns tables of form 1 into those of form 2."""
        ...

    def add(
        self, connection: Connection, rows: Sequence[SealedRow], turns: Sequence[RecordedTurn], *, last: bool = False
    ) -> None:
        """Adds entries, one or more, in their order, and notes which turns have one now. `last`: nothing is said behind it in the transaction, which may be committed with it.
        Raises RecordedTwice if one of these had one of its kind, or two of them are the same.
        """
        ...

    def recorded(self, connection: Connection, turn: str, kind: str) -> str | None:
        """The id of the entry of this kind that a turn has, where such is noted."""
        ...

    def empty_bodies(self, connection: Connection, entry_ids: Sequence[str]) -> None:
        """Empties salt and body of these entries, which the entry before must have named."""
        ...

    def faults(self, connection: Connection, *, salted: bool, pages: bool) -> Iterator[str]:
        """What is there that this program did not make, or is not as it made it. `pages` False leaves out what takes as long as the ledger is."""
        ...

    def damage(self, error: DBAPIError) -> str | None:
        """What is wrong with what is stored, if the database says that it is not as it was written; None for any other trouble."""
        ...

    def refuse_another(self) -> None:
        """Raises StoreError if what was opened is no longer what others find there."""
        ...

    def refuse_full(self, connection: Connection) -> None:
        """Raises StoreError if an entry could not be written now."""
        ...

    def flush(self, wait_s: float | None = None) -> bool:
        """Takes what was erased out of the database's log, where that is ours. False if somebody who reads still keeps it there."""
        ...

    def close(self) -> None:
        """Closes the connections."""
        ...
