"""What every ledger must do, whatever it is stored in."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from grounding.database.postgres import Postgres
from grounding.errors import StoreError
from grounding.records import Progress
from rai.ledger import chain, sql
from rai.ledger.chain import link, new_entry_id
from rai.ledger.databases.form import LedgerDatabase
from rai.ledger.databases.postgres import PostgresLedger
from rai.ledger.databases.sqlite import SqliteLedger
from rai.ledger.key import load_key
from rai.ledger.store import SqlLedger
from rai.ports import Ledger
from rai.records import Entry
from tests.postgres.ledger import ledger_in
from tests.postgres.server import own_schema


def on_file(folder: Path) -> SqlLedger:
    return SqlLedger(folder / "home" / "ledger.db", folder / "keys" / "ledger.key")


@pytest.fixture(params=["sqlite", "postgres"])
async def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Ledger]:
    if request.param == "sqlite":
        made = on_file(tmp_path)
    else:
        made = ledger_in(request.getfixturevalue("database_url"), tmp_path)
    yield made
    await made.close()


async def test_an_appended_entry_can_be_had_again(ledger: Ledger) -> None:
    begun = len([e async for e in ledger.entries()])  # a ledger may begin with an entry that says which one it is
    entry = await ledger.append("turn", {"reply": {"answer": "Open until 18:00."}})
    assert entry.seq == begun + 1
    assert await ledger.get(entry.entry_id) == entry
    assert entry.body == {"reply": {"answer": "Open until 18:00."}}


def number_of(entry: Entry) -> tuple[int, object]:
    return entry.seq, entry.body.get("n")


@pytest.mark.parametrize("at_once", [1, 3])
async def test_each_gives_what_a_function_makes_of_the_entries(
    ledger: Ledger, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sql, "BATCH", 4)
    for n in range(14):
        await ledger.append("turn", {"n": n})
    every = [number_of(e) async for e in ledger.entries()]
    assert await ledger.each(number_of, limit=100, at_once=at_once) == every
    third = every[2][0]
    assert await ledger.each(number_of, after=third, limit=9, at_once=at_once) == every[3:12]
    assert await ledger.each(number_of, after=every[-1][0], limit=9, at_once=at_once) == []
    assert await ledger.each(number_of, limit=0) == []


async def test_each_has_its_parts_made_by_who_is_given(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql, "BATCH", 4)
    for n in range(20):
        await ledger.append("turn", {"n": n})
    at_work, most = 0, 0

    async def run(function: Callable[..., Any], /, *asked: Any, **named: Any) -> Any:
        nonlocal at_work, most
        at_work += 1
        most = max(most, at_work)
        await asyncio.sleep(0.02)
        at_work -= 1
        return function(*asked, **named)

    await ledger.each(number_of, limit=100, run=run, at_once=2)
    assert most == 2


async def test_each_raises_what_making_raises(ledger: Ledger) -> None:
    async def fails(*_asked: Any, **_named: Any) -> Any:
        raise StoreError("no")

    await ledger.append("turn", {"n": 1})
    with pytest.raises(StoreError, match="no"):
        await ledger.each(number_of, limit=100, run=fails)


async def test_an_unknown_id_is_none(ledger: Ledger) -> None:
    assert await ledger.get("01ARZ3NDEKTSV4RRFFQ69G5FAV") is None


async def test_entries_are_chained_and_ids_ascend(ledger: Ledger) -> None:
    made = [await ledger.append("turn", {"n": n}) for n in range(5)]
    assert [e.seq - made[0].seq for e in made] == [0, 1, 2, 3, 4]
    assert [e.prev for e in made[1:]] == [e.mac for e in made[:-1]]
    assert [e.entry_id for e in made] == sorted(e.entry_id for e in made)
    assert {len(e.entry_id) for e in made} == {26}


@pytest.mark.parametrize(
    ("after", "limit", "newest_first", "expected"),
    [
        (0, None, False, list(range(1, 231))),
        (0, None, True, list(range(230, 0, -1))),
        (220, None, False, list(range(221, 231))),
        (220, 3, False, [221, 222, 223]),
        (220, 3, True, [230, 229, 228]),
        (0, 210, True, list(range(230, 20, -1))),
        (230, None, False, []),
        (0, 0, False, []),
    ],
)
async def test_entries_by_page(
    filled: Ledger, after: int, limit: int | None, newest_first: bool, expected: list[int]
) -> None:
    found = [e.seq async for e in filled.entries(after=after, limit=limit, newest_first=newest_first)]
    assert found == expected


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    """230 entries, written at once: no test changes them."""
    folder = tmp_path_factory.mktemp("filled")
    if request.param == "sqlite":
        made = on_file(folder)
        fill(SqliteLedger(folder / "home" / "ledger.db"), folder, 230)
        yield made
        asyncio.run(made.close())
        return
    with own_schema(request.getfixturevalue("postgres")) as url:
        made = ledger_in(url, folder)
        fill(PostgresLedger(Postgres(url)), folder, 230)
        yield made
        asyncio.run(made.close())


def fill(database: LedgerDatabase, folder: Path, upto: int) -> None:
    key = load_key(folder / "keys" / "ledger.key")
    with database.writing() as connection:
        last = sql.Reader().last(connection)
        ledger_id = sql.about(connection)["ledger_id"]
        assert last is not None
        for seq in range(last.seq + 1, upto + 1):
            at, name = "2026-11-27T09:00:00.000Z", new_entry_id(seq, last.entry_id)
            last = link(key, ledger_id, seq=seq, entry_id=name, at=at, kind="turn", body="{}", prev=last.mac)
            sql.insert_row(connection, last)
    database.close()


async def test_entries_of_some_kinds_alone(ledger: Ledger) -> None:
    for n in range(3):
        for kind in ("turn", "delivery", "feedback"):
            await ledger.append(kind, {"n": n})
    wanted = ("delivery", "feedback")
    found = [(e.kind, e.body["n"]) async for e in ledger.entries(kinds=wanted, newest_first=True, limit=3)]
    assert found == [("feedback", 2), ("delivery", 2), ("feedback", 1)]
    assert [e.kind async for e in ledger.entries(kinds=("turn",))] == ["turn"] * 3
    assert [e async for e in ledger.entries(kinds=())] == []


async def test_a_sound_ledger_verifies(ledger: Ledger) -> None:
    empty = await ledger.verify()
    assert empty.ok
    last = await ledger.append("turn", {"a": 1})
    found = await ledger.verify()
    assert (found.ok, found.entries, found.head, found.broken) == (True, empty.entries + 1, last.mac, None)


async def test_a_verification_tells_how_far_it_is(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain, "TOLD_EVERY", 4)
    for n in range(9):
        await ledger.append("turn", {"n": n})
    told: list[Progress] = []
    count = (await ledger.verify(told.append)).entries
    assert told == [*(Progress("chain", n, count) for n in range(0, count, 4)), Progress("chain", count, count)]


async def test_personal_data_of_the_user_is_not_kept(ledger: Ledger) -> None:
    entry = await ledger.append("turn", {"ask": {"question": "I am at anna@example.com, where is my parcel?"}})
    assert "anna@example.com" not in str(entry.body)
    kept = await ledger.get(entry.entry_id)
    assert kept is not None
    assert "anna@example.com" not in str(kept.body)


@pytest.mark.parametrize("body", [{"x": float("nan")}, {"x": {1, 2}}, {"x": b"raw"}])
async def test_a_body_that_is_not_json_is_refused_and_leaves_no_trace(ledger: Ledger, body: dict[str, object]) -> None:
    before = (await ledger.verify()).entries
    with pytest.raises(StoreError):
        await ledger.append("turn", body)
    assert (await ledger.verify()).entries == before


async def test_any_text_that_python_can_hold_is_kept(ledger: Ledger) -> None:
    body = {"reply": {"answer": "lone \ud800 surrogate, nul \x00, 😀, \u202e"}}
    entry = await ledger.append("turn", body)
    kept = await ledger.get(entry.entry_id)
    assert kept is not None
    assert kept.body == body
    assert (await ledger.verify()).ok


async def test_appends_of_many_at_once_stand_in_one_chain(ledger: Ledger) -> None:
    made = await asyncio.gather(*(ledger.append("turn", {"n": n}) for n in range(20)))
    kept = [e async for e in ledger.entries(kinds=("turn",))]
    assert sorted(e.entry_id for e in made) == [e.entry_id for e in kept]
    assert [e.seq for e in kept] == list(range(kept[0].seq, kept[0].seq + 20))
    assert (await ledger.verify()).ok
