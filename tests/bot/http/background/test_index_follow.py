"""A server's search indexes follow a store that others write to; what keeps them from it is told once, and in `/readyz`."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from bot.http.background import index_follow
from bot.http.background.index_follow import IndexFollower
from grounding.errors import StoreError
from tests.bot.http.conftest import Start
from tests.fakes.system import Fake


class Store:
    """What keeps up with a store; `fails` says why it cannot."""

    def __init__(self) -> None:
        self.fails = ""
        self.looks = asyncio.Queue[str]()

    async def keep_up(self) -> bool:
        self.looks.put_nowait(self.fails)
        if self.fails:
            raise StoreError(self.fails)
        return True


async def test_what_fails_is_told_once_and_forgotten_when_it_works(caplog: pytest.LogCaptureFixture) -> None:
    store = Store()
    follower = IndexFollower(store.keep_up)
    store.fails = "the store cannot be used: it was stopped"
    await follower.follow()
    await follower.follow()
    assert follower.why == store.fails
    assert caplog.messages == [f"the search indexes do not follow the store: {store.fails}"]
    store.fails = ""
    await follower.follow()
    assert follower.why == ""


async def test_a_server_follows_again_and_again(start: Start, fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_follow, "FOLLOW_S", 0.01)
    store = Store()
    client = await start(replace(fake, system=replace(fake.system, keep_up=store.keep_up)))
    for _ in range(3):
        await store.looks.get()
    assert "degraded" not in await (await client.get("/readyz")).json()
    store.fails = "the disk is full"
    while not await store.looks.get():
        pass
    await store.looks.get()  # so the one before has ended
    ready = await client.get("/readyz")
    assert (ready.status, (await ready.json())["degraded"]["search indexes"]) == (200, "the disk is full")
