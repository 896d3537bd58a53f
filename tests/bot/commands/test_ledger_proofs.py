"""`attest ledger` for outsiders: checkpoints, public key, proof of one turn, change of keys, and an anchor made anew."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bot.cli import main
from bot.commands.shared.wiring import Wiring
from bot.compose.record import open_ledger, open_record
from bot.operator import operator
from bot.settings.load import load_settings
from rai.ledger.attest_verify import AuditReport, audit, audit_proof
from rai.ledger.chain import GENESIS, SealedRow, seal
from rai.ledger.checkpoints.proof_file import FORMAT
from rai.ledger.export import export_lines
from rai.ledger.key import load_key
from rai.ledger.store import SqlLedger
from tests.bot.commands.conftest import Ran
from tests.bot.commands.fakes import FakeWorld

Run = Callable[..., Ran]


def append(*bodies: dict[str, Any]) -> list[str]:
    """Adds turns to the ledger of the settings; their ids."""

    async def fill() -> list[str]:
        files = load_settings().files
        files.home.mkdir(parents=True, exist_ok=True)
        store = SqlLedger(files.home / "ledger.db", files.ledger_key, signing_key_file=files.signing_key_path)
        made = [(await store.append("turn", body)).entry_id for body in bodies]
        await store.close()
        return made

    return asyncio.run(fill())


@pytest.fixture
def run(small: FakeWorld, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs `attest ledger …` over the real store."""

    def call(*arguments: str) -> Ran:
        capsys.readouterr()
        code = main(
            ["ledger", *arguments],
            lambda: Wiring(small.compose, small.open_ingester, small.open_history, open_record, open_ledger),
        )
        return Ran(code, *capsys.readouterr())

    return call


@pytest.fixture
def ids(run: Run) -> list[str]:
    """Three turns."""
    assert run is not None
    return append(*({"n": n, "question": "Wann öffnen Sie?"} for n in range(3)))


def exported(run: Run, folder: Path) -> Path:
    path = folder / "ledger.jsonl"
    path.write_text(run("export").out, "utf-8")
    return path


def key_of(run: Run) -> str:
    ran = run("public-key")
    assert (ran.code, ran.err) == (0, "")
    return ran.out.strip()


# Checkpoints


def test_a_checkpoint_is_written_out_where_there_is_no_place(run: Run, ids: list[str], tmp_path: Path) -> None:
    assert len(ids) == 3
    note = run("checkpoint").out
    assert note.startswith("attest-ledger/")
    assert run("checkpoint", "--to", "-").out == note
    target = tmp_path / "now.txt"
    ran = run("checkpoint", "--to", str(target))
    assert (ran.code, ran.out) == (0, f"4 entries signed: now.txt in {tmp_path}\n")
    assert target.read_text("utf-8") == note
    assert target.stat().st_mode & 0o044
    again = run("checkpoint", "--to", str(target))
    assert (again.code, "never written over" in again.err) == (2, True)
    assert run("checkpoint", "--to", str(tmp_path / "no" / "now.txt")).code == 2
    assert audit(exported(run, tmp_path), [target], [key_of(run)]).covered == 4


def test_a_checkpoint_is_published_where_there_is_a_place(
    run: Run, ids: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(ids) == 3
    place = tmp_path / "elsewhere"
    monkeypatch.setenv("ATTEST_LEDGER_CHECKPOINTS", str(place))
    ran = run("checkpoint")
    assert (ran.code, "is no folder; make it, or mount it" in ran.err) == (3, True)
    place.mkdir()
    first = run("checkpoint")
    assert (first.code, first.out[:18]) == (0, "4 entries signed: ")
    assert run("checkpoint").out.startswith("nothing was added since ")
    append({"n": 4})
    told = run("checkpoint", "--json").document
    assert (told["entries"], told["new"], told["place"]) == (5, True, str(place))
    assert sorted(path.name[-8:] for path in place.iterdir()) == ["0004.txt", "0005.txt"]
    assert audit(exported(run, tmp_path), sorted(place.iterdir()), [key_of(run)]).covered == 5


def test_a_ledger_that_does_not_hold_is_not_signed(run: Run, ids: list[str]) -> None:
    tamper(ids[0])
    ran = run("checkpoint")
    assert (ran.code, ran.out) == (3, "")
    assert "does not hold" in ran.err


def tamper(entry_id: str) -> None:
    connection = sqlite3.connect(load_settings().files.home / "ledger.db")
    connection.execute("DROP TRIGGER entries_no_update")
    connection.execute("UPDATE entries SET body = '{}' WHERE entry_id = ?", (entry_id,))
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    "arguments",
    [
        ["checkpoint"],
        ["public-key"],
        ["prove", "x"],
        ["rotate-key"],
        ["rotate-key", "--finish"],
        ["anchor", "--reason", "x"],
    ],
)
def test_where_nothing_was_written_nothing_is_made(run: Run, arguments: list[str]) -> None:
    files = load_settings().files
    ran = run(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert "there is no ledger yet" in ran.err
    assert not files.ledger_key.exists()
    assert not files.signing_key_path.exists()


# The proof of one turn


def test_one_turn_is_proven_without_the_others(run: Run, ids: list[str], tmp_path: Path) -> None:
    note, proof = tmp_path / "c.txt", tmp_path / "proof.json"
    run("checkpoint", "--to", str(note))
    append({"n": 4})
    ran = run("prove", ids[1], "--checkpoint", str(note))
    assert (ran.code, ran.err) == (0, "")
    proof.write_text(ran.out, "utf-8")
    report = audit_proof(proof, [note], [key_of(run)])
    assert (report.breaks, report.covered) == (0, 4)
    assert report.entry is not None
    assert (report.entry["entry_id"], report.entry["body"]) == (ids[1], "as committed")
    assert json.loads(ran.out)["entry"]["body"] == {"n": 1, "question": "Wann öffnen Sie?"}
    for other in (ids[0], ids[2]):
        assert other not in ran.out


def test_a_proof_leads_to_the_newest_published_checkpoint(
    run: Run, ids: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loose = run("prove", ids[0])
    assert json.loads(loose.out)["size"] == 5  # the entry of who wrote it is among them
    assert int(run("checkpoint", "--to", "-").out.splitlines()[1]) == 5
    assert "attest ledger checkpoint --to FILE" in loose.err
    place = tmp_path / "elsewhere"
    place.mkdir()
    monkeypatch.setenv("ATTEST_LEDGER_CHECKPOINTS", str(place))
    run("checkpoint")
    later = append({"n": 4})[0]
    ran = run("prove", ids[0])
    assert (json.loads(ran.out)["size"], ran.err) == (5, "")
    newer = run("prove", later)
    assert (newer.code, "is not among the first 5 entries" in newer.err) == (2, True)
    exports = [e["body"] for e in run("list", "--kind", "export", "--json").document["entries"]]
    assert [(body["form"], body["entry_id"]) for body in exports] == [(FORMAT, ids[0])] * 2
    assert exports[0]["actor"]["user"] == operator().user


def test_a_checkpoint_of_another_history_is_refused(run: Run, ids: list[str], tmp_path: Path) -> None:
    note = tmp_path / "c.txt"
    text = run("checkpoint").out.splitlines(keepends=True)
    note.write_text("".join([text[0], text[1], "A" * 43 + "=\n", *text[3:]]), "utf-8")
    ran = run("prove", ids[0], "--checkpoint", str(note))
    assert (ran.code, "its root for 4 entries is another" in ran.err) == (2, True)
    note.write_text("no note", "utf-8")
    assert "not a signed note" in run("prove", ids[0], "--checkpoint", str(note)).err
    assert run("prove", ids[0], "--checkpoint", str(tmp_path / "none")).code == 2
    assert "not among the first" in run("prove", "01ARZ3NDEKTSV4RRFFQ69G5FAV").err


# A change of keys


def test_an_outsider_with_the_old_key_alone_goes_along_with_a_change(run: Run, ids: list[str], tmp_path: Path) -> None:
    """Old key, both, new key: the new one is found in the ledger, under a checkpoint that the old one has signed."""
    assert len(ids) == 3
    old = key_of(run)
    a, b, c = (tmp_path / f"{name}.txt" for name in "abc")

    def outside(notes: list[Path], *keys: str) -> AuditReport:
        return audit(exported(run, tmp_path), notes, keys)

    run("checkpoint", "--to", str(a))
    rotated = run("rotate-key")
    assert (rotated.code, "before attest ledger rotate-key --finish" in rotated.err) == (0, True)
    new = key_of(run)
    assert rotated.out.strip() == new != old
    run("checkpoint", "--to", str(b))
    both = outside([a, b], old)
    assert (both.breaks, both.covered) == (0, 5)
    assert both.keys == [{"seq": 5, "verifier_key": new}]
    assert outside([b], new).breaks == 0
    assert "finish that change first" in run("rotate-key").err
    append({"n": 4})
    finished = run("rotate-key", "--finish")
    assert (finished.code, finished.out.strip()) == (0, old)
    run("checkpoint", "--to", str(c))
    assert outside([a, b], old).breaks == 0
    without = outside([a, b, c], old)
    assert (without.breaks, without.covered, len(without.aside)) == (0, 5, 1), "it is set aside: an entry names its key"
    whole = outside([a, b, c], old, both.keys[0]["verifier_key"])
    # each export before is an entry too: two of them before the last checkpoint, two behind it
    assert (whole.breaks, whole.covered, whole.not_yet_covered) == (0, 9, (10, 11))
    assert run("rotate-key", "--finish").code == 2
    assert run("verify").code == 0


def test_a_change_publishes_what_both_have_signed(
    run: Run, ids: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(ids) == 3
    place = tmp_path / "elsewhere"
    place.mkdir()
    monkeypatch.setenv("ATTEST_LEDGER_CHECKPOINTS", str(place))
    old = key_of(run)
    told = run("rotate-key", "--json").document
    assert told == {"verifier_key": key_of(run)}
    assert audit(exported(run, tmp_path), list(place.iterdir()), [old]).keys[0]["seq"] == 5
    assert run("rotate-key", "--finish", "--json").document == {"retired": old}


# An anchor made anew


def moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = load_settings().files.home
    shutil.move(home, tmp_path / "new-home")
    monkeypatch.setenv("ATTEST_HOME", str(tmp_path / "new-home"))


def test_a_moved_ledger_is_anchored_anew_with_an_entry_that_says_so(
    run: Run, ids: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "holds: nothing is to be anchored anew" in run("anchor", "--reason", "x").err
    moved(tmp_path, monkeypatch)
    told = run("verify")
    assert (told.code, "attest ledger anchor makes it anew" in told.out) == (1, True)
    append({"n": 4})  # goes on without one, and says so
    assert run("verify").code == 1
    ran = run("anchor", "--reason", "Herr Weber, weber@example.com, moved it", "--json")
    assert ran.code == 0
    body = ran.document["body"]
    assert body["count"] == 5
    assert body["before"] is None
    assert body["found"].startswith("truncated: the anchor is missing")
    assert "weber@example.com" not in body["reason"]
    assert "moved it" in body["reason"]
    assert run("verify").out.startswith("intact: 6 entries")
    assert "nothing is to be anchored anew" in run("anchor", "--reason", "again").err
    assert ids[0] in run("export").out


def test_a_restored_ledger_says_how_far_it_had_come(run: Run, ids: list[str], tmp_path: Path) -> None:
    home = load_settings().files.home
    shutil.copytree(home, tmp_path / "backup")
    append({"n": 4}, {"n": 5})
    shutil.rmtree(home)
    shutil.copytree(tmp_path / "backup", home)
    assert "4 entries, but the anchor has seen 6" in run("verify").out
    said = run("anchor", "--reason", "restored from the backup of last night")
    assert (said.code, said.out[:24]) == (0, "anchored after 4 entries")
    body = run("list", "--limit", "1", "--json").document["entries"][0]["body"]
    assert (body["count"], body["before"]["count"]) == (4, 6)
    assert run("verify").code == 0
    assert run("show", ids[2]).code == 0


def test_a_broken_ledger_is_not_anchored_anew(
    run: Run, ids: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved(tmp_path, monkeypatch)
    tamper(ids[1])
    ran = run("anchor", "--reason", "moved")
    assert (ran.code, ran.out) == (3, "")
    assert "the ledger does not hold, so it is not anchored anew" in ran.err
    assert not list(load_settings().files.ledger_key.parent.glob("*.new"))


def test_an_anchor_that_was_altered_can_be_made_anew_and_that_is_told(run: Run, ids: list[str]) -> None:
    assert len(ids) == 3
    path = next(load_settings().files.ledger_key.parent.glob("*.anchor"))
    path.write_text("{}", "ascii")
    assert run("verify").code == 1
    assert run("anchor", "--reason", "damaged by a full disk").code == 0
    body = run("list", "--limit", "1", "--json").document["entries"][0]["body"]
    assert (body["found"], body["before"]) == ("changed: the ledger's anchor was altered", None)
    assert run("verify").code == 0


def test_an_export_of_form_1_is_verified_as_what_it_is(run: Run, tmp_path: Path) -> None:
    """Older programs wrote it, and it takes the key."""
    key_file = load_settings().files.ledger_key
    key = load_key(key_file)
    entry_id, at = "01ARZ3NDEKTSV4RRFFQ69G5FAV", "2026-11-20T09:00:00.000Z"
    digest = seal(key, "attest-ledger-body-1", entry_id, "{}")
    mac = seal(key, "attest-ledger-link-1", entry_id, at, "turn", digest, GENESIS)
    row = SealedRow(1, entry_id, at, "turn", None, "{}", digest, GENESIS, mac)
    lines = list(export_lines(key, [row], None, None))
    path = tmp_path / "old.jsonl"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    assert run("verify", "--export", str(path)).out.startswith("intact: 1 entries")
    path.write_text("\n".join([lines[0], lines[1].replace('"body": {}', '"body": {"n": 1}'), lines[2]]) + "\n", "utf-8")
    assert run("verify", "--export", str(path)).code == 1
