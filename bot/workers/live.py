"""The processes that serve over one state: each says again and again that it is there, and with which configuration."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from sqlalchemy import ColumnElement, Connection, delete, insert, select

from bot.state import Conflict, State, workers
from bot.workers.configuration import differing

BEAT_S = 10.0
"""Seconds between two signs of life."""
GONE_S = 35.0
"""Seconds without one after which a process no longer counts."""
_TOLD = 6


@dataclass(frozen=True, slots=True)
class LiveWorker:
    """A process that serves. `pool`: connections to the database that it holds at most; `configuration`: its digests by part."""

    name: str
    pool: int
    configuration: Mapping[str, str]


class SignsOfLife:
    """Those of one process, over `state`. All raise StoreError."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._id = secrets.token_hex(16)

    async def give(self, worker: LiveWorker) -> list[LiveWorker]:
        """Say that this process is there, and who else is. Those that are gone are struck."""
        own = {
            "id": self._id,
            "name": worker.name,
            "seen": self._state.now(),
            "pool": worker.pool,
            "configuration": json.dumps(worker.configuration),
        }

        def say(connection: Connection) -> None:
            connection.execute(delete(workers).where((workers.c.id == self._id) | ~_is_live(self._state.now())))
            connection.execute(insert(workers).values(own))

        with suppress(Conflict):  # two at once, or one repeated while the first is under way: one of them is there
            await self._state.write(say, repeatable=True)
        return await self._state.ask(partial(live_workers, now=self._state.now(), but=self._id))

    async def end(self) -> None:
        """This process serves no longer."""
        await self._state.write(
            lambda connection: connection.execute(delete(workers).where(workers.c.id == self._id)), repeatable=True
        )


def live_workers(connection: Connection, now: ColumnElement[float], but: str = "") -> list[LiveWorker]:
    """The processes that serve, by name. `now`: the time of the state that `connection` is of."""
    asked = select(workers).where(_is_live(now), workers.c.id != but).order_by(workers.c.name, workers.c.id)
    return [LiveWorker(row.name, row.pool, json.loads(row.configuration)) for row in connection.execute(asked)]


def differences(found: Sequence[LiveWorker]) -> Iterator[str]:
    """A line for each process whose configuration is not that of the first: which parts differ, never a value."""
    for other in found[1:]:
        if parts := differing(found[0].configuration, other.configuration):
            name = f"another {other.name}" if other.name == found[0].name else other.name
            yield f"{name} differs from {found[0].name} in {_listed(parts)}"


def _listed(parts: Sequence[str]) -> str:
    more = f" and {len(parts) - _TOLD} more" if len(parts) > _TOLD else ""
    return ", ".join(parts[:_TOLD]) + more


def _is_live(now: ColumnElement[float]) -> ColumnElement[bool]:
    return workers.c.seen > now - GONE_S
