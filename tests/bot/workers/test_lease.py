"""Work that one process does for all: whose it is, until when, and what the others learn."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
from sqlalchemy import make_url

from bot.state import State
from bot.workers.lease import Lease, LeaseStanding
from grounding.database.postgres import Postgres
from tests.postgres.state import Opener, opener, shared

LONG_S, SHORT_S = 60.0, 0.4
OFF_S = 600.0


async def test_of_all_processes_one_holds_it_and_keeps_it(another: Opener) -> None:
    leases = [Lease(await another(), "work", LONG_S) for _ in range(6)]
    held = await asyncio.gather(*(lease.hold() for lease in leases))
    assert sorted(one.mine for one in held) == [False] * 5 + [True]
    holder = leases[[one.mine for one in held].index(True)]
    for _ in range(3):
        assert await holder.hold() == LeaseStanding(mine=True, said=None)
    assert [one.mine for one in await asyncio.gather(*(lease.hold() for lease in leases))].count(True) == 1
    assert (await Lease(await another(), "other work", LONG_S).hold()).mine


async def test_what_its_holder_says_the_others_learn_and_nobody_else_says(another: Opener) -> None:
    mine, other = [Lease(await another(), "work", LONG_S) for _ in range(2)]
    await mine.hold()
    await mine.say("all is well")
    await other.say("nothing is")
    assert await other.hold() == LeaseStanding(mine=False, said="all is well")
    await mine.release()
    assert await other.hold() == LeaseStanding(mine=True, said="all is well")
    assert not (await mine.hold()).mine
    await mine.release()  # another's is not given away
    assert (await other.hold()).mine


async def test_one_that_died_is_followed_within_its_lease_and_not_before(another: Opener) -> None:
    died, next_one = [Lease(await another(), "work", SHORT_S) for _ in range(2)]
    began = time.monotonic()
    await died.hold()
    while not (await next_one.hold()).mine:
        assert time.monotonic() - began < 20 * SHORT_S
    assert time.monotonic() - began >= 0.9 * SHORT_S
    assert not (await died.hold()).mine  # it was only slow


@pytest.mark.parametrize("off_s", [OFF_S, -OFF_S])
async def test_a_process_whose_clock_is_off_changes_nothing(
    database_url: str, monkeypatch: pytest.MonkeyPatch, off_s: float
) -> None:
    async with opener(shared(database_url)) as another:
        right, wrong = [Lease(await another(), "work", LONG_S) for _ in range(2)]
        state = await another()
        await right.hold()
        assert await state.claim("daily", LONG_S)
        real = time.time
        monkeypatch.setattr(time, "time", lambda: real() + off_s)
        assert not (await wrong.hold()).mine
        assert not await state.claim("daily", LONG_S)
        await right.release()
        assert (await wrong.hold()).mine
        monkeypatch.setattr(time, "time", real)
        assert not (await right.hold()).mine  # nor does what it holds last longer, or less long
        until = "SELECT until - extract(epoch FROM clock_timestamp()) FROM leases"
        left = await state.ask(lambda connection: float(connection.exec_driver_sql(until).scalar_one()))
        assert LONG_S - 10 < left <= LONG_S


async def test_a_worker_has_the_rights_and_no_more_than_it_needs(database_url: str, worker_url: str) -> None:
    shared(database_url, make_url(worker_url).username)
    state = State(Postgres(worker_url))
    await state.open()
    lease = Lease(state, "work", LONG_S)
    assert (await lease.hold()).mine
    await lease.say("x")
    await lease.release()
    await state.close()


async def test_a_state_of_an_older_program_gets_the_tables(tmp_path: Path) -> None:
    old = State(tmp_path / "state.db")
    await old.open()
    await old.run(lambda connection: connection.exec_driver_sql("DROP TABLE leases"))
    await old.close()
    state = State(tmp_path / "state.db")
    await state.open()
    assert (await Lease(state, "work", LONG_S).hold()).mine
    await state.close()
