"""While a server runs, retention is applied once a day, by one worker, and what fails does not end it."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio
from pytest_aiohttp.plugin import AiohttpClient

from bot.http.background.retention import EVERY_S, RetentionSweeper
from bot.privacy.conversations import Kept
from bot.privacy.retention import Retained
from bot.server.app import build_app
from bot.settings.load import load_settings
from bot.state import State
from bot.system import System
from bot.teams.history import ConversationHistory
from grounding.errors import StoreError
from grounding.records import Turn
from tests.fakes.clock import Clock
from tests.fakes.system import fake_system
from tests.knowledge_base import PAGE, over_one_page


class Runs:
    """A retention that ends so, run after run; the last end stays."""

    def __init__(self, *ends: Retained | Exception) -> None:
        self._ends = list(ends)
        self.done = 0

    async def __call__(self) -> Retained:
        self.done += 1
        end = self._ends.pop(0) if len(self._ends) > 1 else self._ends[0]
        if isinstance(end, Exception):
            raise end
        return end


def keeping(runs: Runs) -> System:
    return replace(fake_system().system, retain=runs)


@pytest_asyncio.fixture
async def state(tmp_path: Path) -> AsyncIterator[State]:
    opened = State(tmp_path / "state.db")
    await opened.open()
    yield opened
    await opened.close()


async def test_once_a_day_whoever_asks(state: State, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    clock = Clock()
    runs = Runs(Retained(kept=Kept(1, turns=2)), Retained())
    workers = [RetentionSweeper(keeping(runs), state, clock=clock) for _ in range(3)]
    assert sum([await worker.sweep() for worker in workers for _ in range(2)]) == 1
    clock.passed += EVERY_S
    assert sum([await worker.sweep() for worker in workers]) == 1
    assert runs.done == 2
    assert [r.getMessage() for r in caplog.records if "retention" in r.getMessage()] == [
        "retention: 0 entries erased, 2 rows of state.db deleted, 0 entries are held"
    ]


async def test_what_failed_is_due_again(state: State) -> None:
    runs = Runs(StoreError("the ledger cannot be used: the disk is full"), Retained())
    sweeper = RetentionSweeper(keeping(runs), state)
    with pytest.raises(StoreError):
        await sweeper.sweep()
    assert await sweeper.sweep()
    assert not await sweeper.sweep()


async def test_it_begins_and_ends_with_the_application(
    aiohttp_client: AiohttpClient, caplog: pytest.LogCaptureFixture
) -> None:
    runs = Runs(StoreError("erased text may remain"))
    client = await aiohttp_client(build_app(keeping(runs)))
    for _ in range(200):
        if "retention was not applied" in caplog.text:
            break
        await asyncio.sleep(0.01)
    assert "retention was not applied in full: erased text may remain" in caplog.text
    await client.close()
    assert not [task for task in asyncio.all_tasks() if task.get_name() == "retention"]


async def test_of_a_real_home(aiohttp_client: AiohttpClient, tmp_path: Path) -> None:
    """What was kept of a conversation a month ago is gone soon after the start."""
    settings = load_settings(home=tmp_path / "home", ledger_key_file=tmp_path / "keys" / "ledger.key")
    place = {"channelId": "msteams", "conversation": {"id": "a:1"}}
    async with over_one_page(settings, tmp_path, PAGE, lexical_only=True) as system:
        state = State(settings.files.home / "state.db")
        await state.open()
        long_ago = ConversationHistory(state, days=9999, clock=lambda: 1_000_000.0)
        await long_ago.remember(place, [Turn("user", "canary-1")])
        client = await aiohttp_client(build_app(system))
        await client.get("/healthz")
        for _ in range(200):
            if not (await long_ago.kept(place)).turns:
                break
            await asyncio.sleep(0.02)
        assert (await long_ago.kept(place)).turns == ()
        await state.close()


async def test_a_server_that_ends_does_not_wait_for_a_run(state: State) -> None:
    """Over a large ledger one takes an hour; what it did not do is due again."""
    began, ended = threading.Event(), threading.Event()

    async def long_run() -> Retained:
        began.set()
        try:
            await asyncio.sleep(3600)
        finally:
            ended.set()
        return Retained()

    sweeper = RetentionSweeper(replace(fake_system().system, retain=long_run), state)
    task = asyncio.create_task(sweeper.sweep())
    await asyncio.to_thread(began.wait, 30)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(ended.wait, 30)
    assert await RetentionSweeper(keeping(Runs(Retained())), state).sweep()


async def test_a_server_ends_though_its_state_is_away_just_then(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be noted at the end of a run takes no cancellation's place."""
    began = threading.Event()

    async def long_run() -> Retained:
        began.set()
        await asyncio.sleep(3600)
        return Retained()

    async def away(_name: str) -> None:
        raise StoreError("state.db cannot be used: it was moved")

    monkeypatch.setattr(state, "unclaim", away)
    task = asyncio.create_task(RetentionSweeper(replace(fake_system().system, retain=long_run), state).run())
    await asyncio.to_thread(began.wait, 30)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 10)
