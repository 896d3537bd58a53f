"""The server's start and stop, over real sockets on this machine."""

from __future__ import annotations

import asyncio
import gzip
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import pytest

from bot.commands.ingest.sample import SAMPLE_COMPANY
from bot.commands.serve import served
from bot.server.addresses import Addresses, addresses_of
from bot.server.serve import listening, serve_on
from bot.settings.load import load_settings
from bot.settings.settings import Settings
from grounding.errors import SettingsError
from tests.bot.commands.conftest import Attest
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


def test_a_server_over_the_sample_knows_whose_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert served(None, 0, sample=True).answering.company == SAMPLE_COMPANY
    assert served(None, 0, sample=False).answering.company == "the company"
    monkeypatch.setenv("ATTEST_COMPANY", "Halden")
    settings = served("127.0.0.1", 0, sample=True)
    assert (settings.answering.company, settings.serving.host) == ("Halden", "127.0.0.1")


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
        ({"host": "0.0.0.0", "public_url": "https://a.example"}, "or ATTEST_API_KEYS"),
        (
            {"host": "192.0.2.1", "bot_app_id": "x", "bot_app_type": "MultiTenant"},
            "ATTEST_HOST=192.0.2.1: not an address of this machine",
        ),
        ({"host": "no such host", "bot_app_id": "x", "bot_app_type": "MultiTenant"}, "ATTEST_HOST=no such host"),
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


def test_addresses_in_local_mode() -> None:
    found = addresses_of(load_settings(host="::1"), 3978, "t")
    assert (found.chat, found.messages) == ("http://[::1]:3978/chat", "http://[::1]:3978/api/messages")
    assert found.review == "http://[::1]:3978/review?token=t"
    assert (found.bot, found.api, found.ended_by) == ("anonymous", "open", ())
    *_, last = found.lines()
    assert "nothing tells a reverse proxy from a person" in last
    assert "ATTEST_PUBLIC_URL or ATTEST_LOCAL=off" in last


@pytest.mark.parametrize(
    ("settings", "chat", "bot", "api"),
    [
        ({"api_keys": "k"}, "because ATTEST_API_KEYS is set", "ATTEST_BOT_APP_ID is not set", "with a bearer key"),
        ({"local": "off"}, "because ATTEST_LOCAL=off is set", "ATTEST_BOT_APP_ID is not set", "shut"),
        ({"public_url": "https://b.example/"}, "because ATTEST_PUBLIC_URL is set", "ATTEST_BOT_APP_ID", "shut"),
        (
            {
                "bot_app_id": "x",
                "bot_tenant_id": "tenant-1",
                "bot_app_password": "not-a-secret",
                "host": "0.0.0.0",
                "api_keys": "k",
            },
            "because ATTEST_BOT_APP_ID and ATTEST_API_KEYS and ATTEST_HOST=0.0.0.0 are set",
            "Bot endpoint: http://127.0.0.1:3978/api/messages",
            "with a bearer key",
        ),
    ],
)
def test_outside_local_mode_the_start_says_what_is_shut_and_why(
    settings: dict[str, Any], chat: str, bot: str, api: str
) -> None:
    """Who set keys and used the chat page reads what became of it, and what to do."""
    found = addresses_of(load_settings(**settings), 3978, None)
    assert (found.chat, found.review) == (None, None)
    lines = found.lines()
    assert chat in lines[0]
    assert "to try things on this machine, start another server without" in lines[0]
    assert bot in lines[1]
    assert "attest review-link" in lines[2]
    assert api in lines[3]


@pytest.mark.parametrize("path", ["/api/messages", "/api/ask"])
async def test_a_compressed_body_is_refused_and_no_error_of_ours(
    small: FakeWorld, caplog: pytest.LogCaptureFixture, path: str
) -> None:
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    async with started(load_settings(port=0), small) as (_, addresses):
        base = addresses.messages.removesuffix("/api/messages")
        async with aiohttp.ClientSession(skip_auto_headers=["Content-Encoding"]) as session:
            for body in (b"no gzip", gzip.compress(b"{}")):
                async with session.post(f"{base}{path}", data=body, headers=headers) as response:
                    assert response.status == 415
            async with session.get(f"{base}/healthz") as response:
                assert response.status == 200
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


async def test_outside_local_mode_the_start_makes_no_link(small: FakeWorld) -> None:
    async with started(load_settings(port=0, api_keys="k"), small) as (_, addresses):
        assert (addresses.chat, addresses.review) == (None, None)
        base = addresses.messages.removesuffix("/api/messages")
        async with aiohttp.ClientSession() as session:
            for path, status in (("/chat", 403), ("/review", 403), ("/metrics", 401), ("/healthz", 200)):
                async with session.get(f"{base}{path}") as response:
                    assert response.status == status


async def test_the_command_opens_the_pages_of_a_server_that_runs(small: FakeWorld, attest: Attest) -> None:
    """From a thread as from another process: the two share nothing but the home."""
    async with started(load_settings(port=0, api_keys="k"), small) as (_, addresses):
        base = addresses.messages.removesuffix("/api/messages")
        link = (await asyncio.to_thread(attest, "review-link")).out.strip()
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
            async with session.get(f"{base}/review?{urlsplit(link).query}") as response:
                assert response.status == 200
            assert (await asyncio.to_thread(attest, "review-link", "--revoke")).code == 0
            async with session.get(f"{base}/review") as response:
                assert response.status == 403
