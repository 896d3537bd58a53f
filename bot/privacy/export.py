"""Everything about one person, as JSON lines: entries of the ledger, what refers to their turns, and what `state.db` keeps of their conversations."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Any

from bot.privacy import conversations
from bot.privacy.erasure import Stores
from bot.privacy.facts import HOLD, PERSONS, TURN, Place, facts_of, is_erased, person_key
from bot.privacy.selection import Selection
from grounding.errors import InputError
from rai.records import Entry

FORMAT = "attest-person-1"
_OF_THE_CONVERSATION = ("searched", "query", "prompt", "regeneration", "judgements")
"""Parts of a turn that are made of its history too."""


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
        own = person_key(person) in facts.users
        if own and facts.kind == TURN:
            theirs.add(facts.entry_id)
        if own or any(about in theirs for about in facts.about) or _holds(entry, person):
            count += 1
            shared = facts.place is not None and len(people.get(facts.place, ())) > 1
            yield {"from": "ledger", **asdict(entry), "body": _without_others(entry, own=own, shared=shared)}
    waiting = set[Place]()
    if stores.state is not None:
        waiting |= await conversations.matching(stores.state, Selection(person=person), ()) - people.keys()
    places = [*(place for place, spoke in people.items() if person_key(person) in spoke), *waiting]
    alone = [place for place in places if people.get(place, frozenset()) == {person_key(person)}]
    rows = await conversations.rows_of(stores.state, alone) if stores.state is not None else []
    for row in rows:
        yield {"from": "state", **row}
    yield {"end": {"entries": count, "rows": len(rows), "shared_conversations": len(places) - len(alone)}}


def _without_others(entry: Entry, *, own: bool, shared: bool) -> dict[str, Any]:
    """The body without what others said: a feedback of somebody else, and what quotes a conversation in which others spoke, under `left_out`."""
    body = dict(entry.body)
    names = [name for name in (_OF_THE_CONVERSATION if shared else ()) if name in body]
    if not own and entry.kind in PERSONS:
        names += [name for name in ("user", "actor", "text", "comment") if name in body]
    for name in names:
        del body[name]
    if shared and isinstance(ask := body.get("ask"), dict) and ask.get("history"):
        body["ask"] = {**ask, "history": []}
        names.append("ask.history")
    return {**body, "left_out": names} if names else body


def _holds(entry: Entry, person: str) -> bool:
    return (
        entry.kind == HOLD
        and entry.body.get("on") == "person"
        and person_key(str(entry.body.get("target"))) == person_key(person)
    )
