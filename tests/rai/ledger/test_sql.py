"""A ledger that an older program wrote: it is read and verified as what it is, and goes on as one of form 2.

`form1/` holds what the program before salts and ids left: the store as SQL, its anchor, its export. The key is 32 bytes from 0 on.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from grounding.errors import StoreError
from rai.ledger.export import verify_export
from rai.ledger.key import Anchor
from rai.ledger.store import SqlLedger

OLDER = Path(__file__).with_name("form1")
KEY = bytes(range(32))
ENTRIES, ERASED = 7, 3


@pytest.fixture
def place(tmp_path: Path) -> tuple[Path, Path]:
    """An older store with its key and anchor."""
    store, key_file = tmp_path / "home" / "ledger.db", tmp_path / "keys" / "ledger.key"
    store.parent.mkdir()
    key_file.parent.mkdir()
    key_file.write_text(KEY.hex())
    key_file.chmod(0o600)
    shutil.copy(OLDER / "anchor.json", Anchor(KEY, key_file, store).path)
    with closing(sqlite3.connect(store)) as connection:
        connection.executescript((OLDER / "ledger.sql").read_text("utf-8"))
    return store, key_file


async def test_it_is_read_as_what_it_is_and_nothing_is_written(place: tuple[Path, Path]) -> None:
    before = place[0].read_bytes()
    ledger = SqlLedger(*place, read_only=True)
    found = await ledger.verify()
    assert (found.ok, found.entries, found.ledger_id, ledger.ledger_id) == (True, ENTRIES, None, None)
    kept = [entry async for entry in ledger.entries()]
    assert kept[0].body["reply"]["answer"] == "Um 1 Uhr"
    assert kept[ERASED - 1].body == {"erased": True}
    assert [line async for line in ledger.export()] == (OLDER / "export.jsonl").read_text("utf-8").splitlines()
    with pytest.raises(StoreError, match="no id yet"):
        await ledger.checkpoint()
    await ledger.close()
    assert place[0].read_bytes() == before


def test_an_older_export_verifies_and_shows_changes() -> None:
    lines = (OLDER / "export.jsonl").read_text("utf-8").splitlines()
    found = verify_export(lines, KEY)
    assert (found.ok, found.entries, found.ledger_id) == (True, ENTRIES, None)
    changed = [line.replace("Um 4 Uhr", "Um 5 Uhr") for line in lines]
    assert verify_export(changed, KEY).why == "changed: the body of entry 4 does not match its seal"
    salted = [lines[0], json.dumps(json.loads(lines[1]) | {"salt": "ab" * 32}), *lines[2:]]
    assert verify_export(salted, KEY).why == "changed: line 2: a field that is not sealed: 'salt'"
    assert "another ledger" in verify_export(lines, KEY, "ab" * 16).why


async def test_opened_to_write_it_gets_an_id_and_goes_on(place: tuple[Path, Path]) -> None:
    ledger = SqlLedger(*place)
    entry = await ledger.append("turn", {"reply": {"answer": "Um 8 Uhr"}})
    (upgrade,) = [e async for e in ledger.entries(after=ENTRIES, limit=1)]
    assert (upgrade.kind, upgrade.seq, entry.seq) == ("upgrade", ENTRIES + 1, ENTRIES + 2)
    assert upgrade.body["ledger_id"] == ledger.ledger_id
    found = await ledger.verify()
    assert (found.ok, found.entries, found.ledger_id) == (True, ENTRIES + 2, ledger.ledger_id)
    assert (await ledger.look()).ok
    size = (await ledger.checkpoint()).splitlines()[1]
    assert int(size) == ENTRIES + 2
    await ledger.close()

    again = SqlLedger(*place)
    assert again.ledger_id == ledger.ledger_id
    assert len([e async for e in again.entries()]) == ENTRIES + 2
    # what the older program wrote can be erased too
    (first,) = [e async for e in again.entries(limit=1)]
    await again.erase(first.entry_id, "asked for")
    assert (await again.verify()).ok
    lines = [line async for line in again.export()]
    assert verify_export(lines, KEY, again.ledger_id).ok
    await again.close()
    assert (await SqlLedger(*place, read_only=True).verify()).ok


@pytest.mark.parametrize("seq", range(1, ENTRIES + 3))
async def test_behind_the_upgrade_every_change_is_found_at_its_place(place: tuple[Path, Path], seq: int) -> None:
    ledger = SqlLedger(*place)
    await ledger.append("turn", {"n": 9})
    await ledger.close()
    with closing(sqlite3.connect(place[0])) as connection, connection:
        (trigger,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'entries_no_update'").fetchone()
        connection.execute("DROP TRIGGER entries_no_update")
        connection.execute("UPDATE entries SET at = '2020-01-01T00:00:00.000Z' WHERE seq = ?", (seq,))
        connection.execute(trigger)
    found = await SqlLedger(*place, read_only=True).verify()
    assert found.why == f"changed: entry {seq} does not match its seal"
    assert seq in {b.at for b in found.breaks}


async def test_a_crash_behind_the_upgrade_leaves_an_anchor_that_is_brought_up(place: tuple[Path, Path]) -> None:
    anchor = Anchor(KEY, place[1], place[0])
    before = anchor.read()
    assert before is not None
    ledger = SqlLedger(*place)
    anchor.write(before)  # as if the program had ended before it moved the anchor
    assert (await ledger.verify()).ok
    await ledger.close()
    again = SqlLedger(*place)
    after = anchor.read()
    assert after is not None
    assert (after.count, after.ledger_id) == (ENTRIES + 1, again.ledger_id)
    # further on, an anchor that names no ledger is none of this one's
    for n in range(3):
        await again.append("turn", {"n": n})
    anchor.write(before)
    found = await again.verify()
    assert (found.ok, found.why) == (False, "changed: the anchor is that of another ledger")


async def test_an_upgrade_that_cannot_be_written_leaves_the_older_ledger(
    place: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as m:
        m.setattr("rai.ledger.sql.insert_rows", full)
        with pytest.raises(StoreError):
            SqlLedger(*place)
    found = await SqlLedger(*place, read_only=True).verify()
    assert (found.ok, found.entries, found.ledger_id) == (True, ENTRIES, None)
