"""A ledger that is watched: what is done to it while it is open shows, wherever it is done, and honest work never does."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Engine, event

from rai.ledger.chain import Flaw, SealedRow, link
from rai.ledger.store import SqlLedger
from rai.ledger.watch import SLICE, LedgerWatch

ENTRIES = 12
KEY = bytes(32)
LEDGER_ID = "ab" * 16


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[SqlLedger]:
    """An open ledger that was looked at once, when all was well."""
    made = SqlLedger(tmp_path / "ledger.db", tmp_path / "ledger.key")
    for n in range(1, ENTRIES):  # the first entry says which ledger this is
        asyncio.run(made.append("feedback", {"n": n}))
    assert asyncio.run(made.look()).ok
    yield made
    asyncio.run(made.close())


def tamper(folder: Path, *statements: str) -> None:
    """What somebody with the file but without the key does."""
    connection = sqlite3.connect(folder / "ledger.db")
    guards = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in guards:
        connection.execute(f"DROP TRIGGER {name}")
    for statement in statements:
        connection.execute(statement)
    for _, sql in guards:
        connection.execute(sql)
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        (
            "UPDATE entries SET body = '{\"n\":99}' WHERE seq = 3",
            "changed: the body of entry 3 does not match its seal",
        ),
        ("UPDATE entries SET at = '2020-01-01T00:00:00.000Z' WHERE seq = 5", "changed: entry 5"),
        ("DELETE FROM entries WHERE seq = 4", "missing: entry 4"),
        (f"DELETE FROM entries WHERE seq = {ENTRIES}", f"truncated: {ENTRIES - 1} entries"),
        ("UPDATE entries SET body = NULL WHERE seq = 6", "the body of entry 6 is gone"),
        ("DELETE FROM about", "the store's note of its"),
    ],
)
async def test_a_change_to_what_was_verified_shows(
    ledger: SqlLedger, tmp_path: Path, statement: str, said: str
) -> None:
    tamper(tmp_path, statement)
    watched = await ledger.look()
    assert not watched.ok
    assert said in watched.why


async def test_a_forged_entry_shows_in_the_next_look_however_short_it_is(ledger: SqlLedger, tmp_path: Path) -> None:
    columns = "seq, entry_id, at, kind, salt, body, digest, prev, mac"
    tamper(
        tmp_path,
        f"INSERT INTO entries ({columns}) SELECT {ENTRIES + 1}, '7' || substr(entry_id, 2), at, kind, salt, body, digest, mac, mac "
        f"FROM entries WHERE seq = {ENTRIES}",
    )
    watched = await ledger.look(0.0)
    assert f"entry {ENTRIES + 1}" in watched.why


async def test_triggers_that_are_gone_show(ledger: SqlLedger, tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "ledger.db")
    connection.execute("DROP TRIGGER entries_no_update")
    connection.commit()
    connection.close()
    assert not (await ledger.look()).ok


async def test_work_of_this_and_of_another_process_is_no_break(ledger: SqlLedger, tmp_path: Path) -> None:
    other = SqlLedger(tmp_path / "ledger.db", tmp_path / "ledger.key")
    for n in range(3):
        entry = await ledger.append("feedback", {"n": n})
        await other.append("feedback", {"n": n})
        await other.erase(entry.entry_id, "asked for")
        watched = await ledger.look()
        assert (watched.why, watched.entries) == ("", ENTRIES + 3 * (n + 1))
    await other.close()


async def test_what_is_written_during_a_look_is_no_break(ledger: SqlLedger) -> None:
    async def write() -> None:
        for n in range(40):
            await ledger.append("feedback", {"n": n})

    writing = asyncio.create_task(write())
    found = set()
    while not writing.done():
        found.add((await ledger.look()).why)
    await writing
    assert found == {""}
    assert (await ledger.look()).entries == ENTRIES + 40


async def test_a_look_does_not_read_the_whole_file(ledger: SqlLedger) -> None:
    """The pages of a large store take minutes: they are for whoever asks for them."""
    asked: list[str] = []

    def listen(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        asked.append(statement)

    event.listen(Engine, "before_cursor_execute", listen)
    try:
        await ledger.look()
        assert asked
        assert not any("integrity_check" in statement for statement in asked)
        await ledger.verify()
        assert any("integrity_check" in statement for statement in asked)
    finally:
        event.remove(Engine, "before_cursor_execute", listen)


class Rows:
    """A store in memory that counts what is read of it."""

    def __init__(self, rows: list[SealedRow | Flaw]) -> None:
        self.rows = rows
        self.read = 0

    def after(self, seq: int | None, count: int) -> list[SealedRow | Flaw]:
        found = [r for r in self.rows if seq is None or (isinstance(r, SealedRow) and r.seq > seq)][:count]
        self.read += len(found)
        return found

    def apart(self) -> list[str]:
        return []

    def is_linked(self, mac: str) -> bool:
        return any(isinstance(r, SealedRow) and r.mac == mac for r in self.rows)

    def has_body(self, entry_id: str) -> bool:
        return any(isinstance(r, SealedRow) and r.entry_id == entry_id and r.body is not None for r in self.rows)


def chained(
    count: int, body: Callable[[int], tuple[str, str]] = lambda _n: ("feedback", "{}")
) -> list[SealedRow | Flaw]:
    rows: list[SealedRow | Flaw] = []
    prev = "0" * 64
    for n in range(1, count + 1):
        kind, text = body(n)
        row = link(KEY, LEDGER_ID, seq=n, entry_id=f"{n:026d}", at="now", kind=kind, body=text, prev=prev)
        rows.append(row)
        prev = row.mac
    return rows


def ticking() -> Callable[[], float]:
    """A clock that a second passes on at each look at it."""
    now = iter(range(10_000))
    return lambda: float(next(now))


def test_a_long_ledger_is_gone_through_in_slices_and_again() -> None:
    store = Rows(chained(4 * SLICE))
    watch = LedgerWatch(KEY, store, ledger_id=LEDGER_ID, clock=ticking())
    first = watch.look(2.0)
    assert (first.ok, first.entries, first.round_s) == (True, SLICE, None)
    for _ in range(4):
        first = watch.look(2.0)
    assert (first.ok, first.entries, first.round_s is not None) == (True, 4 * SLICE, True)
    assert store.read == 4 * SLICE  # once, and what is new by itself
    whole = store.read
    assert watch.look(2.0).ok
    assert store.read - whole < 4 * SLICE  # what was verified is not read again, but for the slices of the round
    rounds = {watch.look(2.0).round_s for _ in range(12)}
    assert any(seconds is not None for seconds in rounds)
    row = store.rows[10]
    assert isinstance(row, SealedRow)
    store.rows[10] = replace(row, body='{"x":1}')
    found = [watch.look(2.0) for _ in range(24)]
    assert "entry 11" in found[-1].why
    assert found[-1].broken == row.entry_id


def test_what_is_erased_on_record_while_a_round_goes_on_is_no_break() -> None:
    target = f"{2:026d}"
    rows = chained(
        3 * SLICE, lambda n: ("erase", f'{{"entry_id":"{target}"}}') if n == 3 * SLICE else ("feedback", "{}")
    )
    store = Rows(rows[:-1])
    watch = LedgerWatch(KEY, store, ledger_id=LEDGER_ID, clock=ticking())
    watch.look(2.0)  # has come by entry 2, and is not at the end
    old = rows[1]
    assert isinstance(old, SealedRow)
    store.rows = [
        rows[0],
        replace(old, salt=None, body=None),
        *rows[2:],
    ]
    found = [watch.look(2.0) for _ in range(24)]
    assert {watched.why for watched in found} == {""}
    assert found[-1].round_s is not None


def test_a_break_is_told_until_the_store_is_whole_again() -> None:
    rows = chained(5)
    store = Rows([rows[0], rows[1], Flaw("x", "changed: it cannot be read"), *rows[3:]])
    watch = LedgerWatch(KEY, store, ledger_id=LEDGER_ID)
    assert [watch.look().why for _ in range(3)] == ["changed: it cannot be read"] * 3
    store.rows = rows
    assert [watch.look().why for _ in range(2)][-1] == ""
    assert watch.look().entries == 5
