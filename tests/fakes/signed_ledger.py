"""A ledger of form 2 in memory that signs checkpoints, as one that publishes them asks for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from rai.records import Entry
from tests.fakes.form2 import LEDGER_ID, SIGNER, Form2Ledger


class SignedLedger:
    """Signs `made` when it is asked; `signed`: how often it was, `keys`: with which."""

    ledger_id = LEDGER_ID

    def __init__(self, made: Form2Ledger) -> None:
        self.made = made
        self.keys = [SIGNER]
        self.signed = 0

    async def checkpoint(self) -> str:
        self.signed += 1
        await asyncio.sleep(0)
        return self.made.checkpoint(keys=self.keys)

    async def entries(
        self, *, after: int = 0, limit: int | None = None, newest_first: bool = False
    ) -> AsyncIterator[Entry]:
        assert (after, limit, newest_first) == (0, 1, True)
        for e in self.made.entries[-1:]:
            yield Entry(e["entry_id"], e["seq"], e["at"], e["kind"], e["body"], e["prev"], e["mac"])
