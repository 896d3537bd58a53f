"""How often a turn waits for PostgreSQL. What a company's network adds to each is what a person waits for, so the numbers are held."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer

from bot.events.digests import Digests
from bot.http.app_keys import DELIVERIES
from bot.http.rate_limit import Limits, RateLimiter, SharedRateLimiter
from bot.records import Ask
from bot.server.app import build_app
from bot.settings.settings import Settings
from bot.state import State
from bot.teams.endpoint import PATH, add_routes
from bot.turn.entries.delivery import Deliveries
from grounding.database.postgres import Postgres
from rai.records import Outcome
from tests.fakes.channel import FakeChannel
from tests.knowledge_base import PAGE, running, take_in_page
from tests.postgres.faults import run
from tests.postgres.shared import made, server_over
from tests.postgres.trips import Trip, trips

QUESTION = "What does Watch Plus cost a month?"
LEASE_S = 3600.0
"""So long that nobody looks after the inbox meanwhile."""


@pytest.fixture
async def settings(database_url: str, tmp_path: Path) -> Settings:
    made(database_url, tmp_path)
    settings = server_over(database_url, tmp_path / "home", tmp_path)
    await take_in_page(settings, tmp_path / "kb", PAGE, lexical_only=True)
    return settings


def by_part(found: Sequence[Trip]) -> Counter[str]:
    """How many each package makes: the store, the record, the state of conversations."""
    return Counter("/".join(trip.part.split("/")[:2]) for trip in found)


async def test_a_turn_takes_seven(settings: Settings) -> None:
    async with running(settings) as system:
        for _ in range(2):  # contents that are stored once, and what is kept of the store, are there at the second
            with trips() as found:
                reply = await system.answer(Ask(QUESTION), None)
        assert reply.outcome is Outcome.ANSWERED
    assert by_part(found) == {"grounding/store": 3, "rai/ledger": 4}, found


async def test_an_answer_over_http_takes_one_more_to_count_what_its_caller_asked(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Up to the commit of its entry; that it was delivered is written behind it."""
    for follower in ("index_follow", "desk"):
        monkeypatch.setattr(f"bot.http.background.{follower}.FOLLOW_S", LEASE_S)
    async with running(settings) as system:
        server = TestServer(app := build_app(system))
        await server.start_server()
        async with ClientSession() as client:
            with trips() as found:
                at_rest = -1
                while at_rest != len(found):  # until what a server looks after at its start is looked after
                    at_rest = len(found)
                    await asyncio.sleep(1.0)
            for _ in range(2):
                with trips() as found:
                    posted = await client.post(server.make_url("/api/ask"), json={"question": QUESTION})
                    assert (await posted.json())["outcome"] == Outcome.ANSWERED.value
                    await app[DELIVERIES].drain()
        await server.close()
    answered = found[: [trip.said for trip in found].index("COMMIT") + 1]
    assert by_part(answered) == {"grounding/store": 3, "rai/ledger": 4, "bot/http": 1}, found


DONE = (
    "SELECT (SELECT count(*) FROM inbox WHERE status = 'done'), (SELECT count(*) FROM entries WHERE kind = 'delivery')"
)


async def test_a_turn_in_teams_takes_twelve_until_its_answer_leaves(settings: Settings, database_url: str) -> None:
    """What came is stored, what stands before it is looked at, what its person asked is counted, the turn is made and recorded, and nobody took it over. Behind the
    answer, for which nobody waits: what follows from it, and the entry that it was delivered.
    """
    async with running(settings) as system, FakeChannel() as channel, ClientSession() as client:
        app = web.Application()
        deliveries = Deliveries(system.ledger)
        shared = State(Postgres(database_url))
        allowed = settings.serving.rate_per_minute
        limits = Limits(RateLimiter(1), SharedRateLimiter(allowed, shared, Digests(settings.files.ledger_key)))
        add_routes(app, settings, system.answer, system.ledger, deliveries=deliveries, lease_s=LEASE_S, limits=limits)
        server = TestServer(app)
        await server.start_server()
        for turn in (1, 2):
            with trips() as found:
                posted = await client.post(server.make_url(PATH), json=channel.inbound(QUESTION))
                assert posted.status == 202
                while await asyncio.to_thread(run, database_url, DONE) != [(turn, turn)]:
                    pass  # until all of it is written down
        await server.close()
        await shared.close()
    leaves = [trip.said.startswith("SELECT inbox.attempts") for trip in found].index(True) + 1
    conversation = {"bot/state.py": 1, "bot/teams": 2, "bot/http": 1}
    assert by_part(found[:leaves]) == {**conversation, "grounding/store": 4, "rai/ledger": 4}, found
    assert by_part(found[leaves:]) == {"bot/state.py": 1, "rai/ledger": 3}, found
