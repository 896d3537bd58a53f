"""One question through every channel of one running server: the same outcome, the same words, the same sources."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import ClientSession
from playwright.async_api import Browser, expect

from bot.server.addresses import Addresses
from bot.server.serve import listening, serve_on
from bot.teams.shown.markdown import with_live_citations
from tests.e2e.processes import copy_of_home, environment_of, settings_over, started
from tests.fakes.channel import FakeChannel, post

pytestmark = pytest.mark.asyncio(loop_scope="module")

QUESTION = "What does the Wren X2 cost in the United Kingdom?"
VALUE = "£199.00"
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Served:
    """A server that runs in this process: its base URL, and where its knowledge base lies."""

    base: str
    home: Path
    model: Path
    api: Json
    """What POST /api/ask says to the question."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served(
    sample_home: Path, model_file: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Served]:
    home = copy_of_home(sample_home, tmp_path_factory.mktemp("channels") / "home")
    settings = settings_over(home, model_file)
    ready: asyncio.Future[Addresses] = asyncio.get_running_loop().create_future()
    with listening(settings) as listener:
        server = asyncio.create_task(serve_on(listener, settings, ready.set_result))
        server.add_done_callback(lambda ended: ready.done() or ready.cancel(f"the server ended: {ended}"))
        base = (await ready).messages.removesuffix("/api/messages")
        async with ClientSession() as session, session.post(f"{base}/api/ask", json={"question": QUESTION}) as response:
            assert response.status == 200
            yield Served(base, home, model_file, await response.json())
        server.cancel()
        await asyncio.gather(server, return_exceptions=True)


async def said_on(channel: FakeChannel, base: str, **changes: Any) -> Json:
    """The message that answers the question when it comes in on `channel`."""
    async with ClientSession() as session:
        response = await post(session, f"{base}/api/messages", channel.inbound(QUESTION, **changes))
        assert response.status == 202, await response.text()
    return (await channel.until_messages(1))[0]


async def test_the_api_answers_with_the_price_and_its_source(served: Served) -> None:
    assert served.api["outcome"] == "answered", served.api
    assert VALUE in served.api["answer"]
    assert served.api["citations"]
    for citation in served.api["citations"]:
        assert f"[{citation['n']}]" in served.api["answer"]


async def test_teams_says_the_same_with_the_same_citations(served: Served) -> None:
    async with FakeChannel() as channel:
        message = await said_on(channel, served.base)
    assert message["text"] == with_live_citations(served.api["answer"])
    assert message["attachments"][0]["content"]["fallbackText"].endswith("checked")
    root = next(e for e in message["entities"] if e.get("@type") == "Message")
    shown = [(c["position"], c["appearance"]["name"], c["appearance"].get("url")) for c in root["citation"]]
    assert shown == [(c["n"], c["title"], c["url"]) for c in served.api["citations"]]
    assert root["additionalType"] == ["AIGeneratedContent"]


async def test_the_emulator_says_the_same_with_its_sources_below(served: Served) -> None:
    emulator = {
        "channelId": "emulator",
        "from": {"id": "user-1", "name": "User"},
        "conversation": {"id": "emulator-1"},
        "channelData": None,
    }
    async with FakeChannel() as channel:
        message = await said_on(channel, served.base, **emulator)
    answer, _, below = message["text"].partition("\n\n**Sources**\n\n")
    assert answer == served.api["answer"]
    assert not message.get("entities")
    lines = below.split("\n")
    assert len(lines) == len(served.api["citations"])
    for line, citation in zip(lines, served.api["citations"], strict=True):
        assert line.startswith(f"- [{citation['n']}] {citation['title']}")
        assert citation["url"] is None or f"<{citation['url']}>" in line


async def test_the_command_line_says_the_same(served: Served, tmp_path: Path) -> None:
    env = environment_of(served.home, served.model)
    with started("ask", QUESTION, "--json", env=env, cwd=tmp_path) as process:
        out, err = await asyncio.to_thread(process.communicate, timeout=300)
    assert process.returncode == 0, err
    told = json.loads(out)
    for part in ("outcome", "answer", "citations", "claims", "query", "action", "kb_version"):
        assert told[part] == served.api[part], part


@pytest.mark.browser
async def test_the_page_says_the_same_and_shows_where_a_value_stands(served: Served, chromium: Browser) -> None:
    context = await chromium.new_context()
    try:
        page = await context.new_page()
        await page.goto(f"{served.base}/chat")
        await page.fill("#question", QUESTION)
        await page.press("#question", "Enter")
        turn = page.locator(".turn")
        await expect(turn.locator(".badge")).to_have_text("Answered")
        words = served.api["answer"]
        for citation in served.api["citations"]:
            words = words.replace(f"[{citation['n']}]", str(citation["n"]))
            await expect(turn.locator(f".chips [data-chip='{citation['n']}']")).to_contain_text(citation["title"])
        assert await turn.locator(".answer").first.text_content() == words
        claim = next(c for c in served.api["claims"] if c["text"] == VALUE)
        await turn.locator(".answer .claim.value", has_text=VALUE).first.hover()
        lit = turn.locator(".ev.on")
        await expect(lit.first).to_have_text(claim["evidence"][0]["text"])
        quiet = await turn.locator(".quote-text").first.evaluate("e => getComputedStyle(e).backgroundColor")
        assert await lit.first.evaluate("e => getComputedStyle(e).backgroundColor") != quiet
    finally:
        await context.close()
