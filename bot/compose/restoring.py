"""Goes on with a database of which an older state was put back: what that cannot know is on record, what it brought back is taken away again."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from bot.compose.checkpoints import publisher
from bot.compose.database import usable_places
from bot.compose.privacy import erasures_noted, stores_over
from bot.compose.resources import Resources
from bot.operator import operator
from bot.privacy.repeating import Repeated, repeat
from bot.settings.settings import Settings
from bot.state import State
from bot.workers.live import GONE_S, live_workers
from grounding.database.postgres import NOW
from grounding.errors import InputError, SettingsError
from grounding.records import plain
from rai.records import Entry


@dataclass(frozen=True, slots=True)
class Restored:
    """What was done. `entry`: the record of it; `missing`: numbers of the first and the last entry that are known to be missing, None where none is; `dropped`: answers that waited,
    messages that were worked on, sessions and links; `repeated`: erasures.
    """

    entry: Entry
    missing: tuple[int, int] | None
    dropped: dict[str, int]
    repeated: Repeated


async def restored(settings: Settings, reason: str, lists: Sequence[Path]) -> Restored:
    """Begins a new epoch of the database of the settings. `lists`: of erasures of other machines, beside that of this one. No server may be at work.

    Raises SettingsError where no database is set, InputError for servers at work and for a list that is not there or not as it was written, StoreError for a record that does not hold.
    """
    from grounding.store.databases.postgres import name_anew
    from rai.ledger.store import SqlLedger

    places = await asyncio.to_thread(usable_places, settings)
    if places.database is None:
        raise SettingsError(
            "ATTEST_DATABASE_URL is not set; of files that were put back, attest ledger anchor says so in the record"
        )
    serving = await asyncio.to_thread(places.database.ask, partial(live_workers, now=NOW))
    if serving:
        named = ", ".join(dict.fromkeys(worker.name for worker in serving))
        raise InputError(
            f"{len(serving)} servers are at work over this database ({named}): stop them first; one that was killed counts for {GONE_S:.0f} s more"
        )
    files, resources = settings.files, Resources()
    own, others = erasures_noted(settings), [erasures_noted(settings, path) for path in lists]
    own.read()  # what is wrong with a list is said before anything is done
    for one in others:
        one.read(named=True)
    noted = [own, *others]
    ledger = await asyncio.to_thread(
        lambda: SqlLedger(places.ledger, files.ledger_key, signing_key_file=files.signing_key_path)
    )
    resources.append(ledger.close)
    try:
        published = publisher(settings, ledger, resources)
        newest = None if published is None else await published.look()
        last = [entry async for entry in ledger.entries(newest_first=True, limit=1)]
        async with stores_over(settings, ledger) as stores:
            assert stores.state is not None
            dropped = await _dropped(stores.state)
            await asyncio.to_thread(name_anew, places.database)
            entry = await ledger.restored(reason, newest.size if newest else 0, dropped, plain(operator()))
            until = datetime.fromisoformat(last[0].at).timestamp() if last else 0.0
            repeated = await repeat(stores, noted, until, f"an older state was put back: {reason}", operator())
        return Restored(entry, _missing(entry.body), dropped, repeated)
    finally:
        await resources.close()


async def _dropped(state: State) -> dict[str, int]:
    """Takes away what the older state would do again: answers that waited, messages that were worked on, and sessions, of which some were ended since."""
    from bot.review.session import ReviewAccess
    from bot.teams.delivery.undelivered import Undelivered
    from bot.teams.inbox import Inbox

    answers, messages = await Undelivered(state).drop(), await Inbox(state).give_up()
    return {"answers": answers, "messages": messages, "sessions": await ReviewAccess(state).revoke()}


def _missing(body: dict[str, Any]) -> tuple[int, int] | None:
    found = body.get("missing")
    return None if found is None else (int(found["first"]), int(found["last"]))
