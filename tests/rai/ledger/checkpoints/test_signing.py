"""Checkpoints and proofs of a real ledger, opened with a public key alone; nothing that does not hold is signed."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from grounding.errors import InputError, SettingsError, StoreError
from rai.ledger.attest_verify import audit
from rai.ledger.chain import leaf_data
from rai.ledger.checkpoints.checkpoint import Checkpoint, VerifierKey, open_checkpoint, origin_of
from rai.ledger.checkpoints.tree import leaf_hash, verify_consistency, verify_inclusion
from rai.ledger.store import SqlLedger

TURNS = 20


@pytest.fixture
async def ledger(tmp_path: Path) -> SqlLedger:
    made = SqlLedger(tmp_path / "ledger.db", tmp_path / "keys" / "ledger.key")
    for n in range(TURNS):
        await made.append("turn", {"ask": {"question": f"Wann öffnet Schalter {n}?"}})
    return made


async def public_key(ledger: SqlLedger) -> VerifierKey:
    (first,) = [entry async for entry in ledger.entries(limit=1)]
    return VerifierKey.from_line(first.body["verifier_key"])


async def test_a_checkpoint_is_signed_by_the_key_that_the_first_entry_names(ledger: SqlLedger) -> None:
    found = open_checkpoint((await ledger.checkpoint()).encode(), [await public_key(ledger)])
    assert (found.origin, found.size) == (f"attest-ledger/{ledger.ledger_id}", TURNS + 1)


async def test_an_auditor_needs_export_checkpoints_and_key_alone(ledger: SqlLedger, tmp_path: Path) -> None:
    notes = [await ledger.checkpoint()]
    entries = [entry async for entry in ledger.entries()]
    await ledger.erase([entry.entry_id for entry in entries[3:6]], "asked for")
    notes.append(await ledger.checkpoint())
    export, points = tmp_path / "export.jsonl", tmp_path / "points.txt"
    export.write_text("".join(f"{line}\n" for line in [line async for line in ledger.export()]))
    points.write_text("".join(notes))
    key = (await public_key(ledger)).line()
    report = audit(export, [points], [key], entries[7].entry_id)
    assert (report.breaks, report.entries, report.covered, report.erased) == (0, TURNS + 2, TURNS + 2, 3)
    assert report.entry is not None
    assert report.entry["proof"]["verified"]
    export.write_text(export.read_text().replace("Schalter 8", "Schalter 9"))
    assert audit(export, [points], [key]).breaks == 1


@pytest.mark.parametrize("size", [None, TURNS, 8])
async def test_an_entry_is_proven_in_every_tree_that_holds_it(ledger: SqlLedger, size: int | None) -> None:
    for entry in [entry async for entry in ledger.entries(limit=8)]:
        proof = await ledger.proof(entry.entry_id, size)
        assert proof.size == (size or TURNS + 1)
        leaf = leaf_hash(leaf_data(proof.ledger_id, proof.row))
        assert (proof.row.entry_id, proof.index) == (entry.entry_id, entry.seq - 1)
        assert verify_inclusion(leaf, proof.index, proof.size, proof.hashes, proof.root)
        assert not verify_inclusion(leaf, proof.index + 1, proof.size, proof.hashes, proof.root)


async def test_what_is_not_there_is_not_proven(ledger: SqlLedger) -> None:
    last = [entry async for entry in ledger.entries()][-1]
    for entry_id, size in (("nobody", None), (last.entry_id, 5), (last.entry_id, 1000)):
        with pytest.raises(InputError):
            await ledger.proof(entry_id, size)


async def test_a_checkpoint_is_a_beginning_of_the_next(ledger: SqlLedger) -> None:
    key = await public_key(ledger)
    first = open_checkpoint((await ledger.checkpoint()).encode(), [key])
    await ledger.append("turn", {"n": 1})
    second = open_checkpoint((await ledger.checkpoint()).encode(), [key])
    assert (second.size, second.root != first.root) == (first.size + 1, True)
    last = await ledger.proof([entry async for entry in ledger.entries()][-1].entry_id)
    # the new leaf is alone in its subtree or closes one; either way the proof of it leads to the new root
    leaf = leaf_hash(leaf_data(last.ledger_id, last.row))
    assert verify_inclusion(leaf, last.index, second.size, last.hashes, second.root)
    assert not verify_consistency(first.size, second.size, second.root, second.root, [])


async def test_a_ledger_goes_on_from_what_is_published_or_signs_nothing(ledger: SqlLedger, tmp_path: Path) -> None:
    """One that was restored and written on has as many entries again, but others."""
    key = await public_key(ledger)
    before = open_checkpoint((await ledger.checkpoint()).encode(), [key])
    await ledger.append("turn", {"n": 1})
    another = replace(before, root=bytes(32))
    with pytest.raises(
        StoreError, match=f"the checkpoint of {before.size} entries that is published is over other entries"
    ):
        await SqlLedger(tmp_path / "ledger.db", tmp_path / "keys" / "ledger.key").checkpoint(another)
    with pytest.raises(StoreError, match="over other entries"):
        await SqlLedger(tmp_path / "ledger.db", tmp_path / "keys" / "ledger.key").compare(another)
    with pytest.raises(StoreError, match="over other entries"):
        await ledger.checkpoint(another)
    await ledger.compare(before)
    assert open_checkpoint((await ledger.checkpoint(before)).encode(), [key]).size == before.size + 1
    fresh = SqlLedger(tmp_path / "ledger.db", tmp_path / "keys" / "ledger.key")
    assert open_checkpoint((await fresh.checkpoint(before)).encode(), [key]).size == before.size + 1


async def test_a_checkpoint_that_contradicts_keeps_no_later_one_from_being_signed(ledger: SqlLedger) -> None:
    """It was moved away, as its place says; nobody has to start again."""
    another = Checkpoint(origin_of(ledger.ledger_id or ""), 5, bytes(32))
    for _ in range(2):
        with pytest.raises(StoreError, match="the checkpoint of 5 entries that is published is over other entries"):
            await ledger.compare(another)
    found = open_checkpoint((await ledger.checkpoint()).encode(), [await public_key(ledger)])
    assert found.size == TURNS + 1


async def test_a_checkpoint_of_a_fork_is_told_from_one_of_its_own_also_where_the_tree_has_come_further(
    ledger: SqlLedger, tmp_path: Path
) -> None:
    """Both have the id, the keys and the first entries of one ledger."""
    key = await public_key(ledger)
    common = open_checkpoint((await ledger.checkpoint()).encode(), [key])
    await ledger.close()  # all of it is in one file then
    shutil.copy(tmp_path / "ledger.db", tmp_path / "fork.db")
    fork = SqlLedger(tmp_path / "fork.db", tmp_path / "keys" / "ledger.key")
    await fork.reanchor("a copy")
    another = open_checkpoint((await fork.checkpoint()).encode(), [key])
    for n in range(3):
        await ledger.append("turn", {"n": n})
    largest = open_checkpoint((await ledger.checkpoint()).encode(), [key]).size
    for _ in range(2):
        for work in (ledger.compare(another), ledger.checkpoint(another)):
            with pytest.raises(StoreError, match=f"the checkpoint of {another.size} entries that is published is over"):
                await work
    assert another.size < largest
    assert open_checkpoint((await ledger.checkpoint(common)).encode(), [key]).size == largest


@pytest.fixture
def tampered(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as connection:
        yield connection


async def test_what_does_not_hold_is_not_signed(ledger: SqlLedger, tampered: sqlite3.Connection) -> None:
    (trigger,) = tampered.execute("SELECT sql FROM sqlite_master WHERE name = 'entries_no_update'").fetchone()
    tampered.execute("DROP TRIGGER entries_no_update")
    tampered.execute("UPDATE entries SET body = '{}' WHERE seq = 5")
    tampered.execute(trigger)
    tampered.commit()
    with pytest.raises(StoreError, match="the body of entry 5 does not match its seal"):
        await ledger.checkpoint()
    with pytest.raises(StoreError, match="nothing is signed"):
        await ledger.proof("any")


async def test_what_was_put_right_is_signed(ledger: SqlLedger, tampered: sqlite3.Connection) -> None:
    (trigger,) = tampered.execute("SELECT sql FROM sqlite_master WHERE name = 'entries_no_update'").fetchone()
    (body,) = tampered.execute("SELECT body FROM entries WHERE seq = 5").fetchone()
    tampered.execute("DROP TRIGGER entries_no_update")
    tampered.execute("UPDATE entries SET body = '{}' WHERE seq = 5")
    tampered.commit()
    with pytest.raises(StoreError, match="the body of entry 5 does not match its seal"):
        await ledger.checkpoint()
    tampered.execute("UPDATE entries SET body = ? WHERE seq = 5", (body,))
    tampered.execute(trigger)
    tampered.commit()
    assert int((await ledger.checkpoint()).splitlines()[1]) == TURNS + 1


async def test_what_was_changed_after_it_was_verified_stays_in_the_tree_as_it_was(
    ledger: SqlLedger, tampered: sqlite3.Connection
) -> None:
    first = await ledger.checkpoint()
    (trigger,) = tampered.execute("SELECT sql FROM sqlite_master WHERE name = 'entries_no_update'").fetchone()
    tampered.execute("DROP TRIGGER entries_no_update")
    tampered.execute("UPDATE entries SET at = '2020-01-01T00:00:00.000Z' WHERE seq = 5")
    tampered.execute(trigger)
    tampered.commit()
    key = await public_key(ledger)
    assert open_checkpoint((await ledger.checkpoint()).encode(), [key]) == open_checkpoint(first.encode(), [key])


async def test_a_checkpoint_takes_what_others_wrote_and_erased(ledger: SqlLedger, tmp_path: Path) -> None:
    await ledger.checkpoint()
    other = SqlLedger(tmp_path / "ledger.db", tmp_path / "keys" / "ledger.key")
    await other.append("turn", {"n": 1})
    entries = [entry async for entry in other.entries()]
    await other.erase(entries[3].entry_id, "asked for")
    size = (await ledger.checkpoint()).splitlines()[1]
    assert int(size) == TURNS + 3


async def test_another_signing_key_or_none_signs_nothing(ledger: SqlLedger, tmp_path: Path) -> None:
    path = tmp_path / "keys" / "ledger-signing.key"
    path.write_text("ab" * 32)
    with pytest.raises(SettingsError, match="not the one whose public key"):
        await ledger.checkpoint()
    path.unlink()
    with pytest.raises(SettingsError, match="missing"):
        await ledger.checkpoint()
    assert not path.exists()
