"""A ledger as it is stored: what is read of it, and whether it holds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from grounding.database.postgres import retried
from grounding.errors import StoreError
from grounding.records import OnProgress
from rai.ledger import sql
from rai.ledger.about import OF_ANOTHER_KEY, VERSION, check_about, form_faults
from rai.ledger.chain import (
    BREAKS_MAX,
    GENESIS,
    NAMING,
    Walk,
    is_same,
    is_whole,
    key_id,
    key_named,
    mac_of,
    result_of,
    told_of,
    walk,
)
from rai.ledger.contents import CONTENT
from rai.ledger.databases.form import LedgerDatabase
from rai.ledger.key import Anchor, Mark
from rai.ledger.stored_contents import StoredPart, entries_of, stored_part
from rai.ledger.watched_store import against
from rai.records import Break, Entry, Verification

T = TypeVar("T")


class StoredLedger:
    """The ledger `ledger_id` in `database`, sealed with `key`. `read_only`: it was not opened to write, so what that would have refused is refused here. Blocking; for a thread."""

    def __init__(
        self, database: LedgerDatabase, key: bytes, anchor: Anchor, ledger_id: str | None, *, read_only: bool
    ) -> None:
        self._database = database
        self._key = key
        self._anchor = anchor
        self._ledger_id = ledger_id
        self._read_only = read_only

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection to read out from. Raises SettingsError or StoreError for what opening to write would have refused."""
        with self._database.errors(), self._database.reading() as connection:
            if self._read_only:
                about = sql.about(connection)
                check_about({"schema": VERSION, "key_id": key_id(self._key), **about}, self._key)
            yield connection

    def read(self, work: Callable[[Connection], T]) -> T:
        """What `work` reads, again where the connection was lost."""

        def once() -> T:
            with self.reading() as connection:
                return work(connection)

        return retried(once)

    def get(self, entry_id: str) -> Entry | None:
        """The entry with that id, or None."""

        def work(connection: Connection) -> Entry | None:
            found = self._database.reader(connection).find(connection, entry_id)
            return None if found is None else next(entries_of(stored_part(connection, [found])))

        return self.read(work)

    def holds(self, entry_id: str) -> bool:
        """True if what is stored under that id is what was sealed."""

        def work(connection: Connection) -> bool:
            found = self._database.reader(connection).find(connection, entry_id)
            return found is not None and is_whole(self._key, found, self._ledger_id)

        return self.read(work)

    def part(
        self,
        after: int,
        bound: int | None,
        size: int,
        *,
        newest_first: bool = False,
        kinds: Collection[str] | None = None,
    ) -> StoredPart:
        """At most `size` entries with `seq` > `after`, or < `bound`, with the contents that they refer to; of these `kinds` alone if they are given."""

        def work(connection: Connection) -> StoredPart:
            rows = self._database.reader(connection).batch(
                connection, after, bound, size, newest_first=newest_first, without=CONTENT, kinds=kinds
            )
            return stored_part(connection, rows)

        return self.read(work)

    def verify(self, on_progress: OnProgress | None) -> Verification:
        """Checks the whole chain with the key, then compares it with the anchor."""
        apart: list[str] = []
        try:
            mark = self._anchor.read()  # before the snapshot: it can lag, never lead
        except StoreError as error:
            mark = None
            apart.append(f"changed: {error}")
        with self._database.errors(), self._database.reading() as connection:
            try:
                return self.verified(connection, mark, apart, on_progress)
            except DBAPIError as error:
                # The entries are read with care below; here the file does not even say what tables it has.
                damage = self._database.damage(error)
                if damage is None:
                    raise
                why = f"changed: the store cannot be read: {damage}"
                return Verification(False, 0, GENESIS, None, why, breaks=(Break(None, why),))

    def verified(
        self, connection: Connection, mark: Mark | None, apart: list[str], on_progress: OnProgress | None
    ) -> Verification:
        """The same in a transaction that was begun, against `mark`. `apart`: what was found beside the entries."""
        reader, about = self._database.reader(connection), sql.about(connection)
        if about.get("key_id", key_id(self._key)) != key_id(self._key) and not is_of_key(
            connection, reader, self._key, self._ledger_id
        ):
            why = f"changed: {OF_ANOTHER_KEY}"
            return Verification(False, 0, GENESIS, None, why, breaks=(Break(None, why),))
        told = (mark.ledger_id if mark else None, about.get("ledger_id"))
        state = Walk(hints=tuple(name for name in told if name))
        rows = reader.careful(connection, self._database.damage)
        if on_progress is not None:
            rows = told_of(rows, sql.highest(connection), on_progress)
        walk(self._key, rows, sql.Links(connection).__contains__, state)
        ledger_id = state.ledger_id or (self._ledger_id if state.read else None)
        if (
            len(state.breaks) < BREAKS_MAX and not apart
        ):  # else where the entries end, or where they should, is not known
            apart += against(connection, ledger_id, mark, state.seq)
        apart += form_faults(connection, self._database, self._key, ledger_id, pages=True)
        return replace(result_of(state, apart), ledger_id=ledger_id)

    def named_key(self) -> str | None:
        """The public key that the ledger named last, read now."""
        with self.reading() as connection:
            return self.verifier_key(connection, self._database.reader(connection))

    def verifier_key(self, connection: Connection, reader: sql.Reader) -> str | None:
        """The public key that the ledger named last."""
        found = reader.newest_of(connection, NAMING) if reader.salted else None
        return None if found is None else key_named(found)


def is_of_key(connection: Connection, reader: sql.Reader, key: bytes, ledger_id: str | None) -> bool:
    """True if the last entry, or the first, was sealed with this key."""
    ends = [row for row in (reader.first(connection), reader.last(connection)) if row is not None]
    names = (None, ledger_id, sql.about(connection).get("ledger_id"))
    return any(is_same(mac_of(key, row, name), str(row.mac)) for row in ends for name in names)
