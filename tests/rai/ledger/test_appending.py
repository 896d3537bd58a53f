"""What waits in one process is stored under one lock and with one commit: whole, in order, and nobody pays for another's fault. Over both databases."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, event

from grounding.database.postgres import Postgres
from grounding.errors import StoreError
from rai.ledger.chain import SealedRow
from rai.ledger.databases.form import LedgerDatabase, RecordedTurn
from rai.ledger.databases.postgres import PostgresLedger
from rai.ledger.databases.sqlite import SqliteLedger
from rai.ledger.key import Anchor, load_key
from rai.ledger.store import SqlLedger
from rai.ledger.together import Together
from rai.records import Entry
from tests.fakes.recorded_turn import recorded_turn
from tests.postgres.faults import run
from tests.postgres.ledger import ledger_in
from tests.postgres.trips import trips


class Counted:
    """How many entries were added to those that wait, and how often somebody has begun to store some."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.added = self.begun = 0
        self._more = threading.Condition()
        add, reserve = Together.add, Anchor.reserve

        def adds(together: Together[Any], one: Any) -> None:
            with self._more:
                self.added += 1
                self._more.notify_all()
            add(together, one)

        def reserves(anchor: Anchor) -> Path:
            with self._more:
                self.begun += 1
                self._more.notify_all()
            return reserve(anchor)

        monkeypatch.setattr(Together, "add", adds)
        monkeypatch.setattr(Anchor, "reserve", reserves)

    async def until(self, *, begun: int = 0, added: int = 0) -> None:
        def wait() -> None:
            with self._more:
                assert self._more.wait_for(lambda: self.begun >= begun and self.added >= added, 30)

        await asyncio.to_thread(wait)


class Held:
    """A ledger whose writers are held up: what is appended meanwhile waits."""

    def __init__(self, ledger: SqlLedger, database: LedgerDatabase, counted: Counted) -> None:
        self.ledger = ledger
        self._database = database
        self._counted = counted

    async def together(
        self, *waiting: Callable[[], Coroutine[Any, Any, Entry]], wait: int | None = None
    ) -> list[Entry | BaseException]:
        """What becomes of entries that come while another waits for the lock. `wait`: how many of them come so far, all if it is not given."""
        held, go_on, counted = threading.Event(), threading.Event(), self._counted

        def hold() -> None:
            with self._database.writing():
                held.set()
                assert go_on.wait(30)

        holding = asyncio.create_task(asyncio.to_thread(hold))
        assert await asyncio.to_thread(held.wait, 30)
        begun, added = counted.begun, counted.added
        first = asyncio.create_task(self.ledger.append("turn", {"n": "first"}))
        await counted.until(begun=begun + 1)
        tasks = []
        for number, one in enumerate(waiting, 1):
            tasks.append(asyncio.create_task(one()))
            # each is there before the next, so that their order is known
            await counted.until(added=added + 1 + min(number, len(waiting) if wait is None else wait))
        go_on.set()
        await holding
        await first
        return await asyncio.gather(*tasks, return_exceptions=True)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    return Counted(monkeypatch)


@pytest.fixture(params=["sqlite", "postgres"])
def held(request: pytest.FixtureRequest, tmp_path: Path, counted: Counted) -> Iterator[Held]:
    database: LedgerDatabase
    if request.param == "sqlite":
        ledger = SqlLedger(tmp_path / "ledger.db", tmp_path / "keys" / "ledger.key")
        database = SqliteLedger(tmp_path / "ledger.db")
    else:
        url = request.getfixturevalue("database_url")
        ledger = ledger_in(url, tmp_path)
        database = PostgresLedger(Postgres(url))
    yield Held(ledger, database, counted)
    database.close()
    asyncio.run(ledger.close())


@contextmanager
def commits() -> Iterator[list[int]]:
    """The number of commits meanwhile, of any database."""
    counted = [0]

    def count(_connection: Connection) -> None:
        counted[0] += 1

    event.listen(Engine, "commit", count)
    try:
        yield counted
    finally:
        event.remove(Engine, "commit", count)


async def test_what_waits_is_stored_with_one_commit_in_its_order(held: Held) -> None:
    with commits() as made:
        found = await held.together(*(partial(held.ledger.append, "turn", {"n": n}) for n in range(20)))
    entries = [one for one in found if isinstance(one, Entry)]
    assert [e.seq for e in entries] == list(range(3, 23))
    assert made == [2]  # of who held them up, and of the first with the twenty that came while it waited
    assert [e.body["n"] async for e in held.ledger.entries(after=2)] == list(range(20))
    assert [e async for e in held.ledger.entries(after=2)] == entries
    whole = await held.ledger.verify()
    assert (whole.ok, whole.entries, whole.head) == (True, 22, entries[-1].mac)


async def test_turns_that_wait_together_share_what_is_stored_once(held: Held) -> None:
    found = await held.together(*(partial(held.ledger.append, "turn", recorded_turn()) for _ in range(5)))
    turns = [one for one in found if isinstance(one, Entry)]
    assert [turn.seq - turns[0].seq for turn in turns] == [0, 1, 2, 3, 4]
    assert [await held.ledger.get(turn.entry_id) for turn in turns] == turns
    later = await held.ledger.append("turn", recorded_turn())
    assert later.seq == turns[-1].seq + 1
    assert (await held.ledger.verify()).ok


@pytest.mark.parametrize("bad", [0, 3, 6])
async def test_one_that_the_database_refuses_fails_alone(held: Held, bad: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = {kind: kind.add for kind in (PostgresLedger, SqliteLedger)}

    def add(
        self: Any, connection: Connection, rows: Sequence[SealedRow], turns: Sequence[RecordedTurn], *, last: bool
    ) -> None:
        whole[type(self)](self, connection, rows, turns)
        if any(row.kind == "bad" for row in rows):
            connection.exec_driver_sql("SELECT no_such_column")

    for kind in whole:
        monkeypatch.setattr(kind, "add", add)
    kinds = ["bad" if n == bad else "turn" for n in range(7)]
    found = await held.together(*(partial(held.ledger.append, kind, {"n": n}) for n, kind in enumerate(kinds)))
    assert [type(one) for one in found] == [StoreError if n == bad else Entry for n in range(7)]
    assert [e.body["n"] async for e in held.ledger.entries(after=2)] == [n for n in range(7) if n != bad]
    assert (await held.ledger.verify()).ok


async def test_a_body_that_is_not_json_fails_before_it_waits(held: Held) -> None:
    bodies: list[dict[str, Any]] = [{"n": 1}, {"n": 2}, {"x": float("nan")}]
    with commits() as made:
        found = await held.together(*(partial(held.ledger.append, "turn", body) for body in bodies), wait=2)
    assert [type(one) for one in found] == [Entry, Entry, StoreError]
    assert made == [2]
    assert (await held.ledger.verify()).ok


async def test_who_no_longer_waits_takes_nothing_from_the_others(held: Held) -> None:
    waits: list[asyncio.Task[Entry]] = []

    async def waiting() -> Entry:
        waits.append(asyncio.create_task(held.ledger.append("turn", {"n": 0})))
        return await waits[0]

    async def gives_up() -> Entry:
        waits[0].cancel()
        return await held.ledger.append("turn", {"n": 1})

    found = await held.together(waiting, gives_up)
    assert [type(one) for one in found] == [asyncio.CancelledError, Entry]
    assert [e.body["n"] async for e in held.ledger.entries(after=2)] == [0, 1]
    assert (await held.ledger.verify()).ok


async def test_an_anchor_that_cannot_be_written_keeps_all_that_waits_from_being_stored(
    held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_anchor: Anchor) -> Path:
        raise StoreError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(Anchor, "reserve", refused)
        appended = (held.ledger.append("turn", {"n": n}) for n in range(5))
        found = await asyncio.gather(*appended, return_exceptions=True)
    assert [str(one) for one in found] == ["the disk is full"] * 5
    assert (await held.ledger.verify()).entries == 1
    assert (await held.ledger.append("turn", {})).seq == 2


async def test_many_threads_entries_make_one_whole_chain(held: Held) -> None:
    """Beside erasures: each entry once, in the order in which its writer was told."""
    told: list[list[Entry]] = [[] for _ in range(8)]

    def client(number: int) -> None:
        async def write() -> None:
            for n in range(12):
                told[number].append(await held.ledger.append("turn", {"n": n, "by": number}))
                if n == 6:
                    await held.ledger.erase(told[number][0].entry_id, "asked for")

        asyncio.run(write())

    await asyncio.gather(*(asyncio.to_thread(client, number) for number in range(8)))
    for own in told:
        assert [e.seq for e in own] == sorted(e.seq for e in own)
    kept = {e.entry_id: e async for e in held.ledger.entries(kinds=("turn",))}
    assert len(kept) == 8 * 12
    assert all(kept[e.entry_id] == e for own in told for e in own[1:])
    whole = await held.ledger.verify()
    assert (whole.ok, whole.entries) == (True, 1 + 8 * 13)


async def test_a_turn_that_is_recorded_already_does_not_keep_back_those_that_wait_with_it(
    database_url: str, tmp_path: Path, counted: Counted
) -> None:
    held = Held(ledger_in(database_url, tmp_path), PostgresLedger(Postgres(database_url)), counted)
    bodies = [{"reply": {"turn_id": turn}, "n": n} for n, turn in enumerate("abcab")]
    first = await held.ledger.append("turn", {"reply": {"turn_id": "c"}})
    found = await held.together(*(partial(held.ledger.append, "turn", body) for body in bodies))
    assert [type(one) for one in found] == [Entry] * 5
    assert [found[n] for n in (2, 3, 4)] == [first, found[0], found[1]]
    assert len([e async for e in held.ledger.entries(kinds=("turn",))]) == 4
    assert (await held.ledger.verify()).ok
    await held.ledger.close()


@pytest.mark.parametrize("stored", [True, False])
async def test_a_group_whose_commit_gave_no_answer_is_stored_once(
    database_url: str, tmp_path: Path, counted: Counted, stored: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server ends the session behind the commit, or in front of it."""
    held = Held(ledger_in(database_url, tmp_path), PostgresLedger(Postgres(database_url)), counted)
    add, ended = PostgresLedger.add, list[int]()

    def adds(self: PostgresLedger, connection: Connection, *given: Any, **more: Any) -> None:
        (pid,) = connection.exec_driver_sql("SELECT pg_backend_pid()").one()
        if stored:
            add(self, connection, *given, **more)
        if not ended:
            ended.append(pid)
            run(database_url, f"SELECT pg_terminate_backend({pid}, 5000)")
            connection.exec_driver_sql("SELECT 1")
        if not stored:
            add(self, connection, *given, **more)

    monkeypatch.setattr(PostgresLedger, "add", adds)
    found = await held.together(*(partial(held.ledger.append, "turn", {"n": n}) for n in range(6)))
    assert [type(one) for one in found] == [Entry] * 6, found
    assert len(ended) == 1
    assert [e.body["n"] async for e in held.ledger.entries(after=2)] == [0, 1, 2, 3, 4, 5]
    assert (await held.ledger.verify()).ok
    await held.ledger.close()


async def test_the_anchor_is_at_the_last_entry_whoever_of_a_machine_wrote_it(database_url: str, tmp_path: Path) -> None:
    """It is moved outside of the database's lock, by each process for itself."""
    ledgers = [ledger_in(database_url, tmp_path) for _ in range(3)]
    await asyncio.gather(*(ledgers[n % 3].append("turn", {"n": n}) for n in range(30)))
    key_file = tmp_path / "keys" / "ledger.key"
    name, schema = run(database_url, "SELECT current_database(), current_schema()")[0]
    mark = Anchor(load_key(key_file), key_file, f"postgresql/{name}/{schema}").read()
    assert mark is not None
    assert mark.count == 31
    assert not list(key_file.parent.glob("*.new"))
    for ledger in ledgers:
        await ledger.close()


async def test_a_group_takes_four_round_trips_however_many_wait(
    database_url: str, tmp_path: Path, counted: Counted
) -> None:
    held = Held(ledger_in(database_url, tmp_path), PostgresLedger(Postgres(database_url)), counted)
    with trips() as made:
        await held.together(*(partial(held.ledger.append, "turn", recorded_turn()) for _ in range(6)))
    begun = [n for n, trip in enumerate(made) if "pg_advisory_xact_lock" in trip.said][-1]
    mine = [trip.said for trip in made[begun:] if trip.part.startswith("rai/ledger/")]  # and not who held them up
    assert len(mine) == 4, mine
    await held.ledger.close()
