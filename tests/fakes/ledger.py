"""What the fake ledgers share: their entries as an export that verifies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rai.ledger.chain import GENESIS, SealedRow, canonical, link
from rai.ledger.export import export_lines
from rai.records import Entry

KEY = bytes(range(32))


def exported(entries: Iterable[Entry]) -> Iterator[str]:
    """Lines for `verify_export` with KEY."""
    return export_lines(KEY, _rows(entries))


def _rows(entries: Iterable[Entry]) -> Iterator[SealedRow]:
    prev = GENESIS
    for e in entries:
        row = link(KEY, seq=e.seq, entry_id=e.entry_id, at=e.at, kind=e.kind, body=canonical(e.body), prev=prev)
        prev = row.mac
        yield row
