"""Links that work once and the sessions that they open, over a real state database."""

from __future__ import annotations

import asyncio
import sqlite3
import stat
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from bot.review.roles import Role
from bot.review.session import (
    LINK_SECONDS,
    SESSION_SECONDS,
    SIGNING_IN_SECONDS,
    Person,
    ReviewAccess,
    Session,
    SessionTerms,
    admits_form,
    form_token,
    named,
)
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
    assert await server.admitted(session.secret)
    assert await command.admitted(session.secret)
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
    assert await doors[0].admitted(session.secret)
    clock.now += 1
    assert not await doors[0].admitted(session.secret)


@pytest.mark.parametrize("changed", ["", "x{}", "{}x", "\ud800", "\x00"])
async def test_nothing_but_the_token_and_the_session_opens(doors: Doors, changed: str) -> None:
    token = await doors[0].offer()
    assert await doors[0].redeem(changed.format(token)) is None
    session = await doors[0].redeem(token)
    assert session is not None
    assert not await doors[0].admitted(changed.format(session.secret))


async def test_a_link_is_no_session_and_a_session_no_link(doors: Doors) -> None:
    token = await doors[0].offer()
    assert not await doors[0].admitted(token)
    session = await doors[0].redeem(token)
    assert session is not None
    assert await doors[0].redeem(session.secret) is None


async def test_revoking_ends_links_and_sessions(doors: Doors) -> None:
    session, waiting = await doors[0].redeem(await doors[0].offer()), await doors[0].offer()
    assert session is not None
    await doors[1].revoke()
    assert not await doors[0].admitted(session.secret)
    assert await doors[0].redeem(waiting) is None


async def test_who_reads_the_file_finds_nothing_that_opens(doors: Doors, tmp_path: Path) -> None:
    waiting, token = await doors[0].offer(), await doors[0].offer()
    session = await doors[0].redeem(token)
    assert session is not None
    path = tmp_path / "state.db"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with sqlite3.connect(path) as connection:
        kept = [
            row[0]
            for row in connection.execute("SELECT hash FROM review_passes UNION SELECT hash FROM review_sessions")
        ]
    assert len(kept) == 2
    for stolen in kept:
        assert await doors[0].redeem(stolen) is None
        assert not await doors[0].admitted(stolen)
    everything = b"".join(p.read_bytes() for p in tmp_path.glob("state.db*"))
    assert not any(secret.encode() in everything for secret in (waiting, token, session.secret))


async def test_what_is_over_is_deleted(doors: Doors, clock: Clock, tmp_path: Path) -> None:
    for _ in range(3):
        await doors[0].offer()
    clock.now += LINK_SECONDS
    await doors[0].offer()
    with sqlite3.connect(tmp_path / "state.db") as connection:
        assert connection.execute("SELECT count(*) FROM review_passes").fetchone() == (1,)


def test_a_form_belongs_to_one_session() -> None:
    one, two = Session("one"), Session("two")
    assert admits_form(one, form_token(one))
    assert not admits_form(two, form_token(one))
    assert not admits_form(one, "")


def test_the_record_tells_sessions_apart_and_names_none() -> None:
    """Who decides is known by the session alone: the same each time, another for another, and of no use to open one."""
    one, two = named(Session("a session")), named(Session("another"))
    assert one == named(Session("a session")) != two
    assert (one.user, one.tenant) == (None, None)
    assert "a session" not in str(one)


ADA = Person("ada", "Ada Lovelace", "tenant-1")
HOUR = 3600.0


@pytest.fixture
async def signing_in(tmp_path: Path, clock: Clock) -> AsyncIterator[Callable[..., ReviewAccess]]:
    """Doors over one home, each with its own terms."""
    state = State(tmp_path / "state.db")
    await state.open()
    yield lambda door="one", **terms: ReviewAccess(
        state, clock, SessionTerms(door, 8 * HOUR, HOUR, **{"by_link": False, **terms})
    )
    await state.close()


async def test_a_session_of_a_person_names_them(signing_in: Callable[..., ReviewAccess]) -> None:
    door = signing_in()
    session = await door.enter(ADA, Role.REVIEWER)
    assert await door.admitted(session.secret) == session
    assert session.secret not in repr(session)
    actor = named(session)
    assert (actor.user, actor.tenant, actor.authenticated_by) == ("ada", "tenant-1", f"oidc {session.mark}")


async def test_a_session_ends_when_it_is_not_used_and_at_last_anyway(
    signing_in: Callable[..., ReviewAccess], clock: Clock
) -> None:
    door = signing_in()
    used, idle = await door.enter(ADA, Role.READER), await door.enter(ADA, Role.READER)
    for _ in range(8):
        clock.now += HOUR - 60
        assert await door.admitted(used.secret)
    assert await door.admitted(idle.secret) is None
    clock.now += 8 * 60
    assert await door.admitted(used.secret) is None, "eight hours are over, whoever reads"
    assert await door.open_sessions() == []


async def test_a_restart_ends_no_session_and_other_settings_do(signing_in: Callable[..., ReviewAccess]) -> None:
    session = await signing_in("one").enter(ADA, Role.ADMINISTRATOR)
    assert await signing_in("one").admitted(session.secret)
    assert await signing_in("two").admitted(session.secret) is None
    assert await signing_in("").admitted(session.secret) is None


async def test_links_and_their_sessions_are_shut_where_they_open_nothing(
    signing_in: Callable[..., ReviewAccess],
) -> None:
    opened, shut = signing_in(by_link=True), signing_in()
    session = await opened.redeem(await opened.offer())
    assert session is not None
    assert await shut.redeem(await opened.offer()) is None
    assert await opened.admitted(session.secret)
    assert await shut.admitted(session.secret) is None
    assert [s.mark for s in await opened.open_sessions()] == [session.mark]
    assert await shut.open_sessions() == [], "who is let in now"


async def test_a_sign_in_is_ended_once_and_in_time(signing_in: Callable[..., ReviewAccess], clock: Clock) -> None:
    door = signing_in()
    await door.begin("first")
    await door.begin("second")
    assert not await door.end("third")
    assert await door.end("first")
    assert not await door.end("first")
    clock.now += SIGNING_IN_SECONDS
    assert not await door.end("second")


async def test_one_session_ends_and_no_other(signing_in: Callable[..., ReviewAccess]) -> None:
    door = signing_in()
    one, two, three = [await door.enter(ADA, Role.READER) for _ in range(3)]
    await door.leave(one.secret)
    key = next(s.key for s in await door.open_sessions() if s.mark == two.mark)
    assert await door.expel(key)
    assert not await door.expel(key)
    assert [s.mark for s in await door.open_sessions()] == [three.mark]
    again = await door.enter(ADA, Role.READER, three.secret)
    assert await door.admitted(three.secret) is None
    assert await door.admitted(again.secret)


async def test_who_begins_sign_ins_without_end_fills_no_disk(
    signing_in: Callable[..., ReviewAccess], tmp_path: Path
) -> None:
    door = signing_in(most_waiting=20)
    for n in range(50):
        await door.begin(f"flow {n}")
    with sqlite3.connect(tmp_path / "state.db") as connection:
        (count,) = connection.execute("SELECT count(*) FROM review_passes").fetchone()
    assert count <= 20
    assert await door.end("flow 49"), "the oldest are given up"
