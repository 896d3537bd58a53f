"""What reviewers' links, sign-ins and sessions must do, wherever the state is kept. In PostgreSQL by a worker's role, which has the rights of one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import make_url, select

from bot.review.roles import Role
from bot.review.session import (
    LINK_SECONDS,
    SESSION_SECONDS,
    SIGNING_IN_SECONDS,
    Person,
    ReviewAccess,
    Session,
    SessionTerms,
    named,
    passes,
    sessions,
)
from bot.state import State
from bot.state_schema import PART
from bot.teams.inbox import ActivityKey, Inbox
from grounding.database import schema
from grounding.database.postgres import Postgres
from grounding.errors import StoreError
from tests.postgres.server import table_files
from tests.postgres.state import opener, shared

ADA = Person("ada", "Ada Lovelace", "tenant-1")
HOUR = 3600.0


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@dataclass(frozen=True)
class Workers:
    """Two processes over one state: workers of a server, or a server and the command that makes a link."""

    states: tuple[State, State]
    clock: Clock

    def door(self, of: int = 0, door: str = "one", **terms: Any) -> ReviewAccess:
        """The door of the first or the second, with its own terms; links are shut."""
        told = SessionTerms(door, 8 * HOUR, HOUR, **{"by_link": False, **terms})
        return ReviewAccess(self.states[of], self.clock, told)

    @property
    def by_link(self) -> tuple[ReviewAccess, ReviewAccess]:
        """The doors of both, which links open."""
        return ReviewAccess(self.states[0], self.clock), ReviewAccess(self.states[1], self.clock)

    async def rows(self) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
        """All that is kept: of links and sign-ins, of sessions."""
        kept = [
            await self.states[0].run(lambda c, table=table: [tuple(row) for row in c.execute(select(table))])  # type: ignore[misc]
            for table in (passes, sessions)
        ]
        return kept[0], kept[1]


@pytest.fixture(params=["sqlite", "postgres"])
async def workers(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Workers]:
    place: Path | str = tmp_path / "state.db"
    if request.param == "postgres":
        place = request.getfixturevalue("worker_url")
        shared(request.getfixturevalue("database_url"), make_url(str(place)).username)
    async with opener(place) as another:
        yield Workers((await another(), await another()), Clock())


async def test_a_link_made_by_one_process_opens_another_once(workers: Workers) -> None:
    command, server = workers.by_link
    token = await command.offer()
    session = await server.redeem(token)
    assert session is not None
    assert await server.admitted(session.secret) == session
    assert await command.admitted(session.secret) == session
    assert await server.redeem(token) is None
    assert await command.redeem(token) is None


async def test_of_many_who_come_at_once_one_gets_in(workers: Workers) -> None:
    doors = workers.by_link
    for _ in range(5):
        token = await doors[0].offer()
        got = await asyncio.gather(*(door.redeem(token) for door in doors * 8))
        assert sum(session is not None for session in got) == 1
    await doors[0].begin("a browser")
    assert sum(await asyncio.gather(*(door.end("a browser") for door in doors * 8))) == 1


async def test_a_link_that_nobody_opened_in_time_is_useless(workers: Workers) -> None:
    doors = workers.by_link
    early, late = await doors[0].offer(), await doors[0].offer()
    workers.clock.now += LINK_SECONDS - 1
    assert await doors[1].redeem(early) is not None
    workers.clock.now += 1
    assert await doors[1].redeem(late) is None


async def test_a_session_by_link_ends_after_a_working_day(workers: Workers) -> None:
    door, other = workers.by_link
    session = await door.redeem(await door.offer())
    assert session is not None
    workers.clock.now += SESSION_SECONDS - 1
    assert await other.admitted(session.secret)
    workers.clock.now += 1
    assert not await other.admitted(session.secret)


@pytest.mark.parametrize("changed", ["", "x{}", "{}x", "\ud800", "\x00"])
async def test_nothing_but_the_token_and_the_session_opens(workers: Workers, changed: str) -> None:
    door, _ = workers.by_link
    token = await door.offer()
    assert await door.redeem(changed.format(token)) is None
    session = await door.redeem(token)
    assert session is not None
    assert not await door.admitted(changed.format(session.secret))
    assert not await door.expel(changed.format(session.mark))


async def test_a_link_is_no_session_and_a_session_no_link(workers: Workers) -> None:
    door, _ = workers.by_link
    token = await door.offer()
    assert not await door.admitted(token)
    session = await door.redeem(token)
    assert session is not None
    assert await door.redeem(session.secret) is None


async def test_revoking_ends_links_sign_ins_and_sessions_of_every_worker(workers: Workers) -> None:
    door, command = workers.by_link
    session, waiting = await door.redeem(await door.offer()), await door.offer()
    person = await workers.door().enter(ADA, Role.READER)
    await door.begin("a browser")
    assert session is not None
    await command.revoke()
    assert not await door.admitted(session.secret)
    assert not await workers.door().admitted(person.secret)
    assert await door.redeem(waiting) is None
    assert not await door.end("a browser")


async def test_a_link_that_is_opened_while_all_is_revoked_lets_nobody_in(workers: Workers) -> None:
    door, command = workers.by_link
    for _ in range(8):
        tokens = [await door.offer() for _ in range(3)]
        *opened, _ = await asyncio.gather(*(door.redeem(token) for token in tokens), command.revoke())
        for session in opened:
            assert not isinstance(session, Session) or await door.admitted(session.secret) is None


async def test_who_reads_what_is_kept_finds_nothing_that_opens(workers: Workers) -> None:
    door, _ = workers.by_link
    waiting, token = await door.offer(), await door.offer()
    await door.begin("a browser")
    opened = [await door.redeem(token), await workers.door().enter(ADA, Role.ADMINISTRATOR)]
    of_links, of_sessions = await workers.rows()
    assert (len(of_links), len(of_sessions)) == (2, 2)
    for stolen, *_ in [*of_links, *of_sessions]:
        assert len(stolen) == 64
        assert await door.redeem(stolen) is None
        assert not await door.admitted(stolen)
        assert not await workers.door().admitted(stolen)
        assert not await door.end(stolen)
    kept = repr((of_links, of_sessions))
    assert not any(secret in kept for secret in (waiting, token, "a browser", *(s.secret for s in opened if s)))


async def test_what_is_over_is_deleted(workers: Workers) -> None:
    door, other = workers.by_link
    for _ in range(3):
        await door.offer()
    await workers.door().enter(ADA, Role.READER)
    workers.clock.now += LINK_SECONDS
    await other.offer()
    assert [len(rows) for rows in await workers.rows()] == [1, 1]
    workers.clock.now += 8 * HOUR
    await asyncio.gather(*(one.offer() for one in (door, other) * 4))
    assert [len(rows) for rows in await workers.rows()] == [8, 0]


async def test_a_session_of_a_person_names_them(workers: Workers) -> None:
    session = await workers.door().enter(ADA, Role.REVIEWER)
    assert await workers.door(1).admitted(session.secret) == session
    assert session.secret not in repr(session)
    actor = named(session)
    assert (actor.user, actor.tenant, actor.authenticated_by) == ("ada", "tenant-1", f"oidc {session.mark}")


async def test_a_name_that_some_database_refuses_is_kept(workers: Workers) -> None:
    session = await workers.door().enter(Person("a\x00" * 200, "Ada \ud83d" * 200, "t"), Role.READER)
    admitted = await workers.door(1).admitted(session.secret)
    assert admitted is not None
    assert admitted.name == "Ada \N{REPLACEMENT CHARACTER}" * 200


async def test_a_session_ends_when_it_is_not_used_and_at_last_anyway(workers: Workers) -> None:
    doors = workers.door(), workers.door(1)
    used, idle = [await doors[0].enter(ADA, Role.READER) for _ in range(2)]
    for n in range(8):
        workers.clock.now += HOUR - 60
        assert await doors[n % 2].admitted(used.secret), "used by way of either"
    assert await doors[0].admitted(idle.secret) is None
    [open_session] = await doors[1].open_sessions()
    assert (open_session.begun, open_session.used) == (1_000_000.0, workers.clock.now)
    workers.clock.now += 8 * 60
    assert await doors[0].admitted(used.secret) is None, "eight hours are over, whoever reads"
    assert await doors[1].open_sessions() == []


async def test_a_restart_ends_no_session_and_other_settings_do(workers: Workers) -> None:
    session = await workers.door().enter(ADA, Role.ADMINISTRATOR)
    assert await workers.door(1).admitted(session.secret)
    assert await workers.door(1, "two").admitted(session.secret) is None
    assert await workers.door(1, "").admitted(session.secret) is None


async def test_links_and_their_sessions_are_shut_where_they_open_nothing(workers: Workers) -> None:
    opened, shut = workers.door(by_link=True), workers.door(1)
    session = await opened.redeem(await opened.offer())
    assert session is not None
    assert await shut.redeem(await opened.offer()) is None
    assert await opened.admitted(session.secret)
    assert await shut.admitted(session.secret) is None
    assert [s.mark for s in await opened.open_sessions()] == [session.mark]
    assert await shut.open_sessions() == [], "who is let in now"


async def test_a_sign_in_is_ended_once_and_in_time(workers: Workers) -> None:
    begun, ended = workers.door(), workers.door(1)
    await begun.begin("first")
    await begun.begin("second")
    assert not await ended.end("third")
    assert await ended.end("first")
    assert not await begun.end("first")
    workers.clock.now += SIGNING_IN_SECONDS
    assert not await ended.end("second")


async def test_one_session_ends_at_every_worker_and_no_other(workers: Workers) -> None:
    door, other = workers.door(), workers.door(1)
    one, two, three = [await door.enter(ADA, Role.READER) for _ in range(3)]
    assert await other.admitted(one.secret)
    await door.leave(one.secret)
    assert await other.admitted(one.secret) is None
    key = next(s.key for s in await door.open_sessions() if s.mark == two.mark)
    assert await door.expel(key)
    assert not await other.expel(key)
    assert await other.admitted(two.secret) is None
    assert [s.mark for s in await other.open_sessions()] == [three.mark]
    again = await other.enter(ADA, Role.READER, three.secret)
    assert await door.admitted(three.secret) is None
    assert await door.admitted(again.secret)


async def test_who_begins_sign_ins_without_end_fills_no_disk(workers: Workers) -> None:
    doors = workers.door(most_waiting=20), workers.door(1, most_waiting=20)
    link = await workers.by_link[0].offer()
    for n in range(50):
        await doors[n % 2].begin(f"flow {n}")
    assert len((await workers.rows())[0]) <= 21
    assert await doors[0].end("flow 49"), "the oldest are given up"
    assert await workers.by_link[1].redeem(link), "and no link for a sign-in"


async def test_many_who_begin_at_once_wait_for_each_other_in_no_circle(workers: Workers) -> None:
    doors = workers.door(most_waiting=20), workers.door(1, most_waiting=20)
    await asyncio.gather(*(doors[n % 2].begin(f"flow {n}") for n in range(120)))
    assert len((await workers.rows())[0]) < 20 + 32, "and no more are over than can have begun at one moment"


async def test_only_what_deletes_many_waits_for_another_that_does(database_url: str) -> None:
    owner, state = Postgres(shared(database_url)), State(Postgres(database_url, wait_s=0.2))
    clock = Clock()
    door = ReviewAccess(state, clock, SessionTerms("one"))
    session, token = await door.enter(ADA, Role.READER), await door.offer()
    with owner.writing("review"):
        await door.begin("a browser")
        assert await door.end("a browser")
        assert await door.redeem(token)
        await door.enter(ADA, Role.READER, session.secret)
        with pytest.raises(StoreError, match="another process holds it locked"):
            await door.revoke()
        clock.now += 9 * HOUR
        with pytest.raises(StoreError, match="another process holds it locked"):
            await door.begin("another browser")
    await door.begin("another browser")
    assert await door.end("another browser")
    await state.close()
    owner.close()


async def test_time_goes_by_the_clock_that_all_share(
    database_url: str, worker_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker whose own clock is ten hours ahead ends no link, sign-in or session of another, and makes none that lasts longer."""
    shared(database_url, make_url(worker_url).username)
    async with opener(worker_url) as another:
        door, ahead = [ReviewAccess(await another(), terms=SessionTerms("one")) for _ in range(2)]
        session, token = await door.enter(ADA, Role.READER), await door.offer()
        by_link = await door.redeem(await door.offer())
        await door.begin("a browser")
        assert by_link is not None
        late = time.time() + 10 * HOUR
        with monkeypatch.context() as elsewhere:
            elsewhere.setattr(time, "time", lambda: late)
            assert await ahead.admitted(session.secret)
            assert await ahead.admitted(by_link.secret)
            assert await ahead.redeem(token)
            assert await ahead.end("a browser")
            await ahead.offer()
        assert await door.admitted(by_link.secret)
        found = await door.open_sessions()
        assert len(found) == 3
        for one in found:
            assert abs(one.begun - time.time()) < HOUR
            assert one.until - one.begun == pytest.approx(SESSION_SECONDS, abs=1)


async def test_a_program_of_before_goes_on_beside_the_new_tables(database_url: str) -> None:
    before = replace(PART, steps=PART.steps[:1], rights=())
    owner = Postgres(database_url)
    with owner.writing(schema.LOCK) as connection:
        schema.upgrade(connection, [before])
    state = State(owner)
    with pytest.raises(StoreError, match="the state in the database is of schema 1, this program needs 4"):
        await state.open()
    inbox = Inbox(state)
    assert await inbox.take(ActivityKey("msteams", "a:1", "in-1"), {})
    shared(database_url)
    await state.open()
    owner.run(lambda connection: schema.refuse_other(connection, before))
    assert await inbox.knows(ActivityKey("msteams", "a:1", "in-1"))
    assert await ReviewAccess(state).offer()
    assert await state.flush()
    await state.close()


def test_a_worker_can_do_no_more_than_its_statements(database_url: str, worker_url: str) -> None:
    shared(database_url, make_url(worker_url).username)
    for statement in (
        "UPDATE review_sessions SET role = 3",
        "UPDATE review_sessions SET until = 0",
        "UPDATE review_passes SET until = 0",
        "TRUNCATE review_passes",
        "DROP TABLE review_sessions",
    ):
        with psycopg.connect(worker_url) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(statement)


async def test_a_name_is_in_no_file_of_a_table_once_its_session_ended_and_it_is_flushed(
    database_url: str, worker_url: str
) -> None:
    shared(database_url, make_url(worker_url).username)
    async with opener(worker_url) as another:
        state = await another()
        door = ReviewAccess(state, terms=SessionTerms("one"))
        gone, stays = [await door.enter(Person(f"id {n}", f"canary of {n}", "t"), Role.READER) for n in (1, 2)]
        await door.leave(gone.secret)
        if not (held := table_files(database_url)):
            pytest.skip("the files of this server cannot be read from here")
        assert b"canary of 1" in held
        assert await state.flush()
        held = table_files(database_url)
        assert b"canary of 1" not in held
        assert b"canary of 2" in held
        assert await door.admitted(stays.secret) == stays
