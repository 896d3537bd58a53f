"""A knowledge base with nothing in it: whoever asks is told so and how it is filled, on every channel."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import ClientSession

from bot.server.addresses import Addresses
from bot.server.serve import listening, serve_on
from bot.wording.notices import EMPTY
from tests.e2e.processes import environment_of, settings_over, started
from tests.fakes.channel import FakeChannel, post

QUESTION = "How long do refunds take?"


@asynccontextmanager
async def serving(home: Path) -> AsyncIterator[str]:
    """The base URL of a server in this process."""
    settings = settings_over(home)
    ready: asyncio.Future[Addresses] = asyncio.get_running_loop().create_future()
    with listening(settings) as listener:
        server = asyncio.create_task(serve_on(listener, settings, ready.set_result))
        server.add_done_callback(lambda ended: ready.done() or ready.cancel(f"the server ended: {ended}"))
        yield (await ready).messages.removesuffix("/api/messages")
        server.cancel()
        await asyncio.gather(server, return_exceptions=True)


async def test_the_page_and_the_bot_say_that_it_is_empty(tmp_path: Path) -> None:
    async with serving(tmp_path / "home") as base, FakeChannel() as channel, ClientSession() as session:
        async with session.post(f"{base}/api/ask", json={"question": QUESTION}) as response:
            told = await response.json()
        taken = await post(session, f"{base}/api/messages", channel.inbound(QUESTION))
        message = (await channel.until_messages(1))[0]
    assert (taken.status, told["outcome"], told["code"], told["answer"]) == (202, "insufficient", None, EMPTY)
    assert EMPTY in message["text"]


async def test_the_command_line_says_it_and_what_fills_it(tmp_path: Path) -> None:
    env = environment_of(tmp_path / "home")
    outputs = []
    for form in (["--json"], []):
        with started("ask", QUESTION, *form, env=env, cwd=tmp_path) as process:
            out, err = await asyncio.to_thread(process.communicate)
        assert process.returncode == 0, err
        outputs.append(out)
    told = json.loads(outputs[0])
    assert (told["outcome"], told["answer"]) == ("insufficient", EMPTY)
    assert "attest ingest PATH" in " ".join(outputs[1].split())
