"""What every ledger must do, whatever it is stored in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from grounding.errors import StoreError
from rai.ledger.store import SqlLedger
from rai.ports import Ledger

MAKERS: dict[str, Callable[[Path], Ledger]] = {
    "sqlite": lambda folder: SqlLedger(folder / "home" / "ledger.db", folder / "keys" / "ledger.key"),
}


@pytest.fixture(params=sorted(MAKERS))
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Ledger:
    return MAKERS[request.param](tmp_path)


async def test_an_appended_entry_can_be_had_again(ledger: Ledger) -> None:
    begun = len([e async for e in ledger.entries()])  # a ledger may begin with an entry that says which one it is
    entry = await ledger.append("turn", {"reply": {"answer": "Open until 18:00."}})
    assert entry.seq == begun + 1
    assert await ledger.get(entry.entry_id) == entry
    assert entry.body == {"reply": {"answer": "Open until 18:00."}}


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
    tmp_path_factory: pytest.TempPathFactory, after: int, limit: int | None, newest_first: bool, expected: list[int]
) -> None:
    ledger = await _filled(tmp_path_factory)
    found = [e.seq async for e in ledger.entries(after=after, limit=limit, newest_first=newest_first)]
    assert found == expected


_kept: dict[str, Ledger] = {}


async def _filled(factory: pytest.TempPathFactory) -> Ledger:
    # built once: 230 durable appends take seconds, and no test changes it
    if "ledger" not in _kept:
        _kept["ledger"] = MAKERS["sqlite"](factory.mktemp("filled"))
        begun = len([e async for e in _kept["ledger"].entries()])
        for n in range(begun, 230):
            await _kept["ledger"].append("turn", {"n": n})
    return _kept["ledger"]


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
