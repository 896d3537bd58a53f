"""What `state.db` holds of conversations, found and deleted. Text in it stands as people wrote it."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, and_, delete, func, select

from bot.privacy.facts import Place, contains, person_key
from bot.privacy.selection import Selection
from bot.state import State, inbox, sent, turns, undelivered

_TABLES: tuple[Table, ...] = (turns, inbox, sent, undelivered)
_AT = ((turns, turns.c.at), (inbox, inbox.c.received_at), (sent, sent.c.at), (undelivered, undelivered.c.since))
"""Each with the time of a row."""


@dataclass(frozen=True, slots=True)
class Kept:
    """How many rows of conversations there are: kept turns, messages that came in or wait to go out, notes of what was sent."""

    conversations: int = 0
    turns: int = 0
    inbox: int = 0
    sent: int = 0

    @property
    def rows(self) -> int:
        return self.turns + self.inbox + self.sent

    def __add__(self, other: Kept) -> Kept:
        return Kept(
            self.conversations + other.conversations,
            self.turns + other.turns,
            self.inbox + other.inbox,
            self.sent + other.sent,
        )


async def matching(state: State, wanted: Selection, theirs: Collection[Place]) -> frozenset[Place]:
    """The conversations that a selection means beside those of its entries. `theirs`: where the selected person is known to have spoken.

    A text is looked for as people wrote it, so this finds what is masked in the ledger. Raises StoreError.
    """
    if wanted.entries:
        return frozenset()

    def work(connection: Connection) -> frozenset[Place]:
        return frozenset(place for place in _all(connection) if _fits(connection, place, wanted, theirs))

    return await state.run(work)


async def count(state: State, places: Iterable[Place], entries: Collection[str] = ()) -> Kept:
    """What `erase` would delete. Raises StoreError."""
    chosen = list(places)

    def work(connection: Connection) -> Kept:
        found = [_counted(connection, place) for place in chosen]
        apart = _sent_of(connection, entries, chosen)
        return sum((kept for kept in found if kept.rows), Kept()) + Kept(sent=len(apart))

    return await state.run(work)


async def erase(state: State, places: Iterable[Place], entries: Collection[str] = ()) -> Kept:
    """Delete all rows of these conversations, and which message carried one of these entries. Raises StoreError."""
    chosen = list(places)

    def work(connection: Connection) -> Kept:
        found = [_counted(connection, place) for place in chosen]
        apart = _sent_of(connection, entries, chosen)
        for table in _TABLES:
            for place in chosen:
                connection.execute(delete(table).where(_of(table, place)))
        for place, activity in apart:
            connection.execute(delete(sent).where(_of(sent, place), sent.c.activity == activity))
        return sum((kept for kept in found if kept.rows), Kept()) + Kept(sent=len(apart))

    return await state.run(work)


async def erase_until(state: State, digest: Callable[[Place], str], until: Mapping[str, float]) -> int:
    """Delete the rows of conversations whose digest is in `until` that are not newer than that says, in seconds since the epoch; how many. Raises StoreError."""

    def work(connection: Connection) -> int:
        gone = 0
        for place in _all(connection):
            if (when := until.get(digest(place))) is not None:
                for table, at in _AT:
                    gone += connection.execute(delete(table).where(_of(table, place), at <= when)).rowcount
        return gone

    return await state.run(work)


async def trim(state: State, before: float, spared: Collection[Place] = (), *, dry: bool = False) -> Kept:
    """Delete what is older than `before`, in seconds since the epoch, but for the conversations in `spared`, which are held. Raises StoreError.

    A message that is still to be answered stays; whoever works on it ends that. `dry`: what would go is counted and stays.
    """
    old = (
        turns.c.at < before,
        and_(inbox.c.status == "done", inbox.c.received_at < before),
        sent.c.at < before,
        undelivered.c.since < before,
    )

    def work(connection: Connection) -> Kept:
        counts, touched = [0, 0, 0, 0], set[Place]()
        for n, (table, is_old) in enumerate(zip(_TABLES, old, strict=True)):
            for place in _places(connection, table, is_old):
                if place not in spared:
                    these = and_(_of(table, place), is_old)
                    counts[n] += connection.execute(select(func.count()).select_from(table).where(these)).scalar_one()
                    touched.add(place)
                    if not dry:
                        connection.execute(delete(table).where(these))
        return _kept(len(touched), counts)

    return await state.run(work)


async def all_of(state: State) -> frozenset[Place]:
    """Every conversation of which anything is kept. Raises StoreError."""
    return await state.run(lambda connection: frozenset(_all(connection)))


async def rows_of(state: State, places: Iterable[Place]) -> list[dict[str, Any]]:
    """All that is kept of these conversations, each row with the name of its table, in the order of conversations and time. Raises StoreError."""
    chosen = sorted(places)

    def work(connection: Connection) -> list[dict[str, Any]]:
        found = []
        for place in chosen:
            for table, at in _AT:
                rows = connection.execute(select(table).where(_of(table, place)).order_by(at)).mappings()
                found += [{"table": table.name, **row} for row in rows]
        return found

    return await state.run(work)


def _fits(connection: Connection, place: Place, wanted: Selection, theirs: Collection[Place]) -> bool:
    if wanted.conversation is not None and place[1] != wanted.conversation:
        return False
    person, search = wanted.person, wanted.search
    if (
        person is not None
        and place not in theirs
        and not _wrote(connection, place, lambda a: person_key(person) in _senders(a))
    ):
        return False
    return search is None or _says(connection, place, search)


def _says(connection: Connection, place: Place, search: str) -> bool:
    said = connection.execute(select(turns.c.text).where(_of(turns, place))).scalars()
    return any(contains(text, search) for text in said) or _wrote(
        connection, place, lambda activity: contains(str(activity.get("text") or ""), search)
    )


def _wrote(connection: Connection, place: Place, test: Callable[[Mapping[str, Any]], bool]) -> bool:
    """True if a message that is still to be answered, or whose answer still waits, is such."""
    bodies = connection.execute(select(inbox.c.body).where(_of(inbox, place), inbox.c.body.is_not(None))).scalars()
    waiting = connection.execute(select(undelivered.c.body).where(_of(undelivered, place))).scalars()
    held = [json.loads(body) for body in waiting]
    asked = [*(json.loads(body) for body in bodies), *(kept["inbound"] for kept in held)]
    answers = [{**kept["inbound"], "text": kept["message"].get("text")} for kept in held]
    return any(isinstance(activity, dict) and test(activity) for activity in [*asked, *answers])


def _senders(activity: Mapping[str, Any]) -> tuple[str, ...]:
    """The ids by which the record may know who sent a message."""
    sender = activity.get("from")
    ids = (sender.get("aadObjectId"), sender.get("id")) if isinstance(sender, dict) else ()
    return tuple(person_key(one) for one in ids if isinstance(one, str))


def _all(connection: Connection) -> list[Place]:
    return sorted({place for table in _TABLES for place in _places(connection, table)})


def _places(connection: Connection, table: Table, condition: ColumnElement[bool] | None = None) -> list[Place]:
    query = select(table.c.channel, table.c.conversation).distinct()
    rows = connection.execute(query if condition is None else query.where(condition))
    return [(row[0], row[1]) for row in rows]


def _counted(connection: Connection, place: Place) -> Kept:
    counts = [
        connection.execute(select(func.count()).select_from(table).where(_of(table, place))).scalar_one()
        for table in _TABLES
    ]
    return _kept(1, counts)


def _kept(conversations: int, counts: Sequence[int]) -> Kept:
    """The counts of `_TABLES`; a message that waits to go out is one of those in hand."""
    said, came, noted, waiting = counts
    return Kept(conversations, said, came + waiting, noted)


def _sent_of(connection: Connection, entries: Collection[str], but: Collection[Place]) -> list[tuple[Place, str]]:
    """Messages outside the conversations `but` that carried one of `entries`."""
    names, found = sorted(entries), []
    for at in range(0, len(names), 500):
        part = select(sent.c.channel, sent.c.conversation, sent.c.activity).where(
            sent.c.entry_id.in_(names[at : at + 500])
        )
        found += [((row[0], row[1]), row[2]) for row in connection.execute(part)]
    return [(place, activity) for place, activity in found if place not in but]


def _of(table: Table, place: Place) -> ColumnElement[bool]:
    return and_(table.c.channel == place[0], table.c.conversation == place[1])
