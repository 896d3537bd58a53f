"""What survives a restart, what is forgotten, and who may look at the file."""

from __future__ import annotations

import asyncio
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import select

from bot.records import Ask
from bot.state import State
from bot.state import inbox as table
from bot.teams.handler import MAX_DEATHS
from bot.teams.history import CALL_S, ConversationHistory
from bot.teams.inbox import LEASE_S, ActivityKey, Attempt, Inbox
from bot.teams.worker import Worker
from bot.wording.conversation.teams import RESTARTED
from grounding.errors import StoreError
from grounding.records import Turn
from tests.bot.teams.conftest import Bots, FakeAnswer
from tests.fakes.channel import FakeChannel

DAY_S = 86400.0
KEY = ActivityKey("msteams", "a:1", "in-1")
PLACE = {"channelId": "msteams", "conversation": {"id": "a:1"}}


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
async def state(tmp_path: Path) -> AsyncIterator[State]:
    opened = State(tmp_path / "deep" / "state.db")
    await opened.open()
    yield opened
    await opened.close()


async def test_only_the_owner_may_read_the_file(state: State, tmp_path: Path) -> None:
    assert stat.S_IMODE((tmp_path / "deep" / "state.db").stat().st_mode) == 0o600


async def test_an_activity_is_taken_once(state: State) -> None:
    inbox = Inbox(state)
    taken = await asyncio.gather(*(inbox.take(KEY, {"text": "x"}) for _ in range(12)))
    assert sorted(taken) == [False] * 11 + [True]
    for other in (
        ActivityKey("webchat", "a:1", "in-1"),
        ActivityKey("msteams", "a:2", "in-1"),
        ActivityKey("msteams", "a:1", "in-2"),
    ):
        assert await inbox.take(other, {})
    await inbox.done(KEY)
    assert not await inbox.take(KEY, {})
    await inbox.forget(KEY)
    assert await inbox.take(KEY, {})


async def test_only_a_lapsed_lease_is_taken_over_and_only_once(state: State) -> None:
    clock = Clock()
    inbox = Inbox(state, lease_s=30, clock=clock)
    await inbox.take(KEY, {"text": "x"})
    clock.now += 29
    assert await inbox.take_over() == []
    await inbox.renew({KEY: 1})
    clock.now += 29
    assert await inbox.take_over() == []
    clock.now += 2
    other_process = Inbox(state, lease_s=30, clock=clock)
    found = [*await inbox.take_over(), *await other_process.take_over()]
    assert [(f.key, f.activity, f.number, f.age_s) for f in found] == [(KEY, {"text": "x"}, 2, 60.0)]
    await inbox.release({KEY: 1})
    assert await other_process.take_over() == [], "it is the second attempt's now"
    await inbox.release({KEY: 2})
    [again] = await other_process.take_over()
    assert again.deaths == 1
    await inbox.done(KEY, again.number)
    clock.now += 100
    assert await inbox.take_over() == []


async def test_a_file_of_an_older_program_gets_the_columns_that_it_has_not(tmp_path: Path) -> None:
    older = State(tmp_path / "state.db")
    await older.open()
    await Inbox(older, lease_s=-1.0).take(KEY, {"text": "x"})
    await ConversationHistory(older, days=30).remember(PLACE, [Turn("user", "q")])
    await older.close()
    with closing(sqlite3.connect(tmp_path / "state.db")) as db:
        db.execute("ALTER TABLE inbox DROP COLUMN deaths")
        db.execute("ALTER TABLE inbox DROP COLUMN begun")
        db.execute("ALTER TABLE turns DROP COLUMN activity")
        db.execute("ALTER TABLE sent DROP COLUMN asked")
        db.commit()
    state = State(tmp_path / "state.db")
    await state.open()
    try:
        [found] = await Inbox(state).take_over()
        assert (found.key, found.deaths) == (KEY, 1)
        await ConversationHistory(state, days=30).remember(PLACE, [Turn("assistant", "a")], Attempt(KEY, found.number))
        history = ConversationHistory(state, days=30)
        assert [t.text for t in (await history.kept(PLACE)).turns] == ["q", "a"]
        await history.arrived({**PLACE, "id": "in-2"}, [], "m1", "e1", None)
        assert await history.last_entry(PLACE) == "e1"
    finally:
        await state.close()


async def test_words_go_when_the_activity_is_done(state: State, tmp_path: Path) -> None:
    inbox = Inbox(state)
    await inbox.take(KEY, {"text": "canary-4711"})
    await inbox.done(KEY)
    await state.close()
    kept = b"".join(p.read_bytes() for p in (tmp_path / "deep").iterdir())
    assert b"canary-4711" not in kept


async def test_done_and_old_activities_are_deleted(state: State) -> None:
    clock = Clock()
    inbox = Inbox(state, clock=clock)
    await inbox.take(KEY, {})
    await inbox.done(KEY)
    unfinished = ActivityKey("msteams", "a:1", "in-2")
    await inbox.take(unfinished, {})
    clock.now += 31 * DAY_S
    await inbox.trim(30 * DAY_S)
    assert await inbox.take(KEY, {})
    assert not await inbox.take(unfinished, {})


async def test_the_last_turns_are_kept_per_conversation(state: State) -> None:
    history = ConversationHistory(state, days=30, keep=4)
    for n in range(6):
        await history.remember(PLACE, [Turn("user", f"q{n}"), Turn("assistant", f"a{n}")])
    await history.remember({**PLACE, "conversation": {"id": "a:2"}}, [Turn("user", "elsewhere")])
    assert [t.text for t in (await history.kept(PLACE)).turns] == ["q4", "a4", "q5", "a5"]
    await history.forget(PLACE)
    assert (await history.kept(PLACE)).turns == ()
    assert len((await history.kept({**PLACE, "conversation": {"id": "a:2"}})).turns) == 1


async def test_old_turns_are_not_recalled(state: State) -> None:
    clock = Clock()
    history = ConversationHistory(state, days=2, clock=clock)
    await history.remember(PLACE, [Turn("user", "old")])
    clock.now += 2 * DAY_S + 1
    await history.remember(PLACE, [Turn("user", "new")])
    assert [t.text for t in (await history.kept(PLACE)).turns] == ["new"]


async def test_after_an_hour_of_silence_another_call_begins(state: State) -> None:
    clock = Clock()
    history = ConversationHistory(state, days=30, clock=clock)
    await history.remember(PLACE, [Turn("user", "one")])
    clock.now += CALL_S - 1
    await history.remember(PLACE, [Turn("user", "two")])
    assert [turn.text for turn in (await history.kept(PLACE)).turns] == ["one", "two"]
    clock.now += CALL_S + 1
    assert (await history.kept(PLACE)).turns == ()
    await history.remember(PLACE, [Turn("user", "three")])
    assert [turn.text for turn in (await history.kept(PLACE)).turns] == ["three"]


async def test_a_second_one_in_a_process_leaves_the_first_its_locks(state: State, tmp_path: Path) -> None:
    """Else another process, the last to close the file as far as it can see, takes its log away from under the first."""
    path = tmp_path / "deep" / "state.db"
    history = ConversationHistory(state, days=30)
    await history.remember(PLACE, [Turn("user", "one")])
    other = State(path)
    await other.open()
    await other.close()
    elsewhere = f"import sqlite3; db = sqlite3.connect({str(path)!r}); print(db.execute('SELECT count(*) FROM turns').fetchone()); db.close()"
    command = [sys.executable, "-c", elsewhere]

    async def seen() -> str:
        return (await asyncio.to_thread(subprocess.check_output, command, text=True)).strip()

    assert await seen() == "(1,)"
    await history.remember(PLACE, [Turn("user", "two")])
    assert await seen() == "(2,)"


async def test_what_is_due_once_a_day_is_claimed_by_one(state: State, tmp_path: Path) -> None:
    other = State(tmp_path / "deep" / "state.db")
    await other.open()
    claims = await asyncio.gather(*(s.claim("retention", DAY_S, 1000.0) for s in (state, other) * 6))
    assert sum(claims) == 1
    assert not await other.claim("retention", DAY_S, 1000.0 + DAY_S - 1)
    assert await other.claim("retention", DAY_S, 1000.0 + DAY_S)
    await other.unclaim("retention")
    assert await state.claim("retention", DAY_S, 1001.0 + DAY_S)
    await other.close()


async def test_a_sent_message_leads_to_its_entry(state: State) -> None:
    history = ConversationHistory(state, days=30)
    await history.arrived(PLACE, [], "m1", "e1", None)
    await history.arrived(PLACE, [], "m1", "e2", None)
    assert await history.entry_of(PLACE, "m1") == "e2"
    assert await history.entry_of(PLACE, "m2") is None
    assert await history.entry_of({**PLACE, "channelId": "webchat"}, "m1") is None


async def test_a_damaged_or_closed_file_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "state.db").write_bytes(b"this is not a database at all" * 100)
    damaged = State(tmp_path / "state.db")
    with pytest.raises(StoreError):
        await damaged.open()
    with pytest.raises(StoreError):
        await Inbox(damaged).take(KEY, {})


async def test_an_unfinished_turn_is_answered_after_a_restart(bots: Bots, channel: FakeChannel) -> None:
    forever = asyncio.Event()

    async def wait(_: Ask) -> None:
        await forever.wait()

    first = await bots.start(answer=FakeAnswer(then=wait), turn_deadline_s=0.2)
    inbound = channel.inbound("unfinished")
    await first.post(inbound)
    await channel.until(lambda c: len(c.typings) == 1)
    await bots.stop()
    assert channel.messages == []
    second = await bots.start()
    [message] = await channel.until_messages(1)
    assert message["replyToId"] == inbound["id"]
    assert [a.question for a in second.answer.asked] == ["unfinished"]
    assert (await second.post(inbound)).status == 202
    await bots.stop()
    assert len(channel.messages) == 1


@pytest.mark.parametrize(
    ("ends", "age_s", "answered"),
    [
        ("ddd", 0.0, False),
        ("dd", 0.0, True),
        ("rrrrr", 0.0, True),
        ("ddrrr", 0.0, True),
        ("rrd", 0.0, True),
        ("drdrd", 0.0, False),
        ("d", 3600.0, False),
    ],
)
async def test_a_turn_that_is_old_or_with_which_three_servers_died_gets_an_apology(
    bots: Bots, channel: FakeChannel, tmp_path: Path, ends: str, *, age_s: float, answered: bool
) -> None:
    """`ends`: of the servers that had it, by dying (d) or in order (r), as where one after the other is brought up to a new version: such a one lets go of what waits, which was not what ended it."""
    state = State(tmp_path / "home" / "state.db")
    await state.open()
    inbox = Inbox(state, clock=lambda: time.time() - age_s, lease_s=-1.0)  # each lease has run out
    inbound = channel.inbound("left behind")
    key = ActivityKey("msteams", inbound["conversation"]["id"], inbound["id"])
    await inbox.take(key, inbound)
    number = 1
    for left, end in enumerate(ends, 1):
        if end == "r":
            await inbox.release({key: number})
        elif number > 1:
            await inbox.begin(Attempt(key, number))
        if left < len(ends):
            [again] = await inbox.take_over()
            number = again.number
    await state.close()
    bot = await bots.start()
    [message] = await channel.until_messages(1)
    assert (message["text"] != RESTARTED, len(bot.answer.asked)) == (answered, answered)


async def test_a_dead_workers_turn_is_taken_over_within_five_seconds(
    bots: Bots, channel: FakeChannel, tmp_path: Path
) -> None:
    bot = await bots.start(lease_s=LEASE_S)
    inbound = channel.inbound("left behind")
    state = State(tmp_path / "home" / "state.db")
    await state.open()
    await Inbox(state).take(ActivityKey("msteams", inbound["conversation"]["id"], inbound["id"]), inbound)
    began = time.monotonic()
    await channel.until_messages(1)
    took = time.monotonic() - began
    await state.close()
    assert took <= 5
    assert [asked.question for asked in bot.answer.asked] == ["left behind"]


async def test_what_a_full_queue_has_no_room_for_waits_and_counts_no_death(
    bots: Bots, channel: FakeChannel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """New work may come between the look for room and the turn that is taken over."""

    class Filling(Worker):
        @property
        def room(self) -> int:
            return 10

    monkeypatch.setattr("bot.teams.endpoint.Worker", partial(Filling, limit=2))
    state = State(tmp_path / "home" / "state.db")
    await state.open()
    left = [channel.inbound(f"left {n}", conversation={"id": f"a:{n}"}) for n in range(4)]
    inbox = Inbox(state, lease_s=-1.0)
    for inbound in left:
        await inbox.take(ActivityKey("msteams", inbound["conversation"]["id"], inbound["id"]), inbound)
    go_on = asyncio.Event()

    async def wait(_: Ask) -> None:
        await go_on.wait()

    bot = await bots.start(answer=FakeAnswer(then=wait), lease_s=0.35)
    async with asyncio.timeout(20):
        while True:
            kept = await state.ask(lambda c: c.execute(select(table.c.attempts, table.c.deaths)).all())
            if sum(row.attempts > 2 * MAX_DEATHS for row in kept) == 2:
                break
            await asyncio.sleep(0.05)
    assert [row.deaths for row in kept] == [1] * 4, "that of the server which left them"
    go_on.set()
    await channel.until_messages(4)
    await bots.stop()
    await state.close()
    assert sorted(asked.question for asked in bot.answer.asked) == [f"left {n}" for n in range(4)]
    assert all(message["text"] != RESTARTED for message in channel.messages)


async def test_a_server_that_ends_holds_on_to_what_it_finishes(
    bots: Bots, channel: FakeChannel, tmp_path: Path
) -> None:
    """It takes longer than a lease; another server must not begin it again meanwhile."""
    go_on = asyncio.Event()

    async def wait(_: Ask) -> None:
        await go_on.wait()

    bot = await bots.start(answer=FakeAnswer(then=wait), lease_s=0.7)
    await bot.post(channel.inbound("in hand"))
    await channel.until(lambda c: len(c.typings) == 1)
    state = State(tmp_path / "home" / "state.db")
    await state.open()
    other, ending = Inbox(state, lease_s=0.7), asyncio.create_task(bots.stop())
    for _ in range(15):
        await asyncio.sleep(0.1)
        assert await other.take_over() == []
    go_on.set()
    await ending
    assert [message["text"] != RESTARTED for message in channel.messages] == [True]
    assert await other.take_over() == []
    await state.close()


async def test_a_worker_that_was_too_slow_answers_nothing(bots: Bots, channel: FakeChannel, tmp_path: Path) -> None:
    """Another process has the message by now, and answers it."""
    state = State(tmp_path / "home" / "state.db")
    await state.open()
    taken = Inbox(state, clock=lambda: time.time() + 60)

    async def slow(_: Ask) -> None:
        assert len(await taken.take_over()) == 1

    bot = await bots.start(answer=FakeAnswer(then=slow))
    await bot.post(channel.inbound())
    assert (await bot.ledger.delivery())["failed"] == "taken_over"
    await bots.stop()
    assert channel.messages == []
    later = Inbox(state, clock=lambda: time.time() + 600)
    assert [found.number for found in await later.take_over()] == [3], "it is not done"
    await state.close()


async def test_a_file_of_an_older_program_gets_the_column_that_it_lacks(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with closing(sqlite3.connect(path)) as old:
        old.execute(
            "CREATE TABLE turns (id INTEGER PRIMARY KEY, channel VARCHAR(64) NOT NULL, conversation VARCHAR(512) NOT NULL, "
            "role VARCHAR(16) NOT NULL, text TEXT NOT NULL, at FLOAT NOT NULL)"
        )
        old.execute("INSERT INTO turns VALUES (1, 'msteams', 'a:1', 'user', 'kept', ?)", (time.time(),))
        old.commit()
    for _ in range(2):
        state = State(path)
        await state.open()
        history = ConversationHistory(state, days=30)
        await history.remember({**PLACE, "id": "in-2"}, [Turn("user", "new")])
        await history.forget_message({**PLACE, "id": "in-2"})
        assert [turn.text for turn in (await history.kept(PLACE)).turns] == ["kept"]
        await state.close()
