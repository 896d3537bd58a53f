"""Several servers over one database: one configuration, one count of what callers ask, figures that tell them apart."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession
from aiohttp.test_utils import TestClient, TestServer
from aiohttp.web import Application, Request
from pytest_aiohttp.plugin import AiohttpClient

from bot.commands.doctor.database import check_database
from bot.http import among_workers
from bot.http.among_workers import PEERS
from bot.http.app_keys import ANSWER, LIMITER, SYSTEM
from bot.server.app import build_app
from bot.teams.endpoint import PATH, add_routes
from bot.wording.conversation.teams import say
from bot.workers.name import worker_name
from tests.fakes.channel import FakeChannel
from tests.fakes.system import fake_system
from tests.postgres.faults import run
from tests.postgres.shared import made, server_over

Client = TestClient[Request, Application]
QUESTION = {"question": "How do I return something?"}


@pytest.fixture
def url(database_url: str, tmp_path: Path) -> str:
    made(database_url, tmp_path)
    return database_url


def server(url: str, folder: Path, home: str, **given: Any) -> Application:
    """One of the servers over the database `url`, which has the tables, with a home of its own."""
    key = folder / "keys" / "ledger.key"
    return build_app(fake_system(database_url=url, home=folder / home, ledger_key_file=key, **given).system)


async def degraded(client: Client) -> dict[str, str]:
    ready = await client.get("/readyz")
    assert ready.status == 200
    return dict((await ready.json()).get("degraded", {}))


async def beat(*clients: Client) -> None:
    for client in (*clients, *clients):
        assert client.app is not None
        peers = client.app[PEERS]
        assert peers is not None
        await peers.beat()


async def test_two_that_differ_are_degraded_and_told_by_doctor_until_they_are_one(
    aiohttp_client: AiohttpClient, url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    one = await aiohttp_client(server(url, tmp_path, "one"))
    two = await aiohttp_client(server(url, tmp_path, "two", company="Canary Ltd", rate_per_minute=7))
    await beat(one, two)
    parts = "ATTEST_COMPANY, ATTEST_RATE_PER_MINUTE"
    name = worker_name(1)
    for client in (one, two):
        assert await degraded(client) == {"configuration": f"another {name} differs from {name} in {parts}"}
    settings = server_over(url, tmp_path / "three", tmp_path)
    lines = {line.name: line for line in check_database(settings)}
    assert (lines["servers"].status, lines["servers"].detail) == (
        "fail",
        f"another {name} differs from {name} in {parts}",
    )
    assert "Canary" not in f"{lines} {caplog.text} {run(url, 'SELECT configuration FROM workers')}"
    assert sum(parts in record.getMessage() for record in caplog.records if record.levelno == logging.ERROR) == 2
    await two.close()
    await beat(one)
    assert await degraded(one) == {}
    lines = {line.name: line for line in check_database(settings)}
    assert (lines["servers"].status, lines["servers"].detail) == ("ok", f"{name}: one configuration")


async def test_one_that_died_no_longer_counts_after_a_while(
    aiohttp_client: AiohttpClient, url: str, tmp_path: Path
) -> None:
    one = await aiohttp_client(server(url, tmp_path, "one"))
    two = await aiohttp_client(server(url, tmp_path, "two", rate_per_minute=7))
    await beat(one, two)
    (died,) = [task for task in asyncio.all_tasks() if task.get_name() == "signs-of-life"][1:]
    died.cancel()
    run(url, "UPDATE workers SET seen = seen - 34")
    await beat(one)
    run(url, "UPDATE workers SET seen = seen - 34")
    await beat(one)
    assert await degraded(one) == {}
    await two.close()


async def test_a_server_says_by_itself_that_it_is_there(
    aiohttp_client: AiohttpClient, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(among_workers, "BEAT_S", 0.01)
    one = await aiohttp_client(server(url, tmp_path, "one"))
    two = await aiohttp_client(server(url, tmp_path, "two", rate_per_minute=7))
    for client in (one, two):
        while not await degraded(client):
            pass
    for client in (one, two):
        await client.close()
    assert run(url, "SELECT count(*) FROM workers") == [(0,)]


async def test_connections_of_those_that_serve_are_held_against_what_the_server_allows(
    aiohttp_client: AiohttpClient, url: str, worker_url: str, tmp_path: Path
) -> None:
    settings = server_over(url, tmp_path / "three", tmp_path, database_pool=40)

    def told() -> tuple[str, str]:
        (line,) = (line for line in check_database(settings) if line.name == "connections")
        return line.status, line.detail

    assert told() == ("ok", "the server allows 97, 0 processes serve and may hold 0; room for 2 more of 40")
    one = await aiohttp_client(server(url, tmp_path, "one", database_pool=60))
    await beat(one)
    assert told() == ("note", "the server allows 97, 1 process serves and may hold 60; room for 0 more of 40")
    two = await aiohttp_client(server(url, tmp_path, "two", database_pool=60))
    await beat(one, two)
    status, detail = told()
    assert (status, "those beyond are refused" in detail) == ("fail", True)


async def test_what_a_caller_asks_is_counted_by_all(aiohttp_client: AiohttpClient, url: str, tmp_path: Path) -> None:
    clients = [await aiohttp_client(server(url, tmp_path, home, rate_per_minute=4)) for home in ("one", "two")]
    codes = [(await clients[n % 2].post("/api/ask", json={**QUESTION, "as": "alice"})).status for n in range(6)]
    assert codes == [200] * 4 + [429] * 2
    refused = await clients[1].post("/api/ask", json={**QUESTION, "as": "alice"})
    assert 10 <= int(refused.headers["Retry-After"]) <= 15
    assert (await clients[0].post("/api/ask", json={**QUESTION, "as": "dave"})).status == 200
    assert "alice" not in str(run(url, "SELECT caller FROM rates"))


async def test_a_caller_is_counted_by_one_server_where_the_database_is_away(
    aiohttp_client: AiohttpClient, url: str, tmp_path: Path
) -> None:
    client = await aiohttp_client(server(url, tmp_path, "one", rate_per_minute=2))
    run(url, "DROP TABLE rates")
    codes = [(await client.post("/api/ask", json={**QUESTION, "as": "alice"})).status for _ in range(3)]
    assert codes == [200, 200, 429]


async def test_processes_of_one_home_count_together_too(aiohttp_client: AiohttpClient, tmp_path: Path) -> None:
    system = fake_system(home=tmp_path / "home", rate_per_minute=3).system
    clients = [await aiohttp_client(build_app(system, worker=n, workers=2)) for n in (1, 2)]
    codes = [(await clients[n % 2].post("/api/ask", json={**QUESTION, "as": "alice"})).status for n in range(4)]
    assert codes == [200, 200, 200, 429]
    for n, client in enumerate(clients, start=1):
        figures = await (await client.get("/metrics")).text()
        assert f'attest_ledger_sound{{worker="{worker_name(n)}"}} 1.0' in figures
        assert f'attest_turns_total{{code="",outcome="answered",worker="{worker_name(n)}"}}' in figures
        series = [line for line in figures.splitlines() if not line.startswith("#")]
        assert all(f'worker="{worker_name(n)}"' in line for line in series)


async def test_one_process_alone_counts_by_itself_and_has_no_name(
    aiohttp_client: AiohttpClient, tmp_path: Path
) -> None:
    client = await aiohttp_client(build_app(fake_system(home=tmp_path / "home").system))
    assert client.app is not None
    assert (client.app[PEERS], client.app[LIMITER].shared) == (None, None)
    assert "worker=" not in await (await client.get("/metrics")).text()


async def test_what_a_person_asks_in_teams_is_counted_by_all(url: str, tmp_path: Path) -> None:
    async with FakeChannel() as channel, ClientSession() as session:
        doors = []
        for home in ("one", "two"):
            app = server(url, tmp_path, home, rate_per_minute=3)
            system = app[SYSTEM]
            add_routes(app, system.settings, app[ANSWER], system.ledger, limits=app[LIMITER])
            doors.append(TestServer(app))
            await doors[-1].start_server()
        for n in range(5):
            posted = await session.post(doors[n % 2].make_url(PATH), json=channel.inbound("How do I return something?"))
            assert posted.status == 202
            await channel.until_messages(n + 1)
        told = [say("too_fast", "en") in str(message) for message in channel.messages]
        assert told == [False] * 3 + [True] * 2
        for door in doors:
            await door.close()
