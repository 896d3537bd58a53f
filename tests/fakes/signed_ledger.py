"""A ledger of form 2 in memory that signs checkpoints, as one that publishes them asks for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection

from grounding.errors import StoreError
from rai.ledger.checkpoints.checkpoint import Checkpoint, parse_checkpoint, parse_note
from rai.records import Entry
from tests.fakes.form2 import LEDGER_ID, SIGNER, Form2Ledger


class SignedLedger:
    """Signs `made` when it is asked; `signed`: how often it was, `keys`: with which, `published`: what it was told last."""

    ledger_id = LEDGER_ID

    def __init__(self, made: Form2Ledger) -> None:
        self.made = made
        self.keys = [SIGNER]
        self.signed = 0
        self.published: Checkpoint | None = None

    async def checkpoint(self, published: Checkpoint | None = None) -> str:
        self.signed += 1
        self.published = published
        await asyncio.sleep(0)
        return self.made.checkpoint(keys=self.keys)

    async def compare(self, published: Checkpoint) -> None:
        """As `SqlLedger.compare`, of a ledger whose entries all hold."""
        if published != parse_checkpoint(parse_note(self.made.checkpoint(published.size).encode())[0]):
            raise StoreError("over other entries")

    async def entries(
        self,
        *,
        after: int = 0,
        limit: int | None = None,
        newest_first: bool = False,
        kinds: Collection[str] | None = None,
    ) -> AsyncIterator[Entry]:
        assert (after, limit, newest_first) == ((0, 1, True) if kinds is None else (0, None, False))
        for e in self.made.entries[-1:] if kinds is None else [e for e in self.made.entries if e["kind"] in kinds]:
            yield Entry(e["entry_id"], e["seq"], e["at"], e["kind"], e["body"], e["prev"], e["mac"])
