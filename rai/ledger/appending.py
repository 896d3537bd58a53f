"""Entries on their way into the ledger: made ready outside of its lock, sealed one after the other behind the last that is stored, and stored together."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection

from rai.ledger.chain import GENESIS, SealedRow, canonical, link, new_entry_id
from rai.ledger.contents import CONTENT, Split, content_body, split
from rai.ledger.databases.form import RecordedTurn
from rai.ledger.stored_contents import StoredContents
from rai.records import Entry


@dataclass(frozen=True, slots=True)
class Ready:
    """A body that is masked, as it is stored. `whole`: as it is read; `kept`: its one spelling; `parts`: what is stored once, None where nothing is; `turn`: the id
    of the turn that it records, None for what is no turn.
    """

    kind: str
    whole: dict[str, Any]
    kept: str
    parts: Split | None
    turn: str | None


@dataclass(frozen=True, slots=True)
class Waiting:
    """An entry that is to be stored, and who is told what became of it."""

    entry: Ready
    told: Future[Entry]


def ready(kind: str, masked: Mapping[str, Any]) -> Ready:
    """What an entry of this body is made of. Raises StoreError for a body that JSON cannot say."""
    kept = canonical(masked)
    whole = json.loads(kept)
    return Ready(kind, whole, kept, split(whole, kind), _turn_of(whole))


class Growth:
    """Entries behind the last that is stored, each sealed to the one before it; whoever has them stores them. `key`: the ledger's; `last`: None for a ledger without entries."""

    def __init__(self, key: bytes, ledger_id: str, last: SealedRow | None) -> None:
        self._key = key
        self._ledger_id = ledger_id
        self._last = last
        self.begin = last.seq if last else 0
        """The number of the last entry that is stored, 0 where none is."""
        self.rows: list[SealedRow] = []

    def add(self, kind: str, body: str) -> SealedRow:
        """Seals an entry of this body, in its one spelling, behind the others."""
        last, now = self._last, datetime.now(UTC)
        row = link(
            self._key,
            self._ledger_id,
            seq=last.seq + 1 if last else 1,
            entry_id=new_entry_id(int(now.timestamp() * 1000), last.entry_id if last else None),
            at=now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            kind=kind,
            body=body,
            prev=last.mac if last else GENESIS,
        )
        self.rows.append(row)
        self._last = row
        return row


def grow(
    connection: Connection, contents: StoredContents, growth: Growth, entries: Sequence[Ready]
) -> tuple[list[SealedRow], list[RecordedTurn]]:
    """Adds `entries` to `growth`, with those of their contents that no entry holds, by what is stored in the transaction of `connection`: the row of each, and which turns
    they record.
    """
    named = {name for entry in entries if entry.parts is not None for name in entry.parts.contents}
    numbers = contents.numbers(connection, growth.begin, named)
    rows, turns = [], list[RecordedTurn]()
    for entry in entries:
        row = growth.add(entry.kind, _said(entry, numbers, growth))
        rows.append(row)
        if entry.turn is not None:
            turns.append(RecordedTurn(entry.turn, entry.kind, row.entry_id))
    return rows, turns


def _said(entry: Ready, numbers: dict[str, int], growth: Growth) -> str:
    """The body that is stored; what it needs of contents is added to `growth` and `numbers` where it is not there."""
    if entry.parts is None:
        return entry.kept
    for named, value in entry.parts.contents.items():
        if named not in numbers:
            numbers[named] = growth.add(CONTENT, canonical(content_body(value))).seq
    return canonical(entry.parts.referring(numbers))


def _turn_of(body: Mapping[str, Any]) -> str | None:
    """The id of the turn that a body records; None for what is no turn."""
    reply = body.get("reply")
    turn = reply.get("turn_id") if isinstance(reply, Mapping) else None
    return turn if isinstance(turn, str) and turn else None
