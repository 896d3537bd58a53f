"""Everything about one person, as JSON lines: entries of the ledger, what refers to their turns, and what `state.db` keeps of their conversations."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Any

from bot.privacy import conversations
from bot.privacy.erasure import Stores
from bot.privacy.facts import HOLD, TURN, Place, facts_of, is_erased
from grounding.errors import InputError
from rai.records import Entry

FORMAT = "attest-person-1"


async def about_person(stores: Stores, person: str) -> AsyncIterator[dict[str, Any]]:
    """A heading, then everything about the person, the oldest entry first, then rows of `state.db`, then what was left out.

    Entries are theirs, refer to their turns, or hold them. A conversation in which others spoke too is left out of the rows: nothing there says whose words they
    are. Raises InputError for an empty id, StoreError.
    """
    if not person.strip():
        raise InputError("--person: allowed is an id as the ledger has it")
    yield {"format": FORMAT, "person": person}
    theirs: set[str] = set()
    people: dict[Place, frozenset[str]] = {}
    count = 0
    async for entry in stores.ledger.entries():
        if is_erased(entry):
            continue
        facts = facts_of(entry)
        if facts.kind == TURN and facts.place is not None:
            people[facts.place] = people.get(facts.place, frozenset()) | (facts.users or {""})
        if person in facts.users and facts.kind == TURN:
            theirs.add(facts.entry_id)
        if person in facts.users or any(about in theirs for about in facts.about) or _holds(entry, person):
            count += 1
            yield {"from": "ledger", **asdict(entry)}
    places = [place for place, spoke in people.items() if person in spoke]
    alone = [place for place in places if people[place] == {person}]
    rows = await conversations.rows_of(stores.state, alone) if stores.state is not None else []
    for row in rows:
        yield {"from": "state", **row}
    yield {"end": {"entries": count, "rows": len(rows), "shared_conversations": len(places) - len(alone)}}


def _holds(entry: Entry, person: str) -> bool:
    return entry.kind == HOLD and (entry.body.get("on"), entry.body.get("target")) == ("person", person)
