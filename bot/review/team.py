"""Whose turns a reviewer sees: all, or those of people with whom they share a group of the directory. It is decided here, on the server, for every page and file."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from aiohttp import web

from bot.desk.rows import row_of
from bot.desk.search import DeskSearch
from bot.http.app_keys import SYSTEM
from bot.http.background.desk import DESK
from bot.http.errors import Refused
from bot.privacy.facts import person_key
from bot.review.door import sees_all, session_of
from bot.system import System
from grounding.ports import Directory
from rai.ports import Ledger
from rai.records import Entry

Among = frozenset[str] | None
"""Keys of the people whose turns are seen; None: everybody's, also those of strangers."""
MOST = 10_000
"""People of a team; a larger one is narrowed with ATTEST_REVIEW_TEAMS."""
AT_ONCE = 8
"""People whose groups are asked for at the same time."""


async def among(request: web.Request) -> Among:
    """Whose turns this request may show. Raises ServiceError where the directory does not say, and Refused (403) for a team that is too large."""
    session, system = session_of(request), request.app[SYSTEM]
    if sees_all(session, system.settings):
        return None
    if session.person is None:
        return frozenset()
    return await team_of(session.person.user, await request.app[DESK].people(), system)


async def team_of(user: str, people: list[str], system: System) -> frozenset[str]:
    """The keys of those of `people` who share a group that counts as a team with `user`, and of `user`. Raises ServiceError, Refused (403)."""
    counted = frozenset(system.settings.reviewing.teams)
    own = await system.directory.groups(user)
    own = own & counted if counted else own
    shared = await _sharing(own, people, system.directory) if own else []
    if len(shared) > MOST:
        message = f"Your team is more than {MOST} people. ATTEST_REVIEW_TEAMS names the groups that count as a team."
        raise Refused(403, "team_too_large", message, title="Too large a team")
    return frozenset({person_key(user), *map(person_key, shared)})


async def _sharing(own: frozenset[str], people: list[str], directory: Directory) -> list[str]:
    room = asyncio.Semaphore(AT_ONCE)

    async def shares(person: str) -> bool:
        async with room:
            return bool(own & await directory.groups(person))

    told = await asyncio.gather(*map(shares, people))
    return [person for person, is_shared in zip(people, told, strict=True) if is_shared]


async def own_search(request: web.Request, wanted: DeskSearch) -> DeskSearch:
    """The search, among the turns that this request may show. Raises as `among` does."""
    return replace(wanted, among=await among(request))


async def shows(ledger: Ledger, entry: Entry, among: Among) -> bool:
    """True if an entry is a turn of these people, or refers to some and to no other; every other is shown to those who see all. Raises StoreError."""
    if among is None:
        return True
    row = row_of(entry)
    if row.kind == "turn":
        return bool(row.user) and person_key(row.user) in among
    if not row.said:
        return False
    for said in row.said:
        turn = await ledger.get(said.turn)
        if turn is None or turn.kind != "turn" or not await shows(ledger, turn, among):
            return False
    return True


async def require_entry(request: web.Request, name: str) -> Entry:
    """The entry of the path's `name`. Raises Refused (404), the same for one that there is not and one that this request may not show."""
    ledger = request.app[SYSTEM].ledger
    entry = await ledger.get(request.match_info[name][:100])
    if entry is None or not await shows(ledger, entry, await among(request)):
        raise Refused(404, "not_found", "The ledger has no entry with this id.")
    return entry
