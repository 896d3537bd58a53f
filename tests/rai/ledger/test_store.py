"""The SQLite ledger under attack: tampering, cut tails, killed writers, many writers, a full or locked store."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Self

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, event

from grounding.errors import InputError, SettingsError, StoreError
from rai.ledger.chain import GENESIS
from rai.ledger.key import Anchor, load_key
from rai.ledger.store import SqlLedger
from rai.records import Entry, Verification
from tests.fakes.recorded_turn import recorded_turn

ENTRIES = 12
COLUMNS = ("seq", "entry_id", "at", "kind", "salt", "body", "digest", "prev", "mac")
ROOT = Path(__file__).resolve().parents[3]


def place(folder: Path) -> tuple[Path, Path]:
    return folder / "home" / "ledger.db", folder / "keys" / "ledger.key"


def opened(folder: Path, busy_s: float = 15.0, *, read_only: bool = False) -> SqlLedger:
    return SqlLedger(*place(folder), busy_s=busy_s, read_only=read_only)


def raw(folder: Path) -> sqlite3.Connection:
    """The store as somebody with the file but without the key has it."""
    connection = sqlite3.connect(place(folder)[0])
    for name in ("entries_no_update", "entries_no_delete"):
        connection.execute(f"DROP TRIGGER {name}")
    return connection


def verified(folder: Path, *, read_only: bool = False) -> Verification:
    async def run() -> Verification:
        ledger = opened(folder, read_only=read_only)
        try:
            return await ledger.verify()
        finally:
            await ledger.close()

    return asyncio.run(run())


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sound")

    async def fill() -> None:
        ledger = opened(folder)
        for n in range(1, ENTRIES):  # the first entry says which ledger this is
            await ledger.append("turn", {"ask": {"question": f"question {n}"}, "reply": {"answer": f"answer {n}"}})
        await ledger.close()

    asyncio.run(fill())
    return folder


@pytest.fixture
def store(sound: Path, tmp_path: Path) -> Path:
    return _copied(sound, tmp_path / "copy")


def _copied(sound: Path, into: Path) -> Path:
    shutil.rmtree(into, ignore_errors=True)
    shutil.copytree(sound, into)
    # the anchor is of the store's place; a copy elsewhere gets its own, as the original had it
    key = load_key(place(into)[1])
    mark = Anchor(key, place(sound)[1], place(sound)[0]).read()
    assert mark is not None
    Anchor(key, place(into)[1], place(into)[0]).write(mark)
    return into


def test_the_copy_is_sound(store: Path) -> None:
    assert verified(store).ok


@pytest.mark.parametrize(
    "sql", ["UPDATE entries SET kind = 'x'", "DELETE FROM entries", "UPDATE entries SET body = NULL"]
)
def test_the_store_refuses_changes(store: Path, sql: str) -> None:
    connection = sqlite3.connect(place(store)[0])
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        connection.execute(sql)
    connection.close()
    assert verified(store).ok


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seq=st.integers(1, ENTRIES), column=st.sampled_from(COLUMNS[1:]), at=st.integers(0, 10_000), by=st.integers(1, 90)
)
def test_any_change_of_one_character_is_found(store: Path, seq: int, column: str, at: int, by: int) -> None:
    connection = sqlite3.connect(place(store)[0])
    connection.execute("DROP TRIGGER IF EXISTS entries_no_update")
    (text,) = connection.execute(f"SELECT {column} FROM entries WHERE seq = ?", (seq,)).fetchone()
    i = at % len(text)
    changed = text[:i] + chr(33 + (ord(text[i]) - 33 + by) % 94) + text[i + 1 :]
    _set(connection, seq, column, changed)
    found = verified(store)
    assert found.ok == (changed == text)
    _set(connection, seq, column, text)
    connection.close()


def _set(connection: sqlite3.Connection, seq: int, column: str, text: str) -> None:
    connection.execute("DROP TRIGGER IF EXISTS entries_no_update")
    connection.execute(f"UPDATE entries SET {column} = ? WHERE seq = ?", (text, seq))
    connection.commit()


def test_a_changed_entry_is_named_with_the_reason(store: Path) -> None:
    connection = raw(store)
    connection.execute("UPDATE entries SET body = replace(body, 'answer 4', 'answer 9') WHERE seq = 5")
    connection.commit()
    found = verified(store)
    (entry_id,) = connection.execute("SELECT entry_id FROM entries WHERE seq = 5").fetchone()
    assert (found.ok, found.entries, found.broken) == (False, 4, entry_id)
    assert found.why.startswith("changed")
    connection.close()


@pytest.mark.parametrize("seq", [1, 2, 7, ENTRIES - 1])
@pytest.mark.parametrize("renumber", [False, True])
def test_a_deleted_entry_is_found(store: Path, seq: int, renumber: bool) -> None:
    connection = raw(store)
    connection.execute("DELETE FROM entries WHERE seq = ?", (seq,))
    if renumber:
        for later in range(seq + 1, ENTRIES + 1):
            connection.execute("UPDATE entries SET seq = ? WHERE seq = ?", (later - 1, later))
    connection.commit()
    connection.close()
    found = verified(store)
    assert not found.ok
    assert found.why.startswith("missing")


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pair=st.lists(st.integers(1, ENTRIES), min_size=2, max_size=2, unique=True))
def test_two_entries_that_changed_places_are_found(store: Path, pair: list[int]) -> None:
    _swap(store, *pair)
    found = verified(store)
    assert not found.ok
    assert found.why.startswith("reordered")
    _swap(store, *pair)
    assert verified(store).ok


def _swap(folder: Path, a: int, b: int) -> None:
    connection = sqlite3.connect(place(folder)[0])
    connection.execute("DROP TRIGGER IF EXISTS entries_no_update")
    for old, new in ((a, -1), (b, a), (-1, b)):
        connection.execute("UPDATE entries SET seq = ? WHERE seq = ?", (new, old))
    connection.commit()
    connection.close()


@pytest.mark.parametrize("left", [0, 1, ENTRIES - 1])
def test_a_cut_tail_is_found(store: Path, left: int) -> None:
    connection = raw(store)
    connection.execute("DELETE FROM entries WHERE seq > ?", (left,))
    connection.commit()
    connection.close()
    found = verified(store, read_only=True)
    assert (found.ok, found.entries) == (False, left)
    assert found.why.startswith("truncated")


async def test_a_cut_tail_stays_found_after_further_entries(store: Path) -> None:
    connection = raw(store)
    connection.execute("DELETE FROM entries WHERE seq > 6")
    connection.commit()
    connection.close()
    ledger = opened(store)
    for n in range(ENTRIES):
        await ledger.append("turn", {"n": n})
    found = await ledger.verify()
    assert not found.ok
    assert "anchor" in found.why


def test_a_store_put_in_the_place_of_another_is_found(store: Path) -> None:
    place(store)[0].unlink()
    for left in place(store)[0].parent.iterdir():
        left.unlink()
    found = verified(store)
    assert not found.ok
    assert found.why.startswith("truncated")


def test_a_missing_anchor_is_not_taken_for_soundness(store: Path) -> None:
    Anchor(load_key(place(store)[1]), place(store)[1], place(store)[0]).path.unlink()
    found = verified(store)
    assert not found.ok
    assert "anchor" in found.why


def test_an_altered_anchor_is_found(store: Path) -> None:
    anchor = Anchor(load_key(place(store)[1]), place(store)[1], place(store)[0])
    data = json.loads(anchor.path.read_text())
    anchor.path.write_text(json.dumps(data | {"count": 3}))
    found = verified(store)
    assert not found.ok
    assert found.why.startswith("changed")


@pytest.mark.parametrize("text", ["{}", "", None])
async def test_behind_an_altered_anchor_what_is_stored_is_also_acknowledged(store: Path, text: str | None) -> None:
    """Each entry that is stored belongs to an answer that leaves; the anchor stays as it is, and `verify` tells."""
    anchor = Anchor(load_key(place(store)[1]), place(store)[1], place(store)[0])
    anchor.path.unlink()
    anchor.path.mkdir() if text is None else anchor.path.write_text(text)
    ledger = opened(store)
    assert (await ledger.append("turn", {"n": 1})).seq == ENTRIES + 1
    assert len([e async for e in ledger.entries()]) == ENTRIES + 1
    assert text is None or anchor.path.read_text() == text
    assert not list(anchor.path.parent.glob("*.new"))
    found = await ledger.verify()
    assert (found.ok, len(found.breaks)) == (False, 1)
    assert "anchor" in found.why


@pytest.mark.parametrize("count", [0, 5, ENTRIES - 1])
def test_an_anchor_that_lags_behind_is_a_crash_and_not_tampering(store: Path, count: int) -> None:
    connection = sqlite3.connect(place(store)[0])
    row = connection.execute("SELECT mac FROM entries WHERE seq = ?", (count,)).fetchone()
    connection.close()
    anchor = Anchor(load_key(place(store)[1]), place(store)[1], place(store)[0])
    now = anchor.read()
    assert now is not None
    anchor.write(replace(now, count=count, head=row[0] if row else GENESIS))
    assert verified(store).ok


async def test_missing_triggers_are_a_break(store: Path) -> None:
    ledger = opened(store)
    raw(store).close()
    found = await ledger.verify()
    assert (found.ok, found.entries, found.broken) == (False, ENTRIES, None)
    assert [b.why for b in found.breaks] == [
        f"changed: the trigger entries_no_{what}, which refuses changes, is gone" for what in ("update", "delete")
    ]


async def test_who_puts_triggers_back_leaves_an_entry_of_it(store: Path) -> None:
    raw(store).close()
    ledger = opened(store)
    found = await ledger.verify()
    assert found.ok
    (said,) = found.notes
    assert said.startswith(f"entry {ENTRIES + 1}, 20")
    assert said.endswith(": gone, and put back: entries_no_update, entries_no_delete")
    (last,) = [e async for e in ledger.entries(limit=1, newest_first=True)]
    assert (last.seq, last.kind) == (ENTRIES + 1, "guard")
    assert last.body == {"schema": 2, "put_back": ["entries_no_update", "entries_no_delete"]}


async def test_an_emptied_note_of_the_key_is_put_back_for_that_key_alone(store: Path) -> None:
    connection = sqlite3.connect(place(store)[0])
    connection.execute("DELETE FROM about")
    connection.commit()
    connection.close()
    sound = place(store)[1].read_text()
    place(store)[1].write_text("ab" * 32)
    with pytest.raises(SettingsError, match="not the key"):
        opened(store)
    place(store)[1].write_text(sound)
    assert not (await opened(store, read_only=True).verify()).ok
    ledger = opened(store)
    (last,) = [e async for e in ledger.entries(limit=1, newest_first=True)]
    assert (last.kind, last.body) == ("guard", {"schema": 2, "put_back": ["about"]})
    assert (await ledger.verify()).ok


async def test_reading_leaves_every_file_as_it_is(store: Path) -> None:
    def held() -> dict[str, bytes]:
        files = (f for f in store.rglob("*") if f.is_file() and not f.name.endswith(("-wal", "-shm")))
        return {str(f): f.read_bytes() for f in files}

    raw(store).close()
    before = held()
    ledger = opened(store, read_only=True)
    assert not (await ledger.verify()).ok
    assert len([e async for e in ledger.entries()]) == ENTRIES
    assert len([line async for line in ledger.export()]) == ENTRIES + 2
    with pytest.raises(StoreError, match="read alone"):
        await ledger.append("turn", {})
    with pytest.raises(StoreError, match="read alone"):
        await ledger.erase("x", "")
    assert held() == before


async def test_reading_beside_a_writer_sees_what_was_written(store: Path) -> None:
    ledger = opened(store)
    await ledger.append("turn", {"n": 1})
    found = await opened(store, read_only=True).verify()
    assert (found.ok, found.entries) == (True, ENTRIES + 1)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root writes everywhere")
async def test_reading_where_nothing_may_be_written(store: Path) -> None:
    home = place(store)[0].parent
    home.chmod(0o500)
    found = await opened(store, read_only=True).verify()
    home.chmod(0o700)
    assert (found.ok, found.entries) == (True, ENTRIES)
    assert [p.name for p in home.iterdir()] == ["ledger.db"]


async def test_an_entry_that_is_no_json_is_a_store_error(store: Path) -> None:
    connection = raw(store)
    connection.execute("UPDATE entries SET body = '{' WHERE seq = 4")
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match="entry 4 of the ledger cannot be read"):
        [e async for e in opened(store, read_only=True).entries()]


async def test_where_nothing_was_ever_written_reading_makes_nothing(tmp_path: Path) -> None:
    ledger = opened(tmp_path / "nowhere", read_only=True)
    found = await ledger.verify()
    assert (found.ok, found.entries, found.breaks) == (True, 0, ())
    assert [e async for e in ledger.entries()] == []
    with pytest.raises(InputError, match="no ledger yet"):
        [line async for line in ledger.export()]
    assert not (tmp_path / "nowhere").exists()


async def test_a_store_of_another_key_is_not_read_out(store: Path) -> None:
    place(store)[1].write_text("ab" * 32)
    ledger = opened(store, read_only=True)
    with pytest.raises(SettingsError, match="not the key"):
        [e async for e in ledger.entries()]
    found = await ledger.verify()
    assert not found.ok
    assert "no longer belong together" in found.why


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, 10**9), flip=st.integers(1, 255))
def test_a_flipped_byte_of_the_file_never_passes_with_other_entries(
    sound: Path, tmp_path: Path, at: int, flip: int
) -> None:
    store = _copied(sound, tmp_path / "flipped")
    file = place(store)[0]
    data = bytearray(file.read_bytes())
    data[at % len(data)] ^= flip
    file.write_bytes(data)
    try:
        ok = verified(store, read_only=True).ok
        rows = _rows(store)
    except (StoreError, SettingsError, sqlite3.DatabaseError, UnicodeDecodeError):
        return
    assert not ok or rows == _rows(sound)


def _rows(folder: Path) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(place(folder)[0])
    try:
        return connection.execute("SELECT * FROM entries ORDER BY seq").fetchall()
    finally:
        connection.close()


WRITER = """
import asyncio, sys
from pathlib import Path
from rai.ledger.store import SqlLedger

async def main(folder, name, count):
    ledger = SqlLedger(folder / "home" / "ledger.db", folder / "keys" / "ledger.key")
    for n in range(count):
        entry = await ledger.append("turn", {"writer": name, "n": n})
        print(entry.entry_id, flush=True)

asyncio.run(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
"""


def _writer(folder: Path, name: str, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder), name, str(count)], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )


def test_several_processes_append_to_one_chain(tmp_path: Path) -> None:
    writers = [_writer(tmp_path, name, 15) for name in "abc"]
    said = [set(w.communicate(timeout=300)[0].split()) for w in writers]
    assert [w.returncode for w in writers] == [0, 0, 0]
    found = verified(tmp_path)
    assert (found.ok, found.entries) == (True, 46)
    assert len(set.union(*said)) == 45


def test_what_was_acknowledged_survives_a_killed_writer(tmp_path: Path) -> None:
    for round_ in range(3):
        writer = _writer(tmp_path, str(round_), 10_000)
        assert writer.stdout is not None
        said = [writer.stdout.readline().strip() for _ in range(3 + round_)]
        writer.kill()
        said += writer.stdout.read().split()
        writer.wait()
        found = verified(tmp_path)
        assert found.ok, found.why
        kept = {str(row[1]) for row in _rows(tmp_path)}
        assert {s for s in said if len(s) == 26} <= kept


async def test_concurrent_appends_in_one_process_keep_one_chain(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    made = await asyncio.gather(*(ledger.append("turn", {"n": n}) for n in range(40)))
    assert sorted(e.seq for e in made) == list(range(2, 42))
    assert (await ledger.verify()).ok


async def test_a_locked_store_is_a_store_error(store: Path) -> None:
    ledger = opened(store, busy_s=0.2)
    other = sqlite3.connect(place(store)[0], isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="locked"):
        await ledger.append("turn", {})
    other.execute("ROLLBACK")
    other.close()
    await ledger.append("turn", {})
    assert (await ledger.verify()).ok


@pytest.fixture
def full() -> Iterator[None]:
    """The disk has no page left, as far as SQLite can tell."""

    def fill(connection: sqlite3.Connection, _record: object) -> None:
        connection.execute("PRAGMA max_page_count=1")

    event.listen(Engine, "connect", fill)
    yield
    event.remove(Engine, "connect", fill)


@pytest.mark.usefixtures("full")
async def test_a_full_store_is_a_store_error_and_nothing_is_half_written(store: Path) -> None:
    ledger = opened(store)
    with pytest.raises(StoreError, match="full"):
        await ledger.append("turn", {"big": "x" * 200_000})
    await ledger.close()
    found = await asyncio.to_thread(verified, store)
    assert (found.ok, found.entries) == (True, ENTRIES)


def test_a_file_that_is_no_store_is_a_store_error(tmp_path: Path) -> None:
    place(tmp_path)[0].parent.mkdir(parents=True)
    place(tmp_path)[0].write_text("not a database, but long enough to be looked at as one" * 40)
    with pytest.raises(StoreError, match="damaged"):
        opened(tmp_path)


def test_the_store_is_readable_by_its_owner_only(store: Path, tmp_path: Path) -> None:
    opened(tmp_path / "fresh")
    if os.name == "posix":
        assert place(tmp_path / "fresh")[0].stat().st_mode & 0o077 == 0


def test_another_key_is_refused(store: Path) -> None:
    key = place(store)[1]
    key.unlink()
    with pytest.raises(SettingsError, match="missing"):
        opened(store)
    load_key(key)
    with pytest.raises(SettingsError, match="not the key"):
        opened(store)


async def test_erasing_empties_one_body_on_record_and_the_chain_holds(store: Path) -> None:
    ledger = opened(store)
    target = [e async for e in ledger.entries(limit=3)][2]
    entry = await ledger.erase(target.entry_id, "asked for by the customer")
    assert (await ledger.verify()).ok
    gone = await ledger.get(target.entry_id)
    assert gone is not None
    assert gone.body == {"erased": True}
    assert entry.body == {"schema": 2, "entry_ids": [target.entry_id], "reason": "asked for by the customer"}
    await ledger.close()
    assert b"answer 2" not in b"".join(f.read_bytes() for f in place(store)[0].parent.iterdir())
    with pytest.raises(InputError):
        await opened(store).erase("nothing", "")


@dataclass(frozen=True, slots=True)
class NoneBehind:
    """Forbids whatever is to be erased once an entry of these kinds stands behind `after`."""

    after: int
    kinds: Sequence[str] = ("hold",)

    def refuse(self, later: Sequence[Entry], entry_ids: Collection[str]) -> None:
        if later:
            raise InputError(f"{[entry.kind for entry in later]} of {len(entry_ids)}")


async def test_what_is_forbidden_by_an_entry_that_came_until_then_is_not_erased(store: Path) -> None:
    ledger = opened(store)
    entries = [entry async for entry in ledger.entries()]
    names, veto = [entry.entry_id for entry in entries[2:4]], NoneBehind(entries[-1].seq)
    await ledger.append("stop", {"schema": 2})
    await ledger.erase(names[0], "asked for", veto=veto)
    await ledger.append("hold", {"schema": 2})
    with pytest.raises(InputError, match=r"^\['hold'\] of 1$"):
        await ledger.erase(names[1], "asked for", veto=veto)
    assert [(await ledger.get(name) or entries[0]).body == {"erased": True} for name in names] == [True, False]
    assert (await ledger.verify()).ok
    await ledger.close()


async def test_who_opens_a_ledger_folds_out_what_was_erased_and_left_by_a_killed_process(store: Path) -> None:
    home = place(store)[0].parent
    ledger = opened(store, busy_s=0.1)
    reader = sqlite3.connect(place(store)[0], isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM entries").fetchone()
    target = [e async for e in ledger.entries(limit=3)][2]
    with pytest.raises(StoreError, match="write-ahead log"):
        await ledger.erase(target.entry_id, "asked for")
    shutil.copytree(home, store / "killed")  # what a process that ends here leaves
    reader.close()
    await ledger.close()
    shutil.rmtree(home)
    shutil.move(store / "killed", home)
    assert b"answer 2" in b"".join(f.read_bytes() for f in home.iterdir())
    again = opened(store)
    assert b"answer 2" not in b"".join(f.read_bytes() for f in home.iterdir())
    assert (await again.verify()).ok
    await again.close()


async def test_who_reads_does_not_keep_others_from_opening(store: Path) -> None:
    reader = sqlite3.connect(place(store)[0], isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM entries").fetchone()
    ledger = opened(store)
    await ledger.append("turn", {"n": 1})
    await opened(store).append("turn", {"n": 2})
    reader.close()
    assert (await ledger.verify()).ok


def test_a_body_emptied_without_a_record_is_found(store: Path) -> None:
    connection = raw(store)
    connection.execute("UPDATE entries SET body = NULL WHERE seq = 4")
    connection.commit()
    connection.close()
    found = verified(store)
    assert not found.ok
    assert "erasure" in found.why


def test_ids_ascend_even_when_entries_come_within_one_millisecond(store: Path) -> None:
    ids: Iterable[str] = [str(row[1]) for row in _rows(store)]
    assert list(ids) == sorted(ids)


def clock_at(told: str) -> type[datetime]:
    class Clock(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Self:
            return cls.fromisoformat(told).replace(tzinfo=tz)

    return Clock


async def test_a_clock_set_back_and_far_forward_leaves_ids_in_order_and_tells_its_own_time(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = ["2040-01-01T00:00:00", "1999-12-31T23:59:59", "1999-12-31T23:59:58", "2026-11-25T12:00:00"]
    ledger = opened(store)
    for told in times:
        monkeypatch.setattr("rai.ledger.appending.datetime", clock_at(told))
        await asyncio.gather(*(ledger.append("turn", {"n": n}) for n in range(3)))
    entries = [e async for e in ledger.entries()]
    ids = [e.entry_id for e in entries]
    assert ids == sorted(set(ids))
    assert [e.at for e in entries[ENTRIES:]] == [f"{told}.000Z" for told in times for _ in range(3)]
    assert (await ledger.verify()).ok
    assert (await ledger.look()).ok
    assert int((await ledger.checkpoint()).splitlines()[1]) == ENTRIES + 12
    await ledger.close()
    again = await asyncio.to_thread(opened, store)
    assert (await again.append("turn", {})).entry_id > ids[-1]
    await again.close()


@pytest.mark.asyncio
async def test_what_is_said_once_is_stored_once_and_read_as_it_was(tmp_path: Path) -> None:
    """The second turn over the same passages adds one entry; readers see no reference and no content."""
    ledger = opened(tmp_path)
    first = await ledger.append("turn", recorded_turn())
    second = await ledger.append("turn", recorded_turn())
    genesis, *found = [entry async for entry in ledger.entries()]
    assert genesis.kind == "genesis"
    assert [entry.entry_id for entry in found] == [first.entry_id, second.entry_id]
    assert second.seq == first.seq + 1 > 2
    assert found[0].body == found[1].body == first.body
    assert await ledger.get(second.entry_id) == second
    assert [entry.seq async for entry in ledger.entries(newest_first=True, limit=1)] == [second.seq]
    await ledger.close()
    again = opened(tmp_path)  # another process finds them too
    assert (await again.append("turn", recorded_turn())).seq == second.seq + 1
    kinds = [json.loads(line).get("kind") async for line in again.export()]
    assert kinds.count("turn") == 3
    assert (await again.verify()).ok
    await again.close()


@pytest.mark.asyncio
async def test_a_content_that_was_erased_is_told_and_stored_anew(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    turn = await ledger.append("turn", recorded_turn())
    lines = [json.loads(line) async for line in ledger.export()]
    contents = [line for line in lines if line.get("kind") == "content" and isinstance(line["body"]["value"], dict)]
    passage = next(line for line in contents if "text" in line["body"]["value"])
    await ledger.erase(passage["entry_id"], "asked for")
    left = await ledger.get(turn.entry_id)
    assert left is not None
    assert f"entry {passage['seq']} " in left.body["unreadable"]
    assert left.body["ask"] == {k: v for k, v in turn.body["ask"].items() if v}
    later = await ledger.append("turn", recorded_turn())
    whole = await ledger.get(later.entry_id)
    assert whole is not None
    assert whole.body == turn.body
    assert (await ledger.verify()).ok
    await ledger.close()


@pytest.mark.asyncio
async def test_contents_of_an_entry_that_was_not_written_are_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They stand in the same transaction, and what is known of them goes with it."""
    ledger = opened(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(Anchor, "reserve", lambda *_: (_ for _ in ()).throw(OSError("full")))
        with pytest.raises(StoreError):
            await ledger.append("turn", recorded_turn())
    assert (await ledger.verify()).entries == 1
    turn = await ledger.append("turn", recorded_turn())
    assert await ledger.get(turn.entry_id) == turn
    assert (await ledger.verify()).ok
    await ledger.close()


@pytest.mark.parametrize("replaced", [False, True])
async def test_a_store_that_is_removed_or_replaced_while_it_is_open_takes_nothing_more(
    store: Path, tmp_path: Path, replaced: bool
) -> None:
    """A connection goes on with the file that nobody finds again: what is acknowledged there would be lost."""
    ledger = opened(store)
    await ledger.append("turn", {"n": 1})
    assert (await ledger.look()).ok
    path = place(store)[0]
    kept = path.rename(tmp_path / "aside.db")
    if replaced:
        shutil.copy(kept, path)
    for work in (ledger.append("turn", {"n": 2}), ledger.probe()):
        with pytest.raises(StoreError, match="removed or replaced"):
            await work
    assert "removed or replaced" in (await ledger.look()).why
    with pytest.raises(StoreError, match="removed or replaced"):
        await ledger.checkpoint()
    path.unlink(missing_ok=True)
    kept.rename(path)
    await ledger.append("turn", {"n": 3})
    assert (await ledger.verify()).ok
    await ledger.close()


async def test_another_ledger_in_its_place_is_not_anchored(tmp_path: Path) -> None:
    first = opened(tmp_path)
    await first.append("turn", {"n": 1})
    await first.close()
    for path in place(tmp_path)[0].parent.iterdir():
        path.unlink()
    other = await asyncio.to_thread(opened, tmp_path)
    with pytest.raises(InputError, match=f"the anchor here is that of ledger {first.ledger_id}"):
        await other.reanchor("moved")
    await other.close()
