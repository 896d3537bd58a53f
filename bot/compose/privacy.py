"""Opens everything that holds what people wrote, without the system that answers: the ledger, `state.db` and the notes of the quarantine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bot.compose.database import usable_places
from bot.compose.parts import DECISIONS
from bot.desk.index import Desk
from bot.events.digests import Digests
from bot.operator import operator
from bot.places import is_there, places_of
from bot.privacy.erasure import ErasableLedger, Stores
from bot.privacy.erasure_list import ErasureList
from bot.privacy.retention import Retained, Terms, retain
from bot.settings.forms import days_of_kinds
from bot.settings.settings import Settings
from bot.state import State
from grounding.errors import SettingsError
from rai.personal.redact import Redactor
from rai.screening.personal_data import redaction
from rai.screening.quarantine import ID

if TYPE_CHECKING:
    from rai.embedded.quarantine import DecisionFile


@asynccontextmanager
async def open_stores(settings: Settings, *, read_only: bool = False) -> AsyncIterator[Stores]:
    """The stores of `settings`, closed at the end; none is made. Raises SettingsError where there is no ledger, StoreError."""
    from rai.ledger.store import SqlLedger

    files = settings.files
    path = (await asyncio.to_thread(usable_places, settings)).ledger
    if not is_there(path):
        raise SettingsError(f"ATTEST_HOME={files.home}: there is no ledger here")
    masks = redaction(Redactor(settings.answering.phone_regions))
    make = partial(SqlLedger, path, files.ledger_key, signing_key_file=files.signing_key_path)
    ledger = await asyncio.to_thread(make, redact=masks, read_only=read_only)
    try:
        async with stores_over(settings, ledger) as stores:
            yield stores
    finally:
        await ledger.close()


@asynccontextmanager
async def stores_over(settings: Settings, ledger: ErasableLedger) -> AsyncIterator[Stores]:
    """The stores of `settings` beside a ledger that is open; the state is opened where there is one. Raises StoreError."""
    from rai.embedded.quarantine import DecisionFile

    places = places_of(settings)
    state = State(places.state) if is_there(places.state) else None
    desk = Desk(places.desk) if is_there(places.desk) else None
    notes = _FileNotes(DecisionFile(places.in_home(DECISIONS)))
    if state is not None:
        await state.open()
    try:
        yield Stores(ledger, state, notes, desk, None if places.database is None else erasures_noted(settings))
    finally:
        if desk is not None:
            await desk.close()
        if state is not None:
            await state.close()


def erasures_noted(settings: Settings, path: Path | None = None) -> ErasureList:
    """The list of erasures of the settings, or another that was written with their key."""
    return ErasureList(path or settings.erasures_file, Digests(settings.files.ledger_key).of)


def terms_of(settings: Settings) -> Terms:
    """For how long what is kept."""
    kept = settings.retention
    return Terms(kept.days, kept.state_days, days_of_kinds(kept.kinds))


BESIDE_TURNS = 0.2
"""Of the time, for a run once a day that reads a million entries: a page of the desk over 20,000 took 275 ms beside one that read without a rest."""


async def apply_retention(settings: Settings, ledger: ErasableLedger) -> Retained:
    """Take away what has been kept for long enough by now, beside the turns of a server. Raises StoreError."""
    async with stores_over(settings, ledger) as stores:
        return await retain(stores, terms_of(settings), datetime.now(UTC), operator(), share=BESIDE_TURNS)


class _FileNotes:
    """The notes in the file of decisions, by the id of a passage as entries have it: the beginning of its key."""

    def __init__(self, decisions: DecisionFile) -> None:
        self._decisions = decisions

    async def notes(self) -> Mapping[str, str]:
        found = await asyncio.to_thread(self._decisions.notes)
        return {key[:ID]: note for key, note in found.items()}

    async def forget(self, ids: Sequence[str]) -> int:
        keys = [key for key in await asyncio.to_thread(self._decisions.notes) if key[:ID] in ids]
        return await asyncio.to_thread(self._decisions.forget, keys)
