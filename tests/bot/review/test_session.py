"""Links that work once and the sessions that they open, over a real state database."""

from __future__ import annotations

import asyncio
import sqlite3
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.review.session import LINK_SECONDS, SESSION_SECONDS, ReviewAccess, admits_form, form_token, named, new_token
from bot.state import State


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def doors(tmp_path: Path, clock: Clock) -> AsyncIterator[tuple[ReviewAccess, ReviewAccess]]:
    """Two processes over one home: workers of a server, or a server and the command that makes a link."""
    states = (State(tmp_path / "state.db"), State(tmp_path / "state.db"))
    for state in states:
        await state.open()
    yield ReviewAccess(states[0], clock), ReviewAccess(states[1], clock)
    for state in states:
        await state.close()


Doors = tuple[ReviewAccess, ReviewAccess]


async def test_a_link_made_by_one_process_opens_another_once(doors: Doors) -> None:
    command, server = doors
    token = await command.offer()
    session = await server.redeem(token)
    assert session is not None
    assert await server.admits(session)
    assert await command.admits(session)
    assert await server.redeem(token) is None
    assert await command.redeem(token) is None


async def test_of_many_who_come_at_once_one_gets_in(doors: Doors) -> None:
    token = await doors[0].offer()
    got = await asyncio.gather(*(door.redeem(token) for door in doors * 8))
    assert sum(session is not None for session in got) == 1


async def test_a_link_that_nobody_opened_in_time_is_useless(doors: Doors, clock: Clock) -> None:
    early, late = await doors[0].offer(), await doors[0].offer()
    clock.now += LINK_SECONDS - 1
    assert await doors[1].redeem(early) is not None
    clock.now += 1
    assert await doors[1].redeem(late) is None


async def test_a_session_ends_after_a_working_day(doors: Doors, clock: Clock) -> None:
    session = await doors[0].redeem(await doors[0].offer())
    assert session is not None
    clock.now += SESSION_SECONDS - 1
    assert await doors[0].admits(session)
    clock.now += 1
    assert not await doors[0].admits(session)


@pytest.mark.parametrize("changed", ["", "x{}", "{}x", "\ud800", "\x00"])
async def test_nothing_but_the_token_and_the_session_opens(doors: Doors, changed: str) -> None:
    token = await doors[0].offer()
    assert await doors[0].redeem(changed.format(token)) is None
    session = await doors[0].redeem(token)
    assert session is not None
    assert not await doors[0].admits(changed.format(session))


async def test_a_link_is_no_session_and_a_session_no_link(doors: Doors) -> None:
    token = await doors[0].offer()
    assert not await doors[0].admits(token)
    session = await doors[0].redeem(token)
    assert session is not None
    assert await doors[0].redeem(session) is None


async def test_revoking_ends_links_and_sessions(doors: Doors) -> None:
    session, waiting = await doors[0].redeem(await doors[0].offer()), await doors[0].offer()
    assert session is not None
    await doors[1].revoke()
    assert not await doors[0].admits(session)
    assert await doors[0].redeem(waiting) is None


async def test_who_reads_the_file_finds_nothing_that_opens(doors: Doors, tmp_path: Path) -> None:
    waiting, token = await doors[0].offer(), await doors[0].offer()
    session = await doors[0].redeem(token)
    assert session is not None
    path = tmp_path / "state.db"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with sqlite3.connect(path) as connection:
        kept = [row[0] for row in connection.execute("SELECT hash FROM review_passes")]
    assert len(kept) == 2
    for stolen in kept:
        assert await doors[0].redeem(stolen) is None
        assert not await doors[0].admits(stolen)
    everything = b"".join(p.read_bytes() for p in tmp_path.glob("state.db*"))
    assert not any(secret.encode() in everything for secret in (waiting, token, session))


async def test_what_is_over_is_deleted(doors: Doors, clock: Clock, tmp_path: Path) -> None:
    for _ in range(3):
        await doors[0].offer()
    clock.now += LINK_SECONDS
    await doors[0].offer()
    with sqlite3.connect(tmp_path / "state.db") as connection:
        assert connection.execute("SELECT count(*) FROM review_passes").fetchone() == (1,)


def test_a_form_belongs_to_one_session() -> None:
    one, two = new_token(), new_token()
    assert admits_form(one, form_token(one))
    assert not admits_form(two, form_token(one))
    assert not admits_form(one, "")


def test_the_record_tells_sessions_apart_and_names_none() -> None:
    """Who decides is known by the session alone: the same each time, another for another, and of no use to open one."""
    one, two = named("a session"), named("another")
    assert one == named("a session") != two
    assert (one.user, one.tenant) == (None, None)
    assert "a session" not in str(one)
