"""`attest ledger` over the real store: what it exports verifies with the key alone, and alterations end with 1."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.cli import main
from bot.commands.ledger.ledger import decided_in
from bot.commands.shared.wiring import LedgerOpener, Wiring
from bot.compose.record import open_ledger, open_record
from bot.settings.load import load_settings
from bot.settings.settings import Settings
from grounding.errors import StoreError
from rai.ledger.store import SqlLedger
from rai.records import Entry
from tests.bot.commands.conftest import Ran
from tests.bot.commands.fakes import FakeWorld
from tests.fakes.recorded_turn import QUESTION, recorded_turn

Ledger = Callable[..., Ran]


@pytest.fixture
def ledger(small: FakeWorld, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Ledger:
    """Runs `attest ledger …` over a store with three entries."""

    async def fill() -> None:
        settings = load_settings()
        settings.files.home.mkdir(parents=True)
        store = SqlLedger(settings.files.home / "ledger.db", settings.files.ledger_key)
        for n in range(3):
            await store.append("turn", {"n": n, "question": "Wann öffnen Sie?"})
        await store.close()

    asyncio.run(fill())

    def run(*arguments: str, opened_by: LedgerOpener = open_ledger) -> Ran:
        capsys.readouterr()
        code = main(
            ["ledger", *arguments],
            lambda: Wiring(small.compose, small.open_ingester, small.open_history, open_record, opened_by),
        )
        return Ran(code, *capsys.readouterr())

    return run


@pytest.fixture
def archive(ledger: Ledger, tmp_path: Path) -> Path:
    ran = ledger("export")
    assert ran.code == 0
    path = tmp_path / "ledger.jsonl"
    path.write_text(ran.out, encoding="utf-8")
    return path


def test_an_export_verifies_with_the_key_alone(ledger: Ledger, archive: Path) -> None:
    (load_settings().files.home / "ledger.db").unlink()
    ran = ledger("verify", "--export", str(archive))
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("intact: 4 entries of ledger ")
    found = ledger("verify", "--export", str(archive), "--json").document
    assert (found["ok"], found["entries"]) == (True, 4)


def test_an_export_of_another_ledger_of_the_key_is_told(ledger: Ledger, archive: Path) -> None:
    assert ledger("verify", "--export", str(archive)).code == 0
    settings = load_settings()
    store = settings.files.home / "ledger.db"
    for path in (store, *settings.files.ledger_key.parent.glob(f"{settings.files.ledger_key.name}.*")):
        path.unlink()
    asyncio.run(SqlLedger(store, settings.files.ledger_key).close())
    ran = ledger("verify", "--export", str(archive))
    assert ran.code == 1
    assert "this is another ledger" in ran.out


def reworded(lines: list[str]) -> list[str]:
    return [line.replace('"n": 1', '"n": 7') for line in lines]


def of_another_key(lines: list[str]) -> list[str]:
    return [json.dumps({**json.loads(lines[0]), "key_id": "0" * 16}), *lines[1:]]


ALTERED: list[Any] = [
    pytest.param(reworded, "changed", id="reworded"),
    pytest.param(lambda lines: [*lines[:2], *lines[3:]], "missing", id="an entry cut out"),
    pytest.param(lambda lines: lines[:-1], "truncated", id="no last line"),
    pytest.param(lambda lines: [*lines[:-2], lines[-1]], "truncated", id="the last entry cut off"),
    pytest.param(lambda lines: [lines[0], lines[2], lines[1], *lines[3:]], "missing", id="two entries swapped"),
    pytest.param(lambda lines: [*lines, lines[1]], "changed: there are lines after", id="a line put behind"),
    pytest.param(lambda lines: [*lines[:2], "{nope", *lines[3:]], "changed: line 3", id="a line that is no JSON"),
    pytest.param(
        of_another_key, "changed: line 1: this ledger was written with another key", id="another key in the heading"
    ),
]


@pytest.mark.parametrize(("alter", "why"), ALTERED)
def test_an_altered_export_ends_with_1(
    ledger: Ledger, archive: Path, alter: Callable[[list[str]], list[str]], why: str
) -> None:
    lines = archive.read_text("utf-8").splitlines()
    changed = alter(lines)
    assert changed != lines
    archive.write_text("\n".join(changed) + "\n", encoding="utf-8")
    ran = ledger("verify", "--export", str(archive))
    assert ran.code == 1
    assert "NOT INTACT" in ran.out
    assert why in ran.out


@pytest.mark.parametrize("content", [b"", b"{}\n", b"\xff\xfe", b"[1]\n"])
def test_a_file_that_is_no_export_is_a_slip(ledger: Ledger, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.jsonl"
    path.write_bytes(content)
    ran = ledger("verify", "--export", str(path))
    assert (ran.code, ran.out) == (2, "")
    assert "not an exported ledger" in ran.err
    assert "no such file" in ledger("verify", "--export", str(tmp_path / "nowhere")).err


def test_a_store_that_names_another_key_reads_as_tampering(ledger: Ledger) -> None:
    assert ledger("verify").code == 0
    with sqlite3.connect(load_settings().files.home / "ledger.db") as store:
        store.execute("UPDATE about SET value = '0000000000000000' WHERE name = 'key_id'")
    store.close()
    ran = ledger("verify")
    assert ran.code == 1
    assert "changed: the key file, or the store's own note of its key" in ran.out
    assert ledger("list").code == 2


def test_every_break_is_named_and_nothing_is_written(ledger: Ledger) -> None:
    store = load_settings().files.home / "ledger.db"
    with sqlite3.connect(store) as connection:
        connection.execute("DROP TRIGGER entries_no_update")
        connection.execute("UPDATE entries SET entry_id = 'moved' || char(27, 155) WHERE seq = 2")
    connection.close()
    before = store.read_bytes()
    ran = ledger("verify")
    assert ran.code == 1
    first, *others = ran.out.splitlines()
    assert first == "NOT INTACT at moved\ufffd\ufffd: changed: entry 2 does not match its seal"
    assert others == [
        "  entry 2: changed: entry 2 does not match its seal (1 entries before it and 2 after it hold)",
        "  the whole: changed: the trigger entries_no_update, which refuses changes, is gone",
    ]
    found = ledger("verify", "--json").document
    assert list(found) == ["ok", "entries", "head", "broken", "why", "notes", "breaks", "ledger_id"]
    assert [b["at"] for b in found["breaks"]] == [2, None]
    assert ledger("list").code == 0
    assert store.read_bytes() == before


def test_where_nothing_was_written_the_commands_make_nothing(ledger: Ledger) -> None:
    files = load_settings().files
    for path in [*files.home.iterdir(), *files.ledger_key.parent.glob(f"{files.ledger_key.name}*")]:
        path.unlink()
    files.home.rmdir()
    assert ledger("verify").out.startswith("intact: 0 entries")
    assert "the ledger is empty" in ledger("list").err
    ran = ledger("export")
    assert (ran.code, ran.out) == (2, "")
    assert "no ledger yet" in ran.err
    assert not files.home.exists()
    assert not files.ledger_key.exists()


def test_a_key_that_is_missing_stays_a_setting_to_mend(ledger: Ledger) -> None:
    load_settings().files.ledger_key.unlink()
    ran = ledger("verify")
    assert ran.code == 2
    assert "ATTEST_LEDGER_KEY_FILE" in ran.err


def test_a_turn_begins_with_what_was_decided() -> None:
    first = {"action": "incorrect", "rule": "max_below_keep", "threshold": 0.4, "margin": 0.2, "value": 0.2, "kept": []}
    steps = [
        {"step": "plan", "queries": ["web: fees"], "added": 0, "decision": first, "why": "", "trail": ["Outcome: none"]}
    ]
    entry = Entry("e1", 1, "now", "turn", {"reply": {"decided_first": first, "corrections": steps}}, "", "")
    said = (
        "not enough: no passage is good enough to be kept (best 0.20, needed 0.40, short by 0.20) · rule max_below_keep"
    )
    plan = f"- searched by a plan: “on the web: fees” · nothing new · {said}"
    assert decided_in(entry) == [f"- {said}", plan, "  Outcome: none"]
    bodies: list[dict[str, Any]] = [
        {},
        {"reply": {}},
        {"reply": {"decision": None, "corrections": None}},
        {"reply": "x"},
    ]
    for body in bodies:
        assert decided_in(replace(entry, body=body)) == []


def kinds(ledger: Ledger, *arguments: str) -> list[str]:
    return [entry["kind"] for entry in ledger("list", "--json", *arguments).document["entries"]]


def in_store(kind: str, body: dict[str, Any]) -> None:
    async def fill() -> None:
        settings = load_settings()
        store = SqlLedger(settings.files.home / "ledger.db", settings.files.ledger_key)
        await store.append(kind, body)
        await store.close()

    asyncio.run(fill())


def test_an_export_is_an_entry_that_says_up_to_where(ledger: Ledger, archive: Path) -> None:
    """It stands behind what was exported, which verifies as it is; the next export holds it."""
    end = json.loads(archive.read_text("utf-8").splitlines()[-1])["end"]
    newest = ledger("list", "--json").document["entries"][0]
    assert (newest["kind"], newest["seq"], end["count"]) == ("export", 5, 4)
    assert (newest["body"]["entries"], newest["body"]["head"]) == (4, end["head"])
    assert newest["body"]["complete"] is True
    assert newest["body"]["form"] == json.loads(archive.read_text("utf-8").splitlines()[0])["format"]
    assert len(ledger("export", "--json").document["entries"]) == 5
    assert ledger("verify").code == 0
    assert kinds(ledger) == ["export", "export", "turn", "turn", "turn", "genesis"]


def test_an_export_that_cannot_be_recorded_is_made_and_told(ledger: Ledger) -> None:
    """As of a ledger that is locked, or lies where nobody may write."""

    def locked(_: Settings, /, *, writes: bool = False) -> AbstractAsyncContextManager[Any]:
        assert writes
        raise StoreError("the ledger cannot be used: it is locked")

    ran = ledger("export", opened_by=locked)
    assert ran.code == 0
    assert len(ran.out.splitlines()) == 6
    assert ran.err == "attest: the export is not recorded in the ledger: the ledger cannot be used: it is locked\n"


def test_an_export_that_is_broken_off_is_an_entry_too(ledger: Ledger) -> None:
    """A pipe whose reader goes after two lines has had one entry."""
    said: list[str] = []

    def full(line: str) -> None:
        if len(said) == 2:
            raise BrokenPipeError
        said.append(line)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bot.commands.ledger.ledger.typer.echo", full)
        ledger("export")
    newest = ledger("list", "--json").document["entries"][0]["body"]
    assert (newest["entries"], newest["head"], newest["complete"]) == (1, None, False)


def test_the_list_leaves_looking_out_until_it_is_asked_for(ledger: Ledger) -> None:
    in_store("read", {"schema": 2, "page": "list"})
    in_store("start", {"schema": 2, "program": "1"})
    in_store("check", {"schema": 2, "items": 1})
    in_store("delivery", {"schema": 2, "entry_id": "e0"})
    assert kinds(ledger) == ["start", "turn", "turn", "turn", "genesis"]
    assert kinds(ledger, "--limit", "2") == ["start", "turn"]
    assert kinds(ledger, "--kind", "check", "--kind", "start") == ["check", "start"]
    assert kinds(ledger, "--kind", "all") == ["delivery", "check", "start", "read", "turn", "turn", "turn", "genesis"]
    assert kinds(ledger, "--kind", "genesis") == ["genesis"]
    assert "no entry of the kind stop" in ledger("list", "--kind", "stop").err
    wrong = ledger("list", "--kind", "weather")
    assert (wrong.code, wrong.err.count("\n")) == (2, 1)
    assert "allowed are" in wrong.err


def test_an_entry_that_was_changed_is_shown_and_exported_as_that(ledger: Ledger) -> None:
    """Not as if nothing were wrong with it: who reads one entry does not run a verification first."""
    sound, changed = (entry["entry_id"] for entry in ledger("list", "--json", "--limit", "2").document["entries"])
    with closing(sqlite3.connect(load_settings().files.home / "ledger.db")) as store:
        (trigger,) = store.execute("SELECT sql FROM sqlite_master WHERE name = 'entries_no_update'").fetchone()
        store.execute("DROP TRIGGER entries_no_update")
        store.execute("UPDATE entries SET body = replace(body, 'Wann', 'Wenn') WHERE entry_id = ?", (changed,))
        store.execute(trigger)
        store.commit()
    shown = ledger("show", changed)
    assert (shown.code, "Wenn" in shown.out) == (1, True)
    assert (
        shown.err == f"entry {changed} is not what was sealed: it was changed in the store; see attest ledger verify\n"
    )
    as_json = ledger("show", changed, "--json")
    assert (as_json.code, as_json.document["intact"]) == (1, False)
    assert ledger("show", sound, "--json").document["intact"] is True
    assert (ledger("show", sound).code, ledger("show", sound).err) == (0, "")
    left = ledger("export")
    assert (left.code, len(left.out.splitlines())) == (1, 6)
    assert "this ledger does not hold (changed: the body of entry 3" in left.err


def test_show_puts_a_turn_together_and_says_where_it_cannot(ledger: Ledger) -> None:
    async def store(*erased: str) -> tuple[str, list[Any]]:
        settings = load_settings()
        opened = SqlLedger(settings.files.home / "ledger.db", settings.files.ledger_key)
        turn = None if erased else await opened.append("turn", recorded_turn())
        if erased:
            await opened.erase(erased, "asked for")
        lines = [json.loads(line) async for line in opened.export()]
        await opened.close()
        return turn.entry_id if turn else "", [line for line in lines if line.get("kind") == "content"]

    entry, contents = asyncio.run(store())
    shown = ledger("show", entry)
    assert (shown.code, "cannot be read whole" in shown.out) == (0, False)
    assert (
        ledger("show", entry, "--json").document["body"]["evidence"][0]["text"]
        == recorded_turn()["evidence"][0]["text"]
    )
    policy = next(line for line in contents if "grade_k" in line["body"]["value"])
    asyncio.run(store(policy["entry_id"]))
    shown = ledger("show", entry)
    assert shown.code == 0
    assert f"cannot be read whole: the content in entry {policy['seq']} that this entry refers to is gone" in shown.out
    assert QUESTION.partition("?")[0] in shown.out
