"""A ledger that does not hold shows in readiness, figures and the log; one that cannot be written is not ready."""

from __future__ import annotations

import asyncio
import logging
import shutil
import sqlite3
import time
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient
from pytest_aiohttp.plugin import AiohttpClient

from bot.http.background import ledger_watch
from bot.http.background.ledger_watch import LedgerWatcher
from bot.http.metrics import Metrics
from bot.server.app import build_app
from bot.settings.load import load_settings
from bot.state import State
from bot.workers.lease import Lease
from grounding.errors import StoreError
from rai.ledger.watch import Watched
from tests.eventually import eventually
from tests.fakes.system import Fake, fake_system
from tests.knowledge_base import PAGE, over_one_page

LOCKED = StoreError("the ledger cannot be used: another process holds it locked")
BROKEN = Watched("changed: entry 3 does not match its seal", "e3", 2)


class Looks:
    """A ledger that is found so, look after look; the last finding stays."""

    def __init__(self, *found: Watched | StoreError) -> None:
        self.found = list(found)

    async def __call__(self, _budget_s: float = 0.5, /) -> Watched:
        found = self.found.pop(0) if len(self.found) > 1 else self.found[0]
        if isinstance(found, StoreError):
            raise found
        return found


def looking(*found: Watched | StoreError) -> Fake:
    fake = fake_system()
    return replace(fake, system=replace(fake.system, look=Looks(*found)))


async def test_a_break_degrades_and_is_logged_once(
    aiohttp_client: AiohttpClient, caplog: pytest.LogCaptureFixture
) -> None:
    app = build_app(looking(BROKEN).system)
    client = await aiohttp_client(app)
    for _ in range(3):
        await app[ledger_watch.WATCHER].look()
    ready = await client.get("/readyz")
    assert (ready.status, (await ready.json())["degraded"]) == (200, {"ledger": BROKEN.why})
    figures = await (await client.get("/metrics")).text()
    assert "attest_ledger_sound 0.0" in figures
    assert "attest_ledger_entries_verified 2.0" in figures
    assert sum(BROKEN.why in record.getMessage() for record in caplog.records if record.levelno == logging.ERROR) == 1


async def test_what_is_mended_is_no_longer_told(aiohttp_client: AiohttpClient) -> None:
    app = build_app(looking(BROKEN, Watched(entries=7)).system)
    client = await aiohttp_client(app)
    await app[ledger_watch.WATCHER].look()
    await app[ledger_watch.WATCHER].look()
    assert "degraded" not in await (await client.get("/readyz")).json()
    assert "attest_ledger_sound 1.0" in await (await client.get("/metrics")).text()


async def test_a_ledger_that_cannot_be_looked_at_is_told_once_and_breaks_nothing_that_held(
    aiohttp_client: AiohttpClient, caplog: pytest.LogCaptureFixture
) -> None:
    app = build_app(looking(Watched(entries=7), LOCKED, LOCKED, Watched(entries=8)).system)
    client = await aiohttp_client(app)
    watcher = app[ledger_watch.WATCHER]
    await eventually(lambda: watcher.found is not None)  # by the watch itself
    for _ in range(2):
        await watcher.look()
        assert (await (await client.get("/readyz")).json())["degraded"] == {"ledger": str(LOCKED)}
        assert (watcher.found, bool(watcher.at)) == (Watched(entries=7), True)
        assert "attest_ledger_sound 1.0" in await (await client.get("/metrics")).text()
    await watcher.look()
    assert (await (await client.get("/readyz")).json()) == {"status": "ready"}
    told = [(r.levelname, r.getMessage()) for r in caplog.records if str(LOCKED) in r.getMessage()]
    assert told == [("WARNING", f"the ledger could not be looked at: {LOCKED}")]


async def test_a_break_that_was_found_is_told_while_the_ledger_cannot_be_looked_at(
    aiohttp_client: AiohttpClient,
) -> None:
    app = build_app(looking(BROKEN, LOCKED).system)
    client = await aiohttp_client(app)
    await eventually(lambda: app[ledger_watch.WATCHER].found is not None)
    await app[ledger_watch.WATCHER].look()
    assert (await (await client.get("/readyz")).json())["degraded"] == {"ledger": BROKEN.why}
    assert "attest_ledger_sound 0.0" in await (await client.get("/metrics")).text()


async def test_the_watch_looks_by_itself_and_ends_with_the_application(aiohttp_client: AiohttpClient) -> None:
    app = build_app(looking(BROKEN).system)
    client = await aiohttp_client(app)
    for _ in range(100):
        if app[ledger_watch.WATCHER].why:
            break
        await asyncio.sleep(0.01)
    assert app[ledger_watch.WATCHER].why == BROKEN.why
    await client.close()
    assert not [task for task in asyncio.all_tasks() if task.get_name() == "ledger-watch"]


async def test_of_a_real_ledger(aiohttp_client: AiohttpClient, tmp_path: Path) -> None:
    """Tampered with while it is served, and at last without a place for its anchor: then no turn is stored as answered."""
    keys = tmp_path / "keys"
    settings = load_settings(home=tmp_path / "home", ledger_key_file=keys / "ledger.key")
    async with over_one_page(settings, tmp_path, PAGE, lexical_only=True) as system:
        app = build_app(system)
        client = await aiohttp_client(app)
        for _ in range(2):
            await client.post("/api/ask", json={"question": "What does Watch Plus cost?"})
        await app[ledger_watch.WATCHER].look()
        assert (await (await client.get("/readyz")).json()) == {"status": "ready"}
        shutil.move(keys, tmp_path / "gone")
        unready = await client.get("/readyz")
        assert (unready.status, "anchor" in (await unready.json())["reasons"]["ledger"]) == (503, True)
        reply = await (await client.post("/api/ask", json={"question": "What does Watch Plus cost?"})).json()
        assert reply["code"] == "ledger_unavailable"
        shutil.move(tmp_path / "gone", keys)
        stored = [entry async for entry in system.ledger.entries()]
        assert [entry.kind for entry in stored].count("turn") == 2
        connection = sqlite3.connect(tmp_path / "home" / "ledger.db")
        connection.execute("DROP TRIGGER entries_no_update")
        connection.execute("UPDATE entries SET body = '{}' WHERE seq = 1")
        connection.commit()
        connection.close()
        await app[ledger_watch.WATCHER].look()
        degraded = (await (await client.get("/readyz")).json())["degraded"]
        assert "entry 1" in degraded["ledger"]


class Counted(Looks):
    """Looks that are counted."""

    done = 0

    async def __call__(self, budget_s: float = 0.5, /) -> Watched:
        self.done += 1
        return await super().__call__(budget_s)


def served(looks: Looks, home: Path) -> web.Application:
    system = fake_system(home=home).system
    return build_app(replace(system, look=looks))


async def says(client: TestClient[web.Request, web.Application], why: str) -> bool:
    """Whether that is what `/readyz` says of the ledger, and the figures too."""
    ready = await (await client.get("/readyz")).json()
    figures = await (await client.get("/metrics")).text()
    return (ready.get("degraded", {}).get("ledger", ""), "attest_ledger_sound 1.0" in figures) == (why, not why)


async def test_of_several_processes_one_looks_and_all_say_what_it_found(
    aiohttp_client: AiohttpClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_watch, "WATCH_S", 0.02)
    looks = [Counted(Watched(entries=7, head="h")), Counted(Watched(entries=9, head="h"))]
    one, two = [await aiohttp_client(served(each, tmp_path)) for each in looks]
    await eventually(lambda: looks[0].done >= 3)
    assert looks[1].done == 0
    assert two.app is not None
    found = two.app[ledger_watch.WATCHER]
    assert found.found == Watched(entries=7, head="h")
    assert found.at
    await found.glance()  # a page that is opened does not look either
    assert looks[1].done == 0
    looks[0].found.append(BROKEN)
    await eventually(lambda: says(two, BROKEN.why))
    assert await says(one, BROKEN.why)
    await one.close()  # the other goes on at once, and has not come round yet
    await eventually(lambda: looks[1].done > 0)
    assert await says(two, BROKEN.why)
    looks[1].found.append(Watched(entries=9, head="h", round_s=0.1))
    await eventually(lambda: says(two, ""))


async def turns(found: tuple[Watched | StoreError, Watched], home: Path) -> LedgerWatcher:
    """The watcher of the second of two processes, three turns after the first, which found the first of `found`, was ended; the second finds the other."""
    state = State(home / "state.db")
    await state.open()
    watchers = [LedgerWatcher(looking(each).system, Metrics()) for each in found]
    one, two = (Lease(state, ledger_watch.NAME, ledger_watch.LEASE_S) for _ in found)
    await watchers[0].turn(one)
    await watchers[1].turn(two)
    await one.release()
    for _ in range(3):
        await watchers[1].turn(two)
    await state.close()
    return watchers[1]


async def test_what_one_process_could_not_look_at_the_next_does_not_inherit(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    watcher = await turns((LOCKED, Watched(entries=1000, head="h")), tmp_path)  # so many that no round has ended
    assert (watcher.why, watcher.found) == ("", Watched(entries=1000, head="h"))
    assert [r.getMessage() for r in caplog.records if r.levelno >= logging.ERROR] == []


async def test_a_break_that_is_inherited_is_logged_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    watcher = await turns((BROKEN, Watched(entries=1000, head="h")), tmp_path)
    assert watcher.why == BROKEN.why
    told = [r for r in caplog.records if BROKEN.why in r.getMessage()]
    assert len(told) == 2  # by each of the two


async def test_a_process_that_died_is_followed_within_its_lease(
    aiohttp_client: AiohttpClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_watch, "WATCH_S", 0.02)
    monkeypatch.setattr(ledger_watch, "LEASE_S", 0.5)
    looks = [Counted(Watched(entries=7)), Counted(Watched(entries=7))]
    await aiohttp_client(served(looks[0], tmp_path))
    (first,) = (task for task in asyncio.all_tasks() if task.get_name() == "ledger-watch")
    await aiohttp_client(served(looks[1], tmp_path))
    await eventually(lambda: looks[0].done >= 2)
    first.cancel()  # nobody gives its lease away
    assert looks[1].done == 0
    since = time.monotonic()
    await eventually(lambda: looks[1].done > 0)
    assert time.monotonic() - since < 10 * ledger_watch.LEASE_S
