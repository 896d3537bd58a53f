"""A sample that is put into the reviewers' queue: an entry that names the turns which chance picked, and how they were picked."""

from __future__ import annotations

from collections.abc import Sequence

from bot.desk.search import DeskSearch
from bot.events.kinds import SAMPLE
from bot.records import Actor
from grounding.errors import InputError
from grounding.records import plain
from rai.entry_schema import NAME, SCHEMA
from rai.ports import Ledger
from rai.records import Entry


async def put_into_queue(
    ledger: Ledger, turns: Sequence[str], wanted: DeskSearch, *, number: int, by: str, seed: int, who: Actor
) -> Entry:
    """Record that these turns were picked of a search: `number` of each stratum of `by`, by `seed`. Raises InputError where none was, StoreError."""
    if not turns:
        raise InputError("the sample has no turn that could be put into the queue")
    body = {
        NAME: SCHEMA,
        "entry_ids": list(turns),
        "number": number,
        "by": by,
        "seed": seed,
        "wanted": wanted.conditions,
        "actor": plain(who),
    }
    return await ledger.append(SAMPLE, body)
