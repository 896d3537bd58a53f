"""What a turn reads with; and apart from it, for the record, the groups that who asked held at the time.

Whoever asks in a group chat is answered as a stranger, for everybody reads along. The directory is asked about them all the same, while
the turn runs, and what it says goes into the record alone: no search ever sees it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from bot.records import Ask
from bot.turn.state import TurnState
from bot.wording.notes import PUBLIC_ONLY
from grounding.errors import AttestError, ServiceError, kind_and_place
from grounding.observe import record_degraded
from grounding.ports import Library
from grounding.records import Access

log = logging.getLogger(__name__)

HELD_S = 0.5
"""Seconds that the record waits at most for a directory that needs longer than the rest of the turn."""
UNTOLD = "are not in the record"
"""Stands in the note that the groups of who asked could not be learnt."""
_KNOWN_TO_DIRECTORY = frozenset({"aad", "local"})
"""Ways to know who asks that give an id of the directory; a channel's own id is none."""


async def turn_access(state: TurnState) -> Access:
    """What this user may see; a directory that fails means what everyone may see."""
    user, product = state.ask.user, state.ask.product
    if user is None:
        return Access(None, frozenset(), product)
    try:
        state.held = await state.seams.directory.groups(user)
    except ServiceError as error:
        record_degraded("directory")
        state.note(f"{error}; {PUBLIC_ONLY}")
        return Access(user, frozenset(), product)
    return Access(user, state.held, product)


async def restricted(library: Library, doc_ids: Iterable[str]) -> frozenset[str]:
    """Those of these documents that are not for everyone; a document that has gone counts as it was last, and all do where that cannot be told."""
    asked = tuple(dict.fromkeys(doc_ids))
    try:
        found = {doc_id: await library.last(doc_id) for doc_id in asked}
    except AttestError as error:
        log.warning("whose documents these are could not be read: %s", kind_and_place(error))
        return frozenset(asked)
    return frozenset(i for i, document in found.items() if document is not None and document.groups is not None)


@asynccontextmanager
async def groups_of_the_asker(state: TurnState) -> AsyncIterator[None]:
    """Ask for the groups of one who reads as a stranger while the block runs; `state.held` has them behind it, None where nobody could tell."""
    who = _reads_as_stranger(state.ask)
    asking = asyncio.create_task(_held(state, who)) if who else None
    try:
        yield
        if asking:
            await asyncio.wait({asking}, timeout=HELD_S)
            if not asking.done():
                state.note(f"the directory did not answer in time; the groups of who asked {UNTOLD}")
    finally:
        if asking and not asking.done():
            asking.cancel()


async def _held(state: TurnState, who: str) -> None:
    try:
        state.held = await state.seams.directory.groups(who)
    except Exception as error:  # noqa: BLE001 - the turn does not need them, so no fault of theirs may end it
        record_degraded("directory")
        said = str(error) if isinstance(error, ServiceError) else kind_and_place(error)
        state.note(f"{said}; the groups of who asked {UNTOLD}")


def _reads_as_stranger(ask: Ask) -> str | None:
    """Who asks, if the directory knows them and the turn does not read with their rights."""
    actor = ask.actor
    if ask.user is not None or actor is None or actor.authenticated_by not in _KNOWN_TO_DIRECTORY:
        return None
    return actor.user
