"""What a database does for the store's repositories: how it is read and written, and what is kept beside it in a folder."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol, TypeVar

from sqlalchemy import Connection

from grounding.store.notes import FolderNotes

T = TypeVar("T")


class StoreLook(Protocol):
    """The database that a store lies in, to be read. Whatever it raises is a StoreError."""

    def reading(self) -> AbstractContextManager[Connection]:
        """A connection to read by, for what is read in parts."""
        ...

    def read(self, work: Callable[[Connection], T]) -> T:
        """What `work` finds in one look, which is done again where the connection was lost."""
        ...

    def ask(self, question: Callable[[Connection], T]) -> T:
        """The same for what says one statement, and so needs no transaction around it."""
        ...


class StoreDatabase(StoreLook, Protocol):
    """The database that a store lies in."""

    folder: Path
    """Where the indexes of the store lie."""
    notes: FolderNotes | None
    """How far the indexes in the folder are, where indexes in other folders follow the same store; None where the database says it, as there is one folder."""

    def write(self, work: Callable[[Connection], T]) -> T:
        """What `work` returns, done in one transaction of whoever alone writes now, from its first look on: numbers that it gives rise in the order of the commits."""
        ...

    def refuse_another(self) -> None:
        """Raises StoreError if an older state of a shared store was put back since it was opened."""
        ...

    def close(self) -> None:
        """Closes all connections."""
        ...
