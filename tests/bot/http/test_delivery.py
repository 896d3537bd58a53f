"""What becomes of a reply over HTTP: told in the ledger behind it, and never in its way."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from aiohttp.test_utils import TestServer
from aiohttp.web import Application, AppRunner, TCPSite

from bot.http.app_keys import DELIVERIES
from bot.records import Ask, OnStage, Reply
from bot.server.app import build_app
from grounding.errors import StoreError
from tests.bot.http.conftest import Client
from tests.fakes.system import Fake

QUESTION = {"question": "How long do refunds take?"}
FORMS = ["application/json", "text/event-stream"]


async def deliveries(fake: Fake, app: Application | None) -> list[dict[str, Any]]:
    """The bodies of the entries that say what became of replies, when all are written."""
    assert app is not None
    await app[DELIVERIES].drain()
    return [e.body for e in fake.ledger.kept if e.kind == "delivery"]


@pytest.mark.parametrize("accept", FORMS)
async def test_a_reply_that_was_sent_whole_is_delivered(client: Client, fake: Fake, accept: str) -> None:
    async with client.post("/api/ask", json=QUESTION, headers={"Accept": accept}) as response:
        assert response.status == 200
        assert "refund" in await response.text()
    [body] = await deliveries(fake, client.app)
    [turn] = [e for e in fake.ledger.kept if e.kind == "turn"]
    assert (body["schema"], body["entry_id"], body["channel"]) == (2, turn.entry_id, "http")
    assert body["handed_over"] <= body["delivered"]
    assert (body["failed"], body["message"]) == (None, None)


@asynccontextmanager
async def serving(app: Application) -> AsyncIterator[int]:
    """The application as the product serves it, at a port: the test server of aiohttp cancels the work for a caller who leaves."""
    runner = AppRunner(app, access_log=None)
    await runner.setup()
    await TCPSite(runner, "127.0.0.1", 0).start()
    yield runner.addresses[0][1]
    await runner.cleanup()


async def told(fake: Fake) -> dict[str, Any]:
    """The body of the first entry that says what became of a reply, once it is there."""
    async with asyncio.timeout(30):
        while not (found := [e.body for e in fake.ledger.kept if e.kind == "delivery"]):  # noqa: ASYNC110 - the ledger tells nobody
            await asyncio.sleep(0.01)
    return found[0]


class Leaving:
    """Asks over a socket of its own, and lets go of it in the middle of things."""

    def __init__(self, port: int, accept: str) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        body = json.dumps(QUESTION)
        head = f"Host: 127.0.0.1:{port}\r\nContent-Type: application/json\r\nAccept: {accept}"
        self._socket.sendall(f"POST /api/ask HTTP/1.1\r\n{head}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())

    def read_to(self, word: bytes) -> None:
        """Read until the word has come."""
        read = b""
        while word not in read:
            read += self._socket.recv(4096)

    def leave(self) -> None:
        """Hang up at once, with a reset."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._socket.close()


@pytest.mark.parametrize("accept", FORMS)
async def test_a_caller_who_left_before_the_last_byte_did_not_get_it(fake: Fake, accept: str) -> None:
    """The turn is recorded, the caller is gone, and only then it is answered."""
    recorded, gone = asyncio.Event(), asyncio.Event()

    async def answer(ask: Ask, on_stage: OnStage | None) -> Reply:
        reply = await fake.turns.answer(ask, on_stage)
        recorded.set()
        await gone.wait()
        await asyncio.sleep(0.05)  # the loop sees the reset; the turn's next look at its caller is later
        return reply

    app = build_app(replace(fake.system, answer=answer))
    async with serving(app) as port:
        caller = Leaving(port, accept)
        await recorded.wait()
        if accept == FORMS[1]:  # who leaves while stages are told breaks the turn off
            await asyncio.to_thread(caller.read_to, b"Checking every value")
        caller.leave()
        gone.set()
        body = await told(fake)
    assert (body["delivered"], body["failed"]) == (None, "client_gone")


async def test_a_reply_that_nobody_takes_is_not_delivered(fake: Fake) -> None:
    """More than the machine's buffers hold, to a caller who reads nothing and hangs up."""

    async def answer(ask: Ask, on_stage: OnStage | None) -> Reply:
        return replace(await fake.turns.answer(ask, on_stage), answer="long " * 8_000_000)

    app = build_app(replace(fake.system, answer=answer))
    async with serving(app) as port:
        caller = Leaving(port, "application/json")
        async with asyncio.timeout(30):
            while not fake.turns.finished:  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.3)
        assert await deliveries(fake, app) == []
        caller.leave()
        body = await told(fake)
    assert body["handed_over"]
    assert (body["delivered"], body["failed"]) == (None, "client_gone")


@pytest.mark.parametrize("accept", FORMS)
async def test_what_cannot_be_recorded_takes_no_reply_back_and_is_counted(
    client: Client, fake: Fake, accept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    append = fake.ledger.append

    async def locked(kind: str, body: dict[str, Any]) -> Any:
        if kind == "delivery":
            raise StoreError("the ledger is locked")
        return await append(kind, body)

    monkeypatch.setattr(fake.ledger, "append", locked)
    async with client.post("/api/ask", json=QUESTION, headers={"Accept": accept}) as response:
        assert "refund" in await response.text()
    assert await deliveries(fake, client.app) == []
    figures = await (await client.get("/metrics")).text()
    assert 'attest_deliveries_total{mark="unrecorded"} 1.0' in figures


async def test_it_is_not_in_the_way_of_the_reply(client: Client, fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the ledger takes its time over a delivery, the caller has the reply and asks again over the same connection."""
    append, free = fake.ledger.append, asyncio.Event()

    async def slow(kind: str, body: dict[str, Any]) -> Any:
        if kind == "delivery":
            await free.wait()
        return await append(kind, body)

    monkeypatch.setattr(fake.ledger, "append", slow)
    for _ in range(2):
        async with asyncio.timeout(30), client.post("/api/ask", json=QUESTION) as response:
            assert (await response.json())["entry_id"]
    assert [e.kind for e in fake.ledger.kept] == ["turn", "turn"]
    free.set()
    assert len(await deliveries(fake, client.app)) == 2
    figures = await (await client.get("/metrics")).text()
    assert 'attest_deliveries_total{mark="delivered"} 2.0' in figures


async def test_a_turn_that_was_broken_off_has_none(client: Client, fake: Fake) -> None:
    """Nothing was recorded, so nothing is told of it."""
    response = await client.post("/api/ask", json={"question": "an outage"})
    assert response.status == 503
    assert await deliveries(fake, client.app) == []


async def test_a_server_that_ends_has_written_what_became_of_its_replies(fake: Fake) -> None:
    server = TestServer(build_app(fake.system))
    async with Client(server) as client:
        await client.post("/api/ask", json=QUESTION)
    assert [e.kind for e in fake.ledger.kept] == ["turn", "delivery"]
