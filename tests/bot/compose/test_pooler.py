"""A deployment through a pooler by transactions: all that a server does, and nothing left in a session that others get."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer

from bot.commands.doctor.database import check_database
from bot.compose.privacy import apply_retention
from bot.compose.record import open_record
from bot.server.app import build_app
from bot.teams.endpoint import PATH, add_routes
from bot.turn.entries.delivery import Deliveries
from rai.ledger.store import SqlLedger
from rai.records import Outcome
from tests.fakes.channel import FakeChannel
from tests.knowledge_base import PAGE, running, take_in_page
from tests.postgres.faults import run
from tests.postgres.pooler import Pooler, pooler
from tests.postgres.shared import made, server_over

QUESTION = "What does Watch Plus cost a month?"
DONE = "SELECT count(*) FROM inbox WHERE status = 'done'"


@pytest.fixture
def between(postgres: str) -> Iterator[Pooler]:
    with pooler(postgres) as found:
        yield found


async def test_a_server_needs_no_session_of_its_own(between: Pooler, database_url: str, tmp_path: Path) -> None:
    """Taking in, asking over HTTP and in Teams, the desk, retention, erasure, removal, verification and doctor."""
    url = f"{between.url}?options{database_url.rpartition('options')[2]}"
    made(url, tmp_path)
    settings = server_over(url, tmp_path / "home", tmp_path)
    await take_in_page(settings, tmp_path / "kb", PAGE, lexical_only=True)
    async with running(settings) as system, FakeChannel() as channel, ClientSession() as client:
        server = TestServer(build_app(system))
        await server.start_server()
        for _ in range(3):
            asked = await client.post(server.make_url("/api/ask"), json={"question": QUESTION})
            reply = await asked.json()
            assert reply["outcome"] == Outcome.ANSWERED.value
        assert (await client.get(server.make_url("/readyz"))).status == 200
        assert {line.status for line in check_database(settings)} == {"ok"}
        teams = web.Application()
        add_routes(teams, settings, system.answer, system.ledger, deliveries=Deliveries(system.ledger), lease_s=3600)
        bot = TestServer(teams)
        await bot.start_server()
        assert (await client.post(bot.make_url(PATH), json=channel.inbound(QUESTION))).status == 202
        while await asyncio.to_thread(run, database_url, DONE) != [(1,)]:
            pass  # until all of it is written down
        await bot.close()
        assert isinstance(system.ledger, SqlLedger)
        await apply_retention(settings, system.ledger)
        await system.ledger.erase(reply["entry_id"], "asked for")
        assert await system.library.remove("plans.md")
        await server.close()
    async with open_record(settings) as record:
        assert (await record.verify()).ok
    assert len(between.done) == between.size
    assert between.left() == []
