"""Entries that a command writes of what it did, where it does that without a system and may do it also if no entry can be written."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import typer

from bot.commands.shared.output import note
from bot.commands.shared.wiring import opened_ledger
from grounding.errors import StoreError, UserError
from rai.ports import Ledger
from rai.records import Entry


async def record_or_note(context: typer.Context, what: str, write: Callable[[Ledger], Awaitable[Entry]]) -> None:
    """Write an entry, or a line on stderr that says why `what` stands in no entry. What was done is done."""
    try:
        async with opened_ledger(context, writes=True) as found:
            await write(found.ledger)
    except (StoreError, UserError) as error:
        note(f"attest: {what} is not recorded in the ledger: {error}")
