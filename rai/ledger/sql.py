"""The ledger's tables and every statement on them that any database takes; what is one's own lies in `databases/`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Index,
    Integer,
    MetaData,
    Select,
    String,
    Table,
    Text,
    delete,
    func,
    insert,
    null,
    select,
    union_all,
    update,
)
from sqlalchemy.engine import Row as SqlRow
from sqlalchemy.exc import DBAPIError

from rai.ledger.chain import Flaw, SealedRow
from rai.ledger.key import Mark

BATCH = 200
"""Entries that are read at a time."""
_ASKED = 500
"""Numbers that one query asks for."""
_SALT = "salt"


def _tables(*, salted: bool) -> MetaData:
    metadata = MetaData()
    salt = [Column(_SALT, String(64), nullable=True)] if salted else []
    entries = Table(
        "entries",
        metadata,
        Column("seq", Integer().with_variant(BigInteger(), "postgresql"), primary_key=True, autoincrement=False),
        Column("entry_id", String(26), nullable=False, unique=True),
        Column("at", String(32), nullable=False),
        Column("kind", String(64), nullable=False),
        *salt,
        Column("body", Text, nullable=True),
        Column("digest", String(64), nullable=False),
        Column("prev", String(64), nullable=False),
        Column("mac", String(64), nullable=False),
    )
    if salted:
        Index("entries_of_kind", entries.c.kind, entries.c.seq)
    Table("about", metadata, Column("name", String(32), primary_key=True), Column("value", String(64), nullable=False))
    return metadata


METADATA, METADATA_1 = _tables(salted=True), _tables(salted=False)
"""The tables of form 2 and of form 1."""
_ENTRIES, _ABOUT = METADATA.tables["entries"], METADATA.tables["about"]
INDEXES = tuple(_ENTRIES.indexes)
"""Those of form 2."""


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads a store. `salted`: the table has a column for salts, as form 2 has."""

    salted: bool = True

    def last(self, connection: Connection, condition: ColumnElement[bool] | None = None) -> SealedRow | None:
        """The last entry, without its body, which is long and is not needed to add to the chain."""
        query = self._select(body=False).order_by(_ENTRIES.c.seq.desc()).limit(1)
        return _first(connection, query if condition is None else query.where(condition))

    def last_and(self, connection: Connection, seq: int) -> tuple[SealedRow | None, SealedRow | None]:
        """The last entry and the one of that number, both without body, in one question. Of a store of form 2."""
        newest = select(func.max(_ENTRIES.c.seq)).scalar_subquery()
        query = self._select(body=False).where(_ENTRIES.c.seq.in_([newest, seq])).order_by(_ENTRIES.c.seq)
        rows = [_row(found) for found in connection.execute(query)]
        return (rows[-1] if rows else None), next((row for row in rows if row.seq == seq), None)

    def first(self, connection: Connection) -> SealedRow | None:
        """The first entry."""
        return _first(connection, self._select().order_by(_ENTRIES.c.seq).limit(1))

    def newest_of(self, connection: Connection, kinds: Sequence[str]) -> SealedRow | None:
        """The last entry of one of these kinds, with its body."""
        return _first(connection, self._select().where(_ENTRIES.c.kind.in_(kinds)).order_by(_ENTRIES.c.seq.desc()))

    def find(self, connection: Connection, entry_id: str) -> SealedRow | None:
        """The entry with that id."""
        return _first(connection, self._select().where(_ENTRIES.c.entry_id == entry_id))

    def at(self, connection: Connection, seq: int) -> SealedRow | None:
        """The entry of that number."""
        return _first(connection, self._select().where(_ENTRIES.c.seq == seq))

    def batch(
        self,
        connection: Connection,
        after: int | None,
        bound: int | None,
        size: int | None,
        *,
        newest_first: bool = False,
        without: str | None = None,
        kinds: Collection[str] | None = None,
    ) -> list[SealedRow]:
        """At most `size` entries, or all, whose number is above `after` and below `bound`, of those that are given. `without`: a kind that is left out; `kinds`: those that are not."""
        query = self._select()
        if after is not None:
            query = query.where(_ENTRIES.c.seq > after)
        if bound is not None:
            query = query.where(_ENTRIES.c.seq < bound)
        if kinds is not None:
            query = query.where(_ENTRIES.c.kind.in_(kinds))
        if without is not None:
            query = query.where(_ENTRIES.c.kind != without)
        query = query.order_by(_ENTRIES.c.seq.desc() if newest_first else _ENTRIES.c.seq).limit(size)
        return [_row(found) for found in connection.execute(query)]

    def rows(self, connection: Connection, *, body: bool = True) -> Iterator[SealedRow]:
        """All entries in order, streamed on one connection: one snapshot, bounded memory."""
        query = self._select(body=body).order_by(_ENTRIES.c.seq)
        # of this question alone: told to the connection, it would hold for what is said behind it, and a cursor can write nothing
        for found in connection.execute(query, execution_options={"stream_results": True, "yield_per": BATCH}):
            yield _row(found)

    def careful(self, connection: Connection, damage: Callable[[DBAPIError], str | None]) -> Iterator[SealedRow | Flaw]:
        """All entries, and in place of the rest what keeps them from being read, which `damage` tells of an error."""
        read = 0
        try:
            for row in self.rows(connection):
                yield row
                read += 1
        except DBAPIError as error:
            what = damage(error)
            if what is None:
                raise
            connection.rollback()  # else what is asked next would be refused, of PostgreSQL at least
            yield Flaw(None, f"changed: the store cannot be read after entry {read}: {what}")

    def _select(self, *, body: bool = True) -> Select[Any]:
        left_out = {*(() if body else ("body",)), *(() if self.salted else (_SALT,))}
        return select(*(null().label(c.name) if c.name in left_out else c for c in _ENTRIES.c))


class Links:
    """The links of all entries, read when one is first looked for: a sound ledger never asks."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._links: set[object] | None = None

    def __contains__(self, mac: str) -> bool:
        if self._links is None:
            self._links = {found.mac for found in self._connection.execute(select(_ENTRIES.c.mac))}
        return mac in self._links


def insert_row(connection: Connection, row: SealedRow) -> None:
    """Adds an entry."""
    insert_rows(connection, [row])


def insert_rows(connection: Connection, rows: Sequence[SealedRow]) -> None:
    """Adds entries, in their order."""
    connection.execute(insert(_ENTRIES), [{name: getattr(row, name) for name in SealedRow.__slots__} for row in rows])


def empty_bodies(connection: Connection, entry_ids: Sequence[str]) -> None:
    """Empties salt and body of these entries, which the entry before must have named."""
    change = update(_ENTRIES).where(_ENTRIES.c.entry_id.in_(entry_ids)).values(body=None, salt=None)
    connection.execute(change)


def about(connection: Connection) -> dict[str, str]:
    """What a store says of itself."""
    return {str(n): str(v) for n, v in connection.execute(select(_ABOUT)).all()}


def note(connection: Connection, said: dict[str, str]) -> None:
    """Writes what the store says of itself."""
    connection.execute(insert(_ABOUT), [{"name": name, "value": value} for name, value in said.items()])


def note_anew(connection: Connection, said: dict[str, str]) -> None:
    """Writes what the store says of itself in place of what it said."""
    if about(connection):  # where workers share a database none may delete
        connection.execute(delete(_ABOUT))
    note(connection, said)


def holds(connection: Connection, mark: Mark) -> bool:
    """True if the entry that a mark stands on is there."""
    if mark.count == 0:
        return True
    return connection.execute(select(_ENTRIES.c.mac).where(_ENTRIES.c.seq == mark.count)).scalar() == mark.head


def highest(connection: Connection) -> int:
    """The highest number of an entry; 0 where there is none."""
    return connection.execute(select(func.max(_ENTRIES.c.seq))).scalar() or 0


def is_linked(connection: Connection, mac: str) -> bool:
    """True if an entry with that link is stored."""
    return _any(connection, _ENTRIES.c.mac == mac)


def bodies_after(connection: Connection, kind: str, seq: int, numbers: Sequence[int]) -> Iterator[tuple[int, str]]:
    """Number and body of the entries of a kind that stand after `seq`, and of these `numbers`, that were not erased, in one question; one may come twice."""
    query = select(_ENTRIES.c.seq, _ENTRIES.c.body).where(_ENTRIES.c.kind == kind, _ENTRIES.c.body.is_not(None))
    # two parts, so that each has its index
    parts = union_all(query.where(_ENTRIES.c.seq > seq), query.where(_ENTRIES.c.seq.in_(numbers)))
    for found in connection.execute(parts).yield_per(BATCH):
        yield found.seq, found.body


def bodies_of(connection: Connection, kind: str, numbers: Sequence[int]) -> Iterator[tuple[int, str]]:
    """Number and body of those of these entries that are of a kind and were not erased."""
    for begin in range(0, len(numbers), _ASKED):
        query = select(_ENTRIES.c.seq, _ENTRIES.c.body).where(
            _ENTRIES.c.seq.in_(numbers[begin : begin + _ASKED]), _ENTRIES.c.kind == kind, _ENTRIES.c.body.is_not(None)
        )
        for found in connection.execute(query):
            yield found.seq, found.body


def has_body(connection: Connection, entry_id: str) -> bool:
    """True if the entry is there with its body."""
    return _any(connection, (_ENTRIES.c.entry_id == entry_id) & _ENTRIES.c.body.is_not(None))


def _any(connection: Connection, condition: ColumnElement[bool]) -> bool:
    return connection.execute(select(_ENTRIES.c.seq).where(condition).limit(1)).first() is not None


def _first(connection: Connection, query: Select[Any]) -> SealedRow | None:
    found = connection.execute(query).first()
    return None if found is None else _row(found)


def _row(found: SqlRow[Any]) -> SealedRow:
    fields: tuple[Any, ...] = tuple(found)
    return SealedRow(*fields)  # the columns stand in the order of its fields
