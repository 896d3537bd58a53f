"""The index of the desk follows the ledger while a server runs."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace

import pytest
from pytest_aiohttp.plugin import AiohttpClient

from bot.desk.index import NAME
from bot.desk.search import DeskSearch
from bot.http.background import desk as following
from bot.http.background.desk import DESK
from bot.records import Ask
from bot.server.app import build_app
from tests.fakes.system import fake_system


async def until_found(app: object, words: str, count: int) -> None:
    for _ in range(200):
        if len((await app[DESK].find(DeskSearch(words=words), 100)).rows) == count:  # type: ignore[index]
            return
        await asyncio.sleep(0.02)
    pytest.fail(f"{words} was not found {count} times")


async def test_it_is_filled_behind_each_entry_and_ends_with_the_application(
    aiohttp_client: AiohttpClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "FOLLOW_S", 0.02)
    fake = fake_system()
    await fake.turns.answer(Ask("a kettle of before"), None)
    app = build_app(fake.system)
    client = await aiohttp_client(app)
    await until_found(app, "kettle", 1)
    await fake.turns.answer(Ask("a kettle of now"), None)
    await until_found(app, "kettle", 2)
    await client.close()
    assert not [task for task in asyncio.all_tasks() if task.get_name() == "desk"]


async def test_what_differs_from_the_ledger_is_made_anew_and_told(
    aiohttp_client: AiohttpClient, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = fake_system(), fake_system()
    await first.turns.answer(Ask("a kettle"), None)
    await second.turns.answer(Ask("a lamp"), None)
    one = build_app(first.system)
    client = await aiohttp_client(one)
    await until_found(one, "kettle", 1)
    await client.close()
    other = build_app(second.system)
    await aiohttp_client(other)
    await until_found(other, "lamp", 1)
    assert (await other[DESK].find(DeskSearch(words="kettle"))).rows == ()
    assert any(NAME in record.getMessage() for record in caplog.records if record.levelno == logging.WARNING)


async def test_a_file_that_cannot_be_used_is_told_once_and_turns_go_on(
    aiohttp_client: AiohttpClient, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "FOLLOW_S", 0.01)
    fake = fake_system()
    (fake.system.settings.files.home / NAME).mkdir(parents=True)
    client = await aiohttp_client(build_app(replace(fake.system)))
    await asyncio.sleep(0.3)
    reply = await client.post("/api/ask", json={"question": "How do I return something?"})
    assert reply.status == 200
    told = [r for r in caplog.records if "desk" in r.getMessage() and r.levelno == logging.ERROR]
    assert len(told) == 1
