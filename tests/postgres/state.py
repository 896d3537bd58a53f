"""The state in PostgreSQL, for tests, and processes that share one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from sqlalchemy import select

from bot.state import State
from bot.state_schema import PART, WORKERS
from bot.teams.inbox import ActivityKey, Inbox
from grounding.database import schema
from grounding.database.postgres import Postgres

Opener = Callable[[], Awaitable[State]]
"""Opens the same state once more, as another process does."""


def shared(url: str, worker: str | None = None) -> str:
    """The URL of a database whose owner has made the tables, and given the role `worker` its rights."""
    owner = Postgres(url)
    with owner.writing(schema.LOCK) as connection:
        schema.upgrade(connection, [PART, WORKERS], worker)
    owner.close()
    return url


async def is_next(state: State, inbox: Inbox, key: ActivityKey) -> bool:
    """Whether nothing that came before it in its conversation is still worked on, by any process."""
    return not await state.ask(lambda c: c.execute(select(inbox.earlier(key))).scalar_one())


@asynccontextmanager
async def opener(place: Path | str) -> AsyncIterator[Opener]:
    """Opens the state of a file, or of the URL of a database; what it opened is closed at the end."""
    opened: list[State] = []

    async def open_one() -> State:
        opened.append(State(place if isinstance(place, Path) else Postgres(place)))
        await opened[-1].open()
        return opened[-1]

    yield open_one
    for state in opened:
        await state.close()
