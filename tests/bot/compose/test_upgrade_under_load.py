"""A schema that is upgraded under servers that know the one before: they go on, and end only where a step says that they must.

The next schema stands in for that of the next release: every table gets a column, an index and a table beside it, as a step that expands does.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from sqlalchemy import make_url

from bot.compose.database import schema_parts, upgraded
from bot.compose.record import open_record
from bot.places import places_of
from bot.records import Ask
from bot.settings.settings import Settings
from bot.state import State
from bot.system import System
from bot.teams.history import ConversationHistory
from bot.teams.inbox import ActivityKey, Attempt, Inbox
from grounding.database.schema import SchemaPart, Step
from grounding.errors import StoreError
from grounding.records import Turn
from rai.records import Outcome
from tests.e2e.processes import settings_over
from tests.eventually import eventually
from tests.knowledge_base import PAGE, running, take_in_page
from tests.postgres.faults import run
from tests.postgres.shared import made, server_over
from tests.postgres.state import is_next

QUESTION = "What does Watch Plus cost a month?"


def expanded(part: SchemaPart) -> SchemaPart:
    """The part as a later program might have it, with a step that this one can live with."""
    tables = [table.name for table in part.tables] or ["leases"]
    statements = [
        statement
        for name in tables
        for statement in (
            f"ALTER TABLE {name} ADD COLUMN later text NOT NULL DEFAULT 'new'",
            f"CREATE INDEX {name}_later ON {name} (later)",
        )
    ]
    beside = f"CREATE TABLE later_{part.name} (n integer)"
    return replace(part, steps=(*part.steps, Step((*statements, beside), oldest=part.steps[-1].oldest)))


@dataclass
class Load:
    """Turns that are asked of a server until it is told to stop, and messages that are taken, remembered and done."""

    system: System
    state: State
    answered: int = 0
    remembered: int = 0
    stopped: bool = False

    async def turns(self) -> None:
        while not self.stopped:
            reply = await self.system.answer(Ask(QUESTION), None)
            assert reply.outcome is Outcome.ANSWERED, (reply.code, reply.answer)
            self.answered += 1

    async def messages(self, name: str) -> None:
        inbox, history = Inbox(self.state), ConversationHistory(self.state, days=90)
        while not self.stopped:
            key = ActivityKey("msteams", name, f"in-{self.remembered}")
            activity = {"channelId": "msteams", "conversation": {"id": name}, "id": key.activity}
            assert await inbox.take(key, activity)
            assert await is_next(self.state, inbox, key)
            await history.remember(activity, [Turn("user", key.activity)], Attempt(key, 1))
            assert (await history.kept(activity)).turns[-1].text == key.activity
            await inbox.done(key)
            self.remembered += 1

    async def more(self, by: int) -> None:
        """Until so many turns and messages more went through."""
        wanted = (self.answered + by, self.remembered + by)
        await eventually(lambda: self.answered >= wanted[0] and self.remembered >= wanted[1], within_s=60)


async def _under_load(system: System, settings: Settings, upgrade: asyncio.Event, done: asyncio.Event) -> Load:
    state = State(places_of(settings).state)
    await state.open()
    load = Load(system, state)
    try:
        async with asyncio.TaskGroup() as group:
            for n in range(2):
                group.create_task(load.turns())
                group.create_task(load.messages(f"a:{n}{settings.files.home.name}"))
            await load.more(3)
            upgrade.set()
            await done.wait()
            await load.more(5)
            load.stopped = True
    finally:
        await state.close()
    return load


async def test_servers_of_the_release_before_go_on_while_the_schema_is_upgraded_under_them(
    database_url: str, worker_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = make_url(worker_url).username
    made(database_url, tmp_path, worker)
    one, other = (server_over(worker_url, tmp_path / name, tmp_path) for name in ("one", "other"))
    await take_in_page(one, tmp_path / "kb", lexical_only=True)
    later = tuple(map(expanded, schema_parts()))
    owner = settings_over(tmp_path / "owner", database_url=database_url)
    loaded, done = [asyncio.Event(), asyncio.Event()], asyncio.Event()

    async def upgrade() -> None:
        for each in loaded:
            await each.wait()
        with monkeypatch.context() as patched:
            patched.setattr("bot.compose.database.schema_parts", lambda: later)
            brought = await asyncio.to_thread(upgraded, owner, worker)
        assert brought == {part.name: (part.number, part.number + 1) for part in schema_parts()}
        done.set()

    async with running(one) as first, running(other) as second, asyncio.TaskGroup() as group:
        loads = [
            group.create_task(_under_load(system, settings, event, done))
            for system, settings, event in zip((first, second), (one, other), loaded, strict=True)
        ]
        group.create_task(upgrade())
    turns = sum(load.result().answered for load in loads)
    async with running(
        server_over(worker_url, tmp_path / "third", tmp_path)
    ) as third:  # it starts over the newer one too
        assert await third.ready() == {}
        await take_in_page(one, tmp_path / "kb", PAGE.replace("9.99", "10.49"), lexical_only=True)
        assert third.keep_up is not None
        await third.keep_up()
        assert "10.49" in (await third.answer(Ask(QUESTION), None)).answer
    async with open_record(one) as record:
        found = await record.verify()
    assert found.ok
    assert found.entries >= turns + 1


@pytest.mark.parametrize("part", schema_parts(), ids=lambda part: part.name)
def test_a_step_that_contracts_ends_older_programs_in_one_line(
    database_url: str, tmp_path: Path, part: SchemaPart
) -> None:
    made(database_url, tmp_path)
    settings = server_over(database_url, tmp_path / "home", tmp_path)
    newer = part.number + 1
    run(database_url, f"UPDATE attest_schema SET number = {newer}, oldest = {newer} WHERE part = '{part.name}'")
    with pytest.raises(StoreError, match=f"{part.name} in the database is of schema {newer}, which is newer"):
        asyncio.run(_started(settings))


async def _started(settings: Settings) -> None:
    async with running(settings):
        pass
