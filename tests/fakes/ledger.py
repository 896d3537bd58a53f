"""A ledger in memory, and what the fake ledgers share: their entries as an export that verifies."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

from grounding.bounded.pool import Run
from grounding.errors import StoreError
from grounding.records import OnProgress
from rai.entry_schema import texts
from rai.ledger.chain import GENESIS, SealedRow, canonical, commitment, mac_of
from rai.ledger.export import export_lines
from rai.ledger.watch import Watched
from rai.records import Entry, Verification

T = TypeVar("T")
KEY = bytes(range(32))
LEDGER_ID = "0123456789abcdef" * 2
PART = 256
"""Entries that go to another process at once, as those of the real ledger do."""


def made_of(make: Callable[[Entry], T], entries: Iterable[Entry]) -> list[T]:
    return [make(entry) for entry in entries]


def exported(entries: Iterable[Entry]) -> Iterator[str]:
    """Lines for `verify_export` with KEY."""
    return export_lines(KEY, _rows(entries), LEDGER_ID, "")


def _rows(entries: Iterable[Entry]) -> Iterator[SealedRow]:
    prev = GENESIS
    for e in entries:
        body = canonical(e.body)
        salt = hashlib.sha256(e.entry_id.encode()).hexdigest()  # asked twice, an export is the same
        unsealed = SealedRow(e.seq, e.entry_id, e.at, e.kind, salt, body, commitment(salt, body), prev, "")
        row = replace(unsealed, mac=mac_of(KEY, unsealed, LEDGER_ID))
        prev = row.mac
        yield row


class FakeLedger:
    """A keyed chain in a list."""

    ledger_id: str | None = LEDGER_ID

    def __init__(self) -> None:
        self.kept: list[Entry] = []
        self.walks = 0

    async def append(self, kind: str, body: dict[str, Any]) -> Entry:
        texts(body, kind)  # what the schema does not know is refused, as by the real one
        prev = self.kept[-1].mac if self.kept else ""
        seq = len(self.kept) + 1
        entry = Entry(f"e{seq:05d}x7q", seq, f"2026-11-20T09:{seq % 60:02d}:00Z", kind, body, prev, "")
        entry = replace(entry, mac=self._mac(entry))
        self.kept.append(entry)
        return entry

    def _mac(self, entry: Entry) -> str:
        sealed = repr((entry.prev, entry.seq, entry.kind, entry.body)).encode()
        return hmac.new(b"key", sealed, hashlib.sha256).hexdigest()

    async def get(self, entry_id: str) -> Entry | None:
        return next((e for e in self.kept if e.entry_id == entry_id), None)

    async def holds(self, entry_id: str) -> bool:
        found = await self.get(entry_id)
        return found is not None and found.mac == self._mac(found)

    async def entries(
        self,
        *,
        after: int = 0,
        limit: int | None = None,
        newest_first: bool = False,
        kinds: Collection[str] | None = None,
    ) -> AsyncIterator[Entry]:
        kept = sorted(
            (e for e in self.kept if e.seq > after and (kinds is None or e.kind in kinds)),
            key=lambda e: e.seq,
            reverse=newest_first,
        )
        for entry in kept[:limit]:
            yield entry

    async def each(
        self, make: Callable[[Entry], T], *, after: int = 0, limit: int, run: Run = asyncio.to_thread, at_once: int = 1
    ) -> list[T]:
        made, entries = list[T](), [entry async for entry in self.entries(after=after, limit=limit)]
        for begin in range(0, len(entries), PART):
            made += await run(made_of, make, entries[begin : begin + PART])
        return made

    async def export(self) -> AsyncIterator[str]:
        for line in exported(self.kept):
            yield line

    async def look(self, _budget_s: float = 0.5) -> Watched:
        whole = self._walked()
        return Watched(whole.why, whole.broken, whole.entries, 0.1, whole.head)

    async def verify(self, on_progress: OnProgress | None = None) -> Verification:
        self.walks += 1
        return self._walked()

    def _walked(self) -> Verification:
        prev = ""
        for entry in self.kept:
            if entry.prev != prev or entry.mac != self._mac(entry):
                return Verification(False, len(self.kept), prev, entry.entry_id, "its code does not match its content")
            prev = entry.mac
        return Verification(True, len(self.kept), prev)


class ShutLedger(FakeLedger):
    """A ledger that cannot be written while `shut`."""

    shut = True

    async def append(self, kind: str, body: dict[str, Any]) -> Entry:
        if self.shut:
            raise StoreError("the ledger cannot be used: the disk is full")
        return await super().append(kind, body)
