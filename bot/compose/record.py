"""Opens the record to be read alone, without the system that writes it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bot.settings.settings import Settings
from rai.ports import Ledger


@asynccontextmanager
async def open_record(settings: Settings) -> AsyncIterator[Ledger]:
    """The ledger of `settings`, in which nothing is made or put back; closed at the end. Raises SettingsError, StoreError."""
    from rai.ledger.store import SqlLedger

    path, key_file = settings.files.home / "ledger.db", settings.files.ledger_key
    ledger = await asyncio.to_thread(SqlLedger, path, key_file, read_only=True)
    try:
        yield ledger
    finally:
        await ledger.close()
