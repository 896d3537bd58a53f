"""Small data derived from the knowledge base, kept beside it: in a file of its own, or in tables of a PostgreSQL that many share.

What is kept has one set of statements, in the `dialects.forms` of both databases; this says how they are run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from grounding.database.postgres import Postgres
from grounding.database.schema import SchemaPart
from grounding.store.side_file import SideFile
from grounding.store.side_tables import SideTables

T = TypeVar("T")
Forms = Mapping[str, str]
"""A statement by the name of a dialect, see `grounding.store.dialects.forms`."""
Place = Path | Postgres
"""The file, or the database in whose schema the tables lie."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept. `tables`: statements that make those of a file where they are missing; `part`: those of PostgreSQL, made by its owner; its name is also that of
    the lock of whoever writes. `what`: what a person calls it; `mend`: the remedy for a file that cannot be used, to make it anew unless told. `rewritten`: the tables of PostgreSQL that an erasure
    writes anew, whose readers take their lock first.
    """

    what: str
    tables: str
    part: SchemaPart
    mend: str = ""
    rewritten: tuple[str, ...] = ()


class SideRows(Protocol):
    """Rows in one look or one transaction. Text is stored and asked for as `grounding.database.text.storable` has it; a list of texts is one parameter."""

    def rows(self, statement: Forms, *values: Any) -> list[tuple[Any, ...]]:
        """What a statement finds; nothing for one that changes."""
        ...

    def stream(self, statement: Forms) -> Iterator[tuple[Any, ...]]:
        """What a statement finds, one after the other: all of it may be more than fits in memory."""
        ...

    def each(self, statement: Forms, rows: Iterable[Sequence[Any]]) -> None:
        """Runs a statement that changes for each of `rows`."""
        ...


class Side(Protocol):
    """Where something is kept. Whatever it raises is a StoreError of one line."""

    @property
    def is_shared(self) -> bool:
        """True if programs on several machines share it."""
        ...

    @property
    def is_made(self) -> bool:
        """False for a file that is not there: nothing is kept. Tables count as made, also where they are found to be missing when they are used."""
        ...

    def look(self, work: Callable[[SideRows], T]) -> T:
        """What `work` finds, for what a turn waits for: nothing is made, and nobody is waited for long."""
        ...

    def read(self, work: Callable[[SideRows], T]) -> T:
        """What `work` finds; a file is made."""
        ...

    def write(self, work: Callable[[SideRows], T]) -> T:
        """What `work` returns, done in one transaction of whoever alone writes now, from its first look on. A connection that is lost in front of the commit is made
        anew, and `work` done again; ConnectionLost where nobody knows whether it is stored.
        """
        ...

    def discard(self) -> None:
        """Removes a file, so that one which is damaged is made anew. Tables stay as they are."""
        ...


def side_at(place: Place, kept: Kept) -> Side:
    """Where `kept` lies. Nothing is opened yet."""
    if isinstance(place, Postgres):
        return SideTables(place, kept.part, kept.what, kept.rewritten)
    return SideFile(place, kept.tables, kept.what, kept.mend)
