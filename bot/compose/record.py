"""Opens the record without the system that writes it: to be read alone, or for the commands that prove it or add an entry."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from bot.compose.checkpoints import publisher
from bot.compose.database import usable_places
from bot.compose.resources import Resources
from bot.places import is_there
from bot.settings.settings import Settings
from bot.system import OpenLedger
from grounding.errors import InputError
from rai.ports import Ledger


@asynccontextmanager
async def open_record(settings: Settings) -> AsyncIterator[Ledger]:
    """The ledger of `settings`, in which nothing is made or put back; closed at the end. Raises SettingsError, StoreError."""
    from rai.ledger.store import SqlLedger

    places = await asyncio.to_thread(usable_places, settings)
    ledger = await asyncio.to_thread(SqlLedger, places.ledger, settings.files.ledger_key, read_only=True)
    try:
        yield ledger
    finally:
        await ledger.close()


@asynccontextmanager
async def open_ledger(settings: Settings, *, writes: bool = False) -> AsyncIterator[OpenLedger]:
    """The ledger with its keys and the place of its checkpoints; closed at the end. Only with `writes` may an entry be added.

    Raises InputError if there is none yet, SettingsError, StoreError.
    """
    from rai.ledger.store import SqlLedger

    files, resources = settings.files, Resources()
    path = (await asyncio.to_thread(usable_places, settings)).ledger
    if not is_there(path):
        raise InputError("there is no ledger yet: its first entry makes store and keys")
    make = partial(SqlLedger, path, files.ledger_key, signing_key_file=files.signing_key_path, read_only=not writes)
    ledger = await asyncio.to_thread(make)
    resources.append(ledger.close)
    try:
        yield OpenLedger(ledger, publisher(settings, ledger, resources), files.signing_key_path)
    finally:
        await resources.close()
