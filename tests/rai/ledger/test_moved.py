"""A ledger that was moved takes nothing until an entry opens it, here or where it arrived; in a file and in PostgreSQL."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grounding.database.postgres import Postgres
from grounding.errors import InputError, StoreError
from rai.ledger.store import SqlLedger
from tests.postgres.ledger import keys_in, made

WHO = {"user": "ada", "authenticated_by": "account"}
TOLD = (
    "the ledger was moved to sqlite:/srv/attest and takes no entries here; attest database reopen opens it here again"
)
Opener = Callable[..., SqlLedger]


@pytest.fixture(params=["sqlite", "postgres"])
async def opener(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Opener]:
    key, opened = keys_in(tmp_path), list[SqlLedger]()
    place = tmp_path / "ledger.db" if request.param == "sqlite" else made(request.getfixturevalue("database_url"))

    def one(**more: Any) -> SqlLedger:
        opened.append(SqlLedger(place, key, **more))
        return opened[-1]

    yield one
    for ledger in opened:
        await ledger.close()
    if isinstance(place, Postgres):
        place.close()


@asynccontextmanager
async def moved(opener: Opener) -> AsyncIterator[SqlLedger]:
    ledger = opener()
    await ledger.append("turn", {"n": 1})
    assert await ledger.moved() is None
    found = await ledger.shut("sqlite:/srv/attest", WHO)
    assert (await ledger.moved(), found.to) == (found, "sqlite:/srv/attest")
    yield ledger


async def test_nothing_is_added_to_it(opener: Opener) -> None:
    async with moved(opener) as ledger:
        first = (await ledger.entries(limit=1).__anext__()).entry_id
        for work in (
            ledger.append("turn", {"n": 2}),
            ledger.erase(first, "x"),
            ledger.reanchor("x"),
            ledger.shut("elsewhere"),
            ledger.probe(),
        ):
            with pytest.raises((StoreError, InputError), match=f"{TOLD}|never erased"):
                await work
        with pytest.raises(StoreError, match=TOLD):
            opener()
        whole = await opener(read_only=True).verify()
        assert (whole.ok, whole.entries) == (True, 3)


async def test_it_is_opened_again_on_record(opener: Opener) -> None:
    async with moved(opener) as ledger:
        end = await ledger.moved()
        assert end is not None
        entry = await ledger.reopen("given up by weber@example.com", WHO)
        assert (entry.kind, entry.body["moved"], entry.body["actor"]) == ("opened", end.entry_id, WHO)
        assert "weber@" not in json.dumps(entry.body)
        with pytest.raises(InputError, match="was not moved: it takes entries here"):
            await ledger.reopen("again")
        await opener().append("turn", {"n": 2})
        assert (await ledger.verify()).ok
        with pytest.raises(InputError, match="or is one that is never erased"):
            await ledger.erase(end.entry_id, "x")


async def test_where_it_arrives_it_ends_with_the_same_entry_and_is_anchored(opener: Opener, tmp_path: Path) -> None:
    async with moved(opener) as ledger:
        end = await ledger.moved()
        assert end is not None
        for other in (replace(end, mac="0" * 64), replace(end, seq=4)):
            with pytest.raises(StoreError, match="the copy is not whole: it ends with entry 3, the ledger with entry"):
                await opener(moved=True).arrive(other, "moved", ended=nullcontext())
        for anchor in (tmp_path / "keys").glob("*.anchor"):
            anchor.unlink()
        assert not (await ledger.verify()).ok
        entry = await opener(moved=True).arrive(end, "moved", WHO, ended=nullcontext())
        assert (entry.seq, entry.kind) == (4, "opened")
        assert (await ledger.verify()).ok
        await opener().append("turn", {"n": 2})


async def test_nobody_opens_it_again_while_it_is_held_as_it_ended(opener: Opener) -> None:
    async with moved(opener) as ledger:
        end, other = await ledger.moved(), opener(moved=True)
        assert end is not None
        with ledger.ended(end):
            opening = asyncio.create_task(other.reopen("given up"))
            await asyncio.wait([opening], timeout=0.3)
            assert not opening.done()
        assert (await opening).kind == "opened"
        told = "the ledger went on where it was, so it is not opened where it was copied to"
        with pytest.raises(StoreError, match=told), ledger.ended(end):
            pass
