"""A ledger that was moved: its last entry says where to, and nothing is added behind that but the entry that opens it, at the place where it arrives or again where it was."""

from __future__ import annotations

import json
from dataclasses import dataclass

from sqlalchemy import Connection

from grounding.errors import StoreError
from rai.ledger.chain import MOVED, SealedRow
from rai.ledger.sql import Reader


@dataclass(frozen=True, slots=True)
class Moved:
    """The entry that a moved ledger ends with. `to`: where it was moved to; `mac`: its link, by which the two places are compared."""

    seq: int
    entry_id: str
    mac: str
    to: str


def moved_by(connection: Connection, reader: Reader, last: SealedRow | None) -> Moved | None:
    """What `last`, the last entry, says of where the ledger is now; None if it is here."""
    if last is None or last.kind != MOVED:
        return None
    whole = reader.at(connection, last.seq)
    said = json.loads(whole.body or "{}") if whole is not None else {}
    return Moved(last.seq, last.entry_id, last.mac, str(said.get("to", "another place")))


def refuse_moved(connection: Connection, reader: Reader, last: SealedRow | None) -> None:
    """Raises StoreError, which says where the ledger is, if it was moved and so takes no entries here."""
    if (found := moved_by(connection, reader, last)) is not None:
        raise StoreError(
            f"the ledger was moved to {found.to} and takes no entries here; attest database reopen opens it here again"
        )
