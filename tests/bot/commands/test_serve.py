"""The server's start and stop, over real sockets on this machine."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing

import aiohttp
import pytest

from bot.serve import Addresses, addresses_of, listening, serve_on
from bot.settings import Settings, load_settings
from grounding.errors import SettingsError
from tests.bot.commands.fakes import FakeWorld


@asynccontextmanager
async def started(settings: Settings, small: FakeWorld) -> AsyncIterator[tuple[asyncio.Task[int], Addresses]]:
    ready: asyncio.Future[Addresses] = asyncio.get_running_loop().create_future()
    with listening(settings) as listener:
        task = asyncio.create_task(serve_on(listener, settings, ready.set_result, make=small.compose))
        while not ready.done():
            assert not task.done(), task.exception()
            await asyncio.sleep(0.01)
        try:
            yield task, ready.result()
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_serves_until_a_signal_then_closes_the_system(small: FakeWorld, number: signal.Signals) -> None:
    async with started(load_settings(port=0), small) as (task, addresses):
        base = addresses.messages.removesuffix("/api/messages")
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
            async with session.get(f"{base}/healthz") as response:
                assert response.status == 200
            async with session.get(addresses.chat or "") as response:
                assert response.status == 200
            async with session.post(
                addresses.messages, data="x", headers={"Content-Type": "application/json"}
            ) as response:
                assert response.status == 400
            async with session.get(f"{base}/review") as response:
                assert response.status in (401, 403)
            async with session.get(addresses.review or "") as response:
                assert response.status == 200
        os.kill(os.getpid(), number)
        assert await task == number
        assert (small.opened, small.closed) == (1, 1)


async def test_a_turn_in_hand_is_finished_before_the_server_ends(small: FakeWorld) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()
    async with started(load_settings(port=0), small) as (task, addresses):

        async def hold() -> None:
            begun.set()
            await go_on.wait()

        small.before = hold
        base = addresses.messages.removesuffix("/api/messages")
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
            asked = asyncio.create_task(_ask(session, base))
            await begun.wait()
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.sleep(0)
            assert not task.done()
            go_on.set()
            assert (await asked)["outcome"] == "answered"
        await task


async def _ask(session: aiohttp.ClientSession, base: str) -> dict[str, object]:
    async with session.post(f"{base}/api/ask", json={"question": "How long do refunds take?"}) as response:
        assert response.status == 200
        found: dict[str, object] = await response.json()
        return found


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"host": "0.0.0.0"}, "anonymous bot serves this machine only"),
        ({"host": "192.0.2.1", "bot_app_id": "x"}, "ATTEST_HOST=192.0.2.1: not an address of this machine"),
        ({"host": "no such host", "bot_app_id": "x"}, "ATTEST_HOST=no such host"),
    ],
)
def test_an_address_that_cannot_be_used_is_one_line(changes: dict[str, object], part: str) -> None:
    with pytest.raises(SettingsError) as caught, listening(load_settings(port=0, **changes)):
        pass
    assert part in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_server_that_runs_keeps_its_port() -> None:
    with listening(load_settings(port=0)) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(SettingsError, match="--port N"), listening(load_settings(port=port)):
            pass
    with listening(load_settings(port=port)):
        pass


def test_addresses_follow_public_url_and_shut_what_is_not_there() -> None:
    settings = load_settings(port=0, public_url="https://bot.example.com/", host="::1")
    with closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        found = addresses_of(settings, listener, None)
        assert found.messages == "https://bot.example.com/api/messages"
        assert found.review is None
        assert "shut" in found.lines()[2]
        plain = addresses_of(load_settings(host="::1", port=0), listener, "t")
        assert plain.review == f"http://[::1]:{listener.getsockname()[1]}/review?token=t"
