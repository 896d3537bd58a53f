"""What the state of conversations must do, wherever it is kept: inbox, what was said and sent, what could not be delivered."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Connection

from bot.privacy import conversations
from bot.state import State, turns
from bot.teams.delivery.undelivered import FIRST_S, Undelivered, Waiting
from bot.teams.history import CALL_S, Before, ConversationHistory, Recalled
from bot.teams.inbox import DELETED, EDITED, LEASE_S, RELEASED_S, UNHELD_S, ActivityKey, Attempt, Inbox, fenced_insert
from bot.teams.ports import Json
from grounding.database.postgres import Postgres
from grounding.errors import StoreError
from grounding.records import Turn
from tests.postgres.server import table_files
from tests.postgres.state import Opener, is_next, opener, shared

DAY_S = 86400.0
KEY = ActivityKey("msteams", "a:1", "in-1")
PLACE = {"channelId": "msteams", "conversation": {"id": "a:1"}}
ELSEWHERE = {"channelId": "msteams", "conversation": {"id": "a:2"}}


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(params=["sqlite", "postgres"])
async def another(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Opener]:
    """Opens the same state once more, as another process does."""
    place = tmp_path / "state.db" if request.param == "sqlite" else shared(request.getfixturevalue("database_url"))
    async with opener(place) as open_one:
        yield open_one


@pytest.fixture
async def state(another: Opener) -> State:
    return await another()


async def test_an_activity_is_taken_once_by_all(state: State, another: Opener) -> None:
    inboxes = [Inbox(state), Inbox(await another())]
    taken = await asyncio.gather(*(inboxes[n % 2].take(KEY, {"text": "x"}) for n in range(12)))
    assert sorted(taken) == [False] * 11 + [True]
    for other in (
        ActivityKey("webchat", "a:1", "in-1"),
        ActivityKey("msteams", "a:2", "in-1"),
        ActivityKey("msteams", "a:1", "in-2"),
    ):
        assert await inboxes[0].take(other, {})
    await inboxes[0].done(KEY)
    assert not await inboxes[1].take(KEY, {})
    await inboxes[1].forget(KEY)
    assert await inboxes[0].take(KEY, {})


async def test_only_a_lapsed_lease_is_taken_over_and_by_one_alone(state: State, another: Opener) -> None:
    clock = Clock()
    inbox, other = (Inbox(one, lease_s=30, clock=clock) for one in (state, await another()))
    await inbox.take(KEY, {"text": "x"})
    clock.now += 29
    await inbox.renew({KEY: 1})
    clock.now += 29
    assert await other.take_over() == []
    clock.now += 2
    both = await asyncio.gather(inbox.take_over(), other.take_over())
    found = [f for some in both for f in some]
    assert [(f.key, f.activity, f.number, f.age_s) for f in found] == [(KEY, {"text": "x"}, 2, 60.0)]
    assert not await inbox.holds(Attempt(KEY, 1))
    assert await inbox.holds(Attempt(KEY, 2))
    await inbox.renew({KEY: 1})  # by the process that was only slow: it is not its any more
    await inbox.begin(Attempt(KEY, 1))  # nor is that
    await inbox.begin(Attempt(KEY, 2))
    clock.now += 31
    assert [(f.number, f.deaths) for f in await other.take_over()] == [(3, 2)]
    await inbox.release({KEY: 3})
    [again] = await inbox.take_over()
    assert again.deaths == 2, "nobody died"
    await other.done(KEY, 3)  # nor is it this one's
    await inbox.begin(Attempt(KEY, 4))
    clock.now += 31
    [last] = await inbox.take_over()
    assert (last.deaths, last.number > again.number > 3) == (3, True)
    await other.done(KEY, last.number)
    clock.now += 100
    assert await inbox.take_over() == []


async def test_a_message_that_only_waited_counts_one_death_however_many_servers_died(state: State) -> None:
    clock = Clock()
    inbox = Inbox(state, lease_s=30, clock=clock)
    await inbox.take(KEY, {"text": "x"})
    deaths = []
    for begins in (False, False, False, True, True):
        clock.now += 31
        [found] = await inbox.take_over()
        deaths.append(found.deaths)
        if begins:
            await inbox.begin(Attempt(KEY, found.number))
    clock.now += 31
    assert [*deaths, (await inbox.take_over())[0].deaths] == [1, 1, 1, 1, 2, 3]


async def test_what_a_slow_attempt_writes_after_another_took_over_comes_to_nothing(
    state: State, another: Opener
) -> None:
    clock = Clock()
    inbox, other = (Inbox(one, lease_s=30, clock=clock) for one in (state, await another()))
    history, waiting = ConversationHistory(state, days=90, clock=clock), Undelivered(state, clock=clock)
    slow, now = Attempt(KEY, 1), Attempt(KEY, 2)
    await inbox.take(KEY, {"text": "x"})
    await history.remember(PLACE, [Turn("user", "before")], slow)
    clock.now += 31
    assert [found.key for found in await other.take_over()] == [KEY]

    await history.remember(PLACE, [Turn("user", "of the slow one")], slow)
    assert not await waiting.put(Waiting(PLACE, {"text": "of the slow one"}, held=slow))
    await inbox.done(KEY)
    await history.remember(PLACE, [Turn("user", "of the one that has it"), Turn("assistant", "yes")], now)
    assert await waiting.put(Waiting(PLACE, {"text": "of the one that has it"}, turns=(Turn("user", "q"),), held=now))
    await history.forget(PLACE, slow)
    await waiting.forget_turns(PLACE, slow)

    assert [turn.text for turn in (await history.kept(PLACE)).turns] == ["before", "of the one that has it", "yes"]
    clock.now += FIRST_S
    assert [(w.message, w.turns, w.held) for w in await waiting.claim_due()] == [
        ({"text": "of the one that has it"}, (Turn("user", "q"),), None)
    ]
    clock.now += 31
    assert [found.number for found in await inbox.take_over()] == [3], "the slow one did not finish it"
    await history.forget(PLACE, Attempt(KEY, 3))
    assert (await history.kept(PLACE)).turns == ()


async def test_a_message_that_is_taken_back_ends_with_its_edited_forms(state: State, another: Opener) -> None:
    clock = Clock()
    inbox, other = (Inbox(one, lease_s=30, clock=clock) for one in (state, await another()))
    first, second = (replace(KEY, activity=f"in-1{EDITED}{n}") for n in "ab")
    like, neighbour = replace(KEY, activity="in-10"), replace(KEY, activity=f"in_1{EDITED}a")
    for key in (KEY, like, neighbour, first, second):
        await inbox.take(key, {})
    assert await inbox.changed(KEY)
    assert not await inbox.changed(second)
    await other.take_back(KEY, second.activity)
    assert [await inbox.holds(Attempt(key, 1)) for key in (KEY, first, second, like, neighbour)] == [
        False,
        False,
        True,
        True,
        True,
    ]
    clock.now += 31
    assert {found.key for found in await other.take_over()} == {second, like, neighbour}
    assert not await inbox.changed(like)
    await inbox.take(replace(KEY, activity=f"{DELETED}in-10"), {})
    assert await inbox.changed(like)


async def test_whoever_takes_over_waits_for_a_write_of_the_one_before_and_sees_it(
    state: State, another: Opener
) -> None:
    """Between a look at the number and the commit nobody else gets it: else the next turn would be read without what the last one said."""
    clock = Clock()
    other = Inbox(await another(), lease_s=30, clock=clock)
    await Inbox(state, lease_s=30, clock=clock).take(KEY, {"text": "x"})
    clock.now += 31
    row = {
        "channel": "msteams",
        "conversation": "a:1",
        "role": "user",
        "text": "late",
        "at": clock.now,
        "activity": None,
    }
    written, goes_on = threading.Event(), threading.Event()

    def work(connection: Connection) -> None:
        connection.execute(fenced_insert(turns, row, Attempt(KEY, 1)))
        written.set()
        goes_on.wait(30)

    writing = asyncio.create_task(state.run(work))
    await asyncio.to_thread(written.wait, 30)
    taking = asyncio.create_task(other.take_over())
    await asyncio.sleep(0.3)
    assert not taking.done()
    goes_on.set()
    await writing
    assert [found.key for found in await taking] == [KEY]
    assert [turn.text for turn in (await ConversationHistory(state, days=90, clock=clock).kept(PLACE)).turns] == [
        "late"
    ]


async def test_done_and_old_activities_are_deleted(state: State) -> None:
    clock = Clock()
    inbox = Inbox(state, clock=clock)
    unfinished = ActivityKey("msteams", "a:1", "in-2")
    await inbox.take(KEY, {})
    await inbox.done(KEY)
    await inbox.take(unfinished, {})
    clock.now += 31 * DAY_S
    await inbox.trim(30 * DAY_S)
    assert not await inbox.knows(KEY)
    assert await inbox.knows(unfinished)


async def test_the_last_turns_of_a_conversation_are_recalled_in_order(state: State, another: Opener) -> None:
    clock = Clock()
    history = ConversationHistory(state, days=2, keep=4, clock=clock)
    for n in range(6):
        await history.remember(PLACE, [Turn("user", f"q{n}"), Turn("assistant", f"a{n}")])
    await history.remember({**ELSEWHERE, "id": "in-9"}, [Turn("user", "elsewhere")])
    seen = ConversationHistory(await another(), days=2, keep=4, clock=clock)
    assert [t.text for t in (await seen.kept(PLACE)).turns] == ["q4", "a4", "q5", "a5"]
    clock.now += 2 * DAY_S + 1
    await history.remember(PLACE, [Turn("user", "new")])
    assert [t.text for t in (await seen.kept(PLACE)).turns] == ["new"]
    await seen.forget(PLACE)
    assert (await history.kept(PLACE)).turns == ()
    await seen.forget_message({**ELSEWHERE, "id": "in-9"})
    assert (await history.kept(ELSEWHERE)).turns == ()


async def test_a_sent_message_leads_to_its_entry(state: State) -> None:
    history = ConversationHistory(state, days=30)
    await history.arrived(PLACE, [], "m1", "e1", None)
    await history.arrived(PLACE, [], "m1", "e2", None)
    assert await history.entry_of(PLACE, "m1") == "e2"
    assert await history.last_entry(PLACE) == "e2"
    assert await history.entry_of(PLACE, "m2") is None
    assert await history.entry_of({**PLACE, "channelId": "webchat"}, "m1") is None


async def test_with_a_message_the_way_to_its_answer_is_forgotten(state: State) -> None:
    history = ConversationHistory(state, days=30)
    for n in (1, 2):
        said = [Turn("user", f"q{n}"), Turn("assistant", f"a{n}")]
        await history.arrived({**PLACE, "id": f"in-{n}"}, said, f"out-{n}", f"e{n}", None)
    await history.arrived({**ELSEWHERE, "id": "in-2"}, [], "out-2", "e3", None)
    await history.forget_message({**PLACE, "id": "in-2"})
    kept = await history.kept(PLACE)
    assert ([t.text for t in kept.turns], kept.answered) == (["q1", "a1"], "e1")
    assert await history.entry_of(PLACE, "out-2") is None
    assert await history.entry_of(ELSEWHERE, "out-2") == "e3"


async def test_what_is_done_at_once_is_done_once_and_never_taken_over(state: State, another: Opener) -> None:
    clock = Clock()
    inboxes = [Inbox(one, clock=clock) for one in (state, await another())]
    first = await asyncio.gather(*(inboxes[n % 2].once(KEY) for n in range(6)))
    assert sorted(first) == [False] * 5 + [True]
    clock.now += LEASE_S + UNHELD_S
    assert await inboxes[1].take_over() == []
    await inboxes[0].forget(KEY)
    assert await inboxes[1].once(KEY)
    clock.now += 40 * DAY_S
    await inboxes[0].trim(30 * DAY_S)
    assert await inboxes[0].once(KEY)


async def test_what_was_let_go_of_is_not_overtaken(state: State) -> None:
    clock = Clock()
    inbox = Inbox(state, clock=clock)
    second = replace(KEY, activity="in-2")
    for key in (KEY, second):
        await inbox.take(key, {"text": "x"})
    await inbox.release({KEY: 1})
    assert not await is_next(state, inbox, second)
    clock.now += RELEASED_S + 1
    assert await is_next(state, inbox, second), "nobody goes on with it any more"


async def test_what_stands_before_a_message_is_seen_at_one_look(state: State) -> None:
    clock = Clock()
    inbox, waiting = Inbox(state, clock=clock), Undelivered(state, clock=clock)
    history = ConversationHistory(state, days=90, keep=4, clock=clock)
    second = replace(KEY, activity="in-2")

    async def look(place: Json = PLACE) -> Before:
        return await history.before(place, earlier=inbox.earlier(second), waits=waiting.waits(place))

    for key in (KEY, second):
        await inbox.take(key, {"text": "x"})
    assert await look() == Before(earlier=True, waits=False, kept=Recalled())
    for n in range(3):
        await history.remember(PLACE, [Turn("user", f"q{n}"), Turn("assistant", f"a{n}")])
    await history.arrived(PLACE, [], "m1", "e1", None)
    await inbox.done(KEY)
    await waiting.put(Waiting(PLACE, {"text": "one"}))
    last = (Turn("user", "q1"), Turn("assistant", "a1"), Turn("user", "q2"), Turn("assistant", "a2"))
    assert await look() == Before(earlier=False, waits=True, kept=Recalled(last, "e1"))
    assert await history.kept(PLACE) == Recalled(last, "e1")
    assert await look(ELSEWHERE) == Before(earlier=False, waits=False, kept=Recalled())
    clock.now += CALL_S + 1
    assert await history.kept(PLACE) == Recalled((), "e1")


async def test_what_follows_from_an_answer_is_stored_with_its_end_and_once(state: State) -> None:
    inbox, history = Inbox(state), ConversationHistory(state, days=90)
    held, said = Attempt(KEY, 1), [Turn("user", "q"), Turn("assistant", "a")]
    await inbox.take(KEY, {"text": "x"})
    for _ in range(2):  # as where the connection is lost behind the first
        await history.arrived(PLACE, said, "m1", "e1", held)
    assert await history.kept(PLACE) == Recalled(tuple(said), "e1")
    await inbox.release({KEY: 1})
    assert await inbox.take_over() == [], "it is done"


async def test_of_an_answer_that_another_attempt_gives_too_only_its_place_is_kept(state: State) -> None:
    clock = Clock()
    inbox, history = Inbox(state, clock=clock), ConversationHistory(state, days=90, clock=clock)
    await inbox.take(KEY, {"text": "x"})
    clock.now += LEASE_S + 1
    assert len(await inbox.take_over()) == 1
    await history.arrived(PLACE, [Turn("user", "of the slow one")], "m1", "e1", Attempt(KEY, 1))
    assert ((await history.kept(PLACE)).turns, await history.entry_of(PLACE, "m1")) == ((), "e1")
    clock.now += LEASE_S + 1
    assert len(await inbox.take_over()) == 1, "the slow one did not finish it"


async def test_what_waits_is_claimed_in_order_by_one_alone(state: State, another: Opener) -> None:
    clock = Clock()
    waiting, other = (Undelivered(one, clock=clock) for one in (state, await another()))
    for text in ("one", "two"):
        await waiting.put(Waiting(PLACE, {"text": text}))
    await waiting.put(Waiting(ELSEWHERE, {"text": "elsewhere"}))
    assert await waiting.claim_due() == []
    clock.now += FIRST_S
    both = await asyncio.gather(waiting.claim_due(), other.claim_due())
    found = [w for some in both for w in some]
    assert sorted(w.message["text"] for w in found) == ["elsewhere", "one"]
    for w in found:
        await other.delivered(w)
    assert [w.message["text"] for w in await waiting.claim_of(PLACE)] == ["two"]
    await waiting.forget(PLACE)
    clock.now += 3600
    assert await other.claim_due() == []


async def test_what_is_due_once_in_a_while_is_claimed_by_one(state: State, another: Opener) -> None:
    other = await another()
    claims = await asyncio.gather(*(s.claim("retention", DAY_S, 1000.0) for s in (state, other) * 6))
    assert sum(claims) == 1
    assert not await other.claim("retention", DAY_S, 1000.0 + DAY_S - 1)
    assert await other.claim("retention", DAY_S, 1000.0 + DAY_S)
    await other.unclaim("retention")
    assert await state.claim("retention", DAY_S, 1001.0 + DAY_S)


async def test_text_that_some_database_refuses_is_kept_alike(state: State) -> None:
    history = ConversationHistory(state, days=30)
    odd = {**PLACE, "conversation": {"id": "a\x00\ud800"}}
    await history.remember(odd, [Turn("user", "nul \x00, half \ud83d, whole 😀")])
    assert [t.text for t in (await history.kept(odd)).turns] == [
        "nul \N{REPLACEMENT CHARACTER}, half \N{REPLACEMENT CHARACTER}, whole 😀"
    ]
    key = ActivityKey("msteams", "a\x00", "in\ud800")
    inbox = Inbox(state, lease_s=-1)
    assert await inbox.take(key, {"text": "nul \x00 half \ud83d"})
    assert not await inbox.take(key, {})
    [found] = await inbox.take_over()
    assert found.activity["text"].startswith("nul \x00 half ")


async def test_a_conversation_is_taken_out_whole(state: State) -> None:
    history = ConversationHistory(state, days=30)
    for place in (PLACE, ELSEWHERE):
        await history.remember(place, [Turn("user", "q")])
        await history.arrived(place, [], "m1", "e1", None)
    places = await conversations.all_of(state)
    assert len(places) == 2
    mine = [place for place in places if "a:1" in place]
    assert (await conversations.count(state, mine)).turns == 1
    await conversations.erase(state, mine)
    assert (await history.kept(PLACE)).turns == ()
    assert len((await history.kept(ELSEWHERE)).turns) == 1
    assert await state.flush()
    assert len((await history.kept(ELSEWHERE)).turns) == 1


async def test_what_was_deleted_is_in_no_file_of_a_table_once_it_is_flushed(database_url: str) -> None:
    """Of a file of SQLite `tests/bot/teams/test_state.py` and the tests of erasure show it."""
    state = State(Postgres(shared(database_url)))
    history = ConversationHistory(state, days=30)
    for place, name in ((PLACE, "a:1"), (ELSEWHERE, "a:2")):
        await history.remember(place, [Turn("user", f"canary of {name}")])
    if not (held := table_files(database_url)):
        pytest.skip("the files of this server cannot be read from here")
    assert b"canary of a:1" in held
    await history.forget(PLACE)
    with Postgres(database_url).reading("turns"):
        assert not await state.flush()  # somebody reads
    assert await state.flush()
    held = table_files(database_url)
    assert b"canary of a:1" not in held
    assert b"canary of a:2" in held
    await state.close()


async def test_a_lease_goes_by_the_clock_that_all_share(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker whose own clock is ten minutes ahead takes nothing over from one that is at work."""
    states = [State(Postgres(shared(database_url))) for _ in range(2)]
    inbox, ahead = (Inbox(state, lease_s=60) for state in states)
    await inbox.take(KEY, {"text": "x"})
    late = time.time() + 600
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(time, "time", lambda: late)
        assert await ahead.take_over() == []
        await ahead.take(ActivityKey("msteams", "a:2", "in-2"), {})
    assert await inbox.take_over() == []
    await inbox.release({KEY: 1})
    [found] = await ahead.take_over()
    assert 0 <= found.age_s < 60
    for state in states:
        await state.close()


async def test_what_is_closed_or_not_there_is_a_store_error(tmp_path: Path, database_url: str) -> None:
    state = State(Postgres(database_url))
    with pytest.raises(StoreError, match="no tables for the state yet"):
        await state.open()
    await state.close()
    with pytest.raises(StoreError, match="a table or column is gone"):
        await Inbox(state).take(KEY, {})
    await state.close()
    with pytest.raises(StoreError, match="closed"):
        await Inbox(State(tmp_path / "state.db")).take(KEY, {})


async def test_of_a_conversation_the_oldest_that_is_not_done_comes_next(state: State, another: Opener) -> None:
    inboxes = [Inbox(state), Inbox(await another())]
    keys = [ActivityKey("msteams", "a:1", f"in-{9 - n}") for n in range(4)]  # no order of ids
    for n, key in enumerate(keys):
        assert await inboxes[n % 2].take(key, {})
    elsewhere = ActivityKey("msteams", "a:2", "in-1")
    assert await inboxes[0].take(elsewhere, {})
    for n, key in enumerate(keys):
        for inbox in inboxes:
            assert [await is_next(state, inbox, each) for each in keys[n:]] == [True] + [False] * (3 - n)
            assert await is_next(state, inbox, elsewhere)
        await inboxes[n % 2].done(key)


async def test_one_is_next_at_any_time_however_many_come_at_once(state: State, another: Opener) -> None:
    inboxes = [Inbox(state), Inbox(await another())]
    keys = [ActivityKey("msteams", "a:1", f"in-{n}") for n in range(20)]
    await asyncio.gather(*(inboxes[n % 2].take(key, {}) for n, key in enumerate(keys)))
    while keys:
        (key,) = [key for key in keys if await is_next(state, inboxes[0], key)]
        await inboxes[1].done(key)
        keys.remove(key)


async def test_a_clock_that_is_put_back_does_not_change_the_order(state: State) -> None:
    clock = Clock()
    inbox = Inbox(state, clock=clock)
    first, second = (ActivityKey("msteams", "a:1", name) for name in ("in-b", "in-a"))
    await inbox.take(first, {})
    clock.now -= 3.0
    await inbox.take(second, {})
    assert (await is_next(state, inbox, first), await is_next(state, inbox, second)) == (True, False)


async def test_what_nobody_takes_over_is_not_waited_for_for_ever(state: State) -> None:
    clock = Clock()
    inbox = Inbox(state, lease_s=5, clock=clock)
    first, second = (ActivityKey("msteams", "a:1", name) for name in ("in-1", "in-2"))
    await inbox.take(first, {})
    await inbox.take(second, {})
    clock.now += 5 + UNHELD_S - 0.1
    assert not await is_next(state, inbox, second)
    clock.now += 0.2
    assert await is_next(state, inbox, second)
