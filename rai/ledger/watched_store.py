"""The store as whoever watches it looks at it, and its entries against the anchor."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from grounding.database.postgres import retried
from grounding.errors import StoreError
from rai.ledger import sql
from rai.ledger.about import form_faults
from rai.ledger.chain import GENESIS_ENTRY, UPGRADE, Flaw, SealedRow
from rai.ledger.databases.form import LedgerDatabase
from rai.ledger.key import Anchor, Mark

T = TypeVar("T")
NO_ANCHOR = "truncated: the anchor is missing, so entries cut from the end would not show"


class WatchedStore:
    """The store as a `rai.ledger.watch.Watchable`: each question on a connection of its own, so that nothing is held between two looks."""

    def __init__(self, database: LedgerDatabase, key: bytes, anchor: Anchor, ledger_id: str | None) -> None:
        self._database = database
        self._key = key
        self._anchor = anchor
        self._ledger_id = ledger_id

    def after(self, seq: int | None, count: int) -> list[SealedRow | Flaw]:
        def work(connection: Connection) -> list[SealedRow | Flaw]:
            try:
                return list(self._database.reader(connection).batch(connection, seq, None, count))
            except DBAPIError as error:
                damage = self._database.damage(error)
                if damage is None:
                    raise
                return [Flaw(None, f"changed: the store cannot be read after entry {seq or 0}: {damage}")]

        return self._read(work)

    def apart(self) -> list[str]:
        try:
            self._database.refuse_another()
            mark = self._anchor.read()  # before the snapshot: it can lag, never lead
        except StoreError as error:
            return [f"changed: {error}"]

        def work(connection: Connection) -> list[str]:
            last = self._database.reader(connection).last(
                connection
            )  # not of the walk, which others may have gone on behind
            return [
                *against(connection, self._ledger_id, mark, last.seq if last else 0),
                # a look must not take as long as the file is large
                *form_faults(connection, self._database, self._key, self._ledger_id, pages=False),
            ]

        return self._read(work)

    def is_linked(self, mac: str) -> bool:
        return self._read(lambda connection: sql.is_linked(connection, mac))

    def has_body(self, entry_id: str) -> bool:
        return self._read(lambda connection: sql.has_body(connection, entry_id))

    def _read(self, work: Callable[[Connection], T]) -> T:
        """What `work` reads, again where the connection was lost: a database that fails over has not broken the chain."""

        def once() -> T:
            with self._database.errors(), self._database.reading() as connection:
                return work(connection)

        return retried(once)


def against(connection: Connection, ledger_id: str | None, mark: Mark | None, last: int) -> list[str]:
    """What of the anchor does not fit the entries, of which the number of the last is `last`; nothing where it fits. `mark`: what the anchor says, None if it is missing."""
    if mark is None:
        return (
            [f"{NO_ANCHOR}; of a ledger that was moved or restored, attest ledger anchor makes it anew"] if last else []
        )
    if mark.count == last == 0:
        return []  # whoever was to begin a ledger was stopped behind its anchor; the next writes another
    if mark.count > last:
        return [f"truncated: {last} entries, but the anchor has seen {mark.count}"]
    if mark.ledger_id != ledger_id and not (mark.ledger_id is None and _is_of_before(connection, mark, last)):
        return ["changed: the anchor is that of another ledger"]
    return (
        [] if sql.holds(connection, mark) else [f"changed: entry {mark.count} is not the one that the anchor has seen"]
    )


def _is_of_before(connection: Connection, mark: Mark, last: int) -> bool:
    """True if a mark without a ledger stands where the ledger got its id: whoever wrote that may have been stopped before the anchor was moved."""
    following = sql.Reader().at(connection, mark.count + 1)
    at_most = 2  # the entry with the id, and one of kind `guard`
    return following is not None and following.kind in (UPGRADE, GENESIS_ENTRY) and last - mark.count <= at_most
