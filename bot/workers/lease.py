"""Work that one process does for all that share a state: the others have what it found, and one of them goes on within its lease when it dies."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from functools import partial

from sqlalchemy import Connection, CursorResult, TextClause, select, text, update

from bot.state import State, leases

_HOLD = (
    "INSERT INTO leases (name, holder, until) VALUES (:name, :holder, {clock} + :for_s) "
    "ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until "
    "WHERE leases.holder = excluded.holder OR leases.until <= {clock}"
)


@dataclass(frozen=True, slots=True)
class LeaseStanding:
    """Whether the lease is this process's now, and what its holder, this one or the one before, said last; None if nothing."""

    mine: bool
    said: str | None


class Lease:
    """The lease of the work `name` over `state`, which its opener closes, as one process has it. `for_s`: seconds that it lasts once it is held, by the state's
    clock; whoever holds it holds it again before these have passed. All raise StoreError.
    """

    def __init__(self, state: State, name: str, for_s: float) -> None:
        self._state = state
        self._name = name
        self._for_s = for_s
        self._holder = secrets.token_hex(16)

    async def hold(self) -> LeaseStanding:
        """Take it, or keep it, if no other process has it."""
        values = {"name": self._name, "holder": self._holder, "for_s": self._for_s}
        mine = await self._state.run(partial(_changed, text(_HOLD.format(clock=self._state.clock)), values))
        return LeaseStanding(mine, await self.said())

    async def said(self) -> str | None:
        """What was said last."""
        asked = select(leases.c.said).where(leases.c.name == self._name)
        return await self._state.ask(lambda connection: connection.execute(asked).scalar())

    async def say(self, words: str) -> None:
        """Tell the others what was found; nothing where the lease is another's by now."""
        mine = update(leases).where(leases.c.name == self._name, leases.c.holder == self._holder).values(said=words)
        await self._state.write(lambda connection: connection.execute(mine), repeatable=True)

    async def release(self) -> None:
        """Let another have it at once. What was said stays."""
        ended = update(leases).where(leases.c.name == self._name, leases.c.holder == self._holder).values(until=0.0)
        await self._state.write(lambda connection: connection.execute(ended), repeatable=True)


def _changed(statement: TextClause, values: dict[str, object], connection: Connection) -> bool:
    found = connection.execute(statement, values)
    assert isinstance(found, CursorResult)
    return found.rowcount > 0
