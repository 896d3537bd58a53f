"""`attest privacy` over a real home: erase, hold, release, retain, export."""

from __future__ import annotations

import asyncio
import io
import sqlite3
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.cli import main
from bot.operator import operator
from bot.settings.load import load_settings
from bot.state import State
from bot.teams.history import ConversationHistory
from grounding.database.postgres import Postgres
from grounding.records import Turn
from rai.ledger.store import SqlLedger
from tests.bot.commands.conftest import Ran
from tests.postgres.ledger import keys_in
from tests.postgres.shared import made

PLACE = {"channelId": "msteams", "conversation": {"id": "a:1"}}
BECAUSE = ("--reason", "on request")


@pytest.fixture
def filled() -> list[str]:
    """A turn of Ada's with feedback in her conversation, and one of Bob's: the ids of the three entries."""

    async def fill() -> list[str]:
        files = load_settings().files
        ledger = SqlLedger(files.home / "ledger.db", files.ledger_key)
        entries = []
        for user, conversation in (("ada", "a:1"), ("bob", "a:2")):
            ask = {"question": f"A shop of {user}?", "user": user, "channel": "msteams", "conversation": conversation}
            body = {"schema": 2, "ask": ask, "actor": {"user": user}, "reply": {"outcome": "answered"}}
            entries.append((await ledger.append("turn", body)).entry_id)
        body = {"schema": 2, "entry_id": entries[0], "reaction": "like", "text": "good", "user": "ada"}
        entries.append((await ledger.append("feedback", body)).entry_id)
        await ledger.close()
        state = State(files.home / "state.db")
        await state.open()
        await ConversationHistory(state, days=30).remember(PLACE, [Turn("user", "A shop of ada?")])
        await state.close()
        return entries

    return asyncio.run(fill())


@pytest.fixture
def privacy(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    def run(*arguments: str, answer: str = "") -> Ran:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(answer.encode()), encoding="utf-8"))
        capsys.readouterr()
        return Ran(main(["privacy", *arguments]), *capsys.readouterr())

    return run


def bodies() -> dict[str, str | None]:
    with sqlite3.connect(load_settings().files.home / "ledger.db") as db:
        return dict(db.execute("SELECT entry_id, body FROM entries"))


def test_a_dry_run_shows_and_changes_nothing(privacy: Callable[..., Ran], filled: list[str]) -> None:
    before = bodies()
    shown = privacy("erase", "--person", "ada", *BECAUSE, "--dry-run")
    assert (shown.code, shown.err) == (0, "")
    assert "would go: 2 entries, 1 kept turn\n" in shown.out
    document = privacy("erase", "--person", "ada", *BECAUSE, "--dry-run", "--json").document
    assert (document["dry_run"], document["records"]) == (True, [])
    assert [e["entry_id"] for e in document["entries"]] == [filled[0], filled[2]]
    assert document["state"] == {"conversations": 1, "turns": 1, "inbox": 0, "sent": 0}
    assert bodies() == before


def test_it_asks_first(privacy: Callable[..., Ran], filled: list[str]) -> None:
    before = bodies()
    for answer, code in (("n\n", 1), ("\n", 1), ("", 2)):
        refused = privacy("erase", "--person", "ada", *BECAUSE, answer=answer)
        assert (refused.code, "nothing was erased" in refused.err) == (code, True)
        assert "would go: 2 entries" in refused.out
        assert bodies() == before
    done = privacy("erase", "--person", "ada", *BECAUSE, answer="y\n")
    assert done.code == 0
    assert "erased: 2 entries, 1 kept turn" in done.out
    assert [name for name, body in bodies().items() if body is None] == [filled[0], filled[2]]


def test_a_text_is_read_from_stdin(privacy: Callable[..., Ran], filled: list[str]) -> None:
    assert privacy("erase", "--search", "-", *BECAUSE, "--yes", answer="a shop of bob\n").code == 0
    assert [name for name, body in bodies().items() if body is None] == [filled[1]]


def test_erased_twice_is_a_clear_line(privacy: Callable[..., Ran], filled: list[str]) -> None:
    first = privacy("erase", "--entry", filled[0], *BECAUSE, "--yes", "--json").document
    assert first["counts"] == {"turn": 1, "feedback": 1}
    before = bodies()
    again = privacy("erase", "--entry", filled[0], *BECAUSE)
    assert (again.code, again.out) == (0, "")
    assert again.err.splitlines() == [
        f"entry {filled[0]} was erased before; entry {first['records'][0]} says so",
        "nothing to erase",
    ]
    assert "nothing matches, or it was erased before" in privacy("erase", "--person", "ada", *BECAUSE, "--yes").err
    assert bodies() == before


def test_all_that_is_given_must_match(privacy: Callable[..., Ran], filled: list[str]) -> None:
    def chosen(*arguments: str) -> list[str]:
        return [
            e["entry_id"] for e in privacy("erase", *arguments, *BECAUSE, "--dry-run", "--json").document["entries"]
        ]

    assert chosen("--search", "a SHOP of") == filled
    assert chosen("--search", "a shop of", "--conversation", "a:2") == [filled[1]]
    assert chosen("--search", "a shop of", "--person", "ada", "--conversation", "a:2") == []
    assert chosen("--entry", filled[1], "--entry", filled[0], "--person", "bob") == [filled[1]]


def test_a_hold_refuses_and_a_release_frees(privacy: Callable[..., Ran], filled: list[str]) -> None:
    assert privacy("holds").err == "nothing is held\n"
    words = ("hold", "--person", "ada", "--reason", "claim 118", "--json")
    held = privacy(*words).document
    assert (held["on"], held["target"], held["new"]) == ("person", "ada", True)
    assert privacy(*words).document == {**held, "new": False}
    refused = privacy("erase", "--conversation", "a:1", *BECAUSE, "--yes")
    assert (refused.code, len(refused.err.splitlines())) == (2, 1)
    assert f"hold {held['hold']} " not in refused.out
    assert held["hold"] in refused.err
    assert held["hold"] in privacy("erase", "--conversation", "a:1", *BECAUSE, "--dry-run").err
    assert bodies()[filled[0]] is not None
    [listed] = privacy("holds", "--json").document["holds"]
    assert (listed["hold"], listed["reason"], listed["by"]) == (held["hold"], "claim 118", operator().user)
    assert "claim 118" in privacy("holds").out
    assert held["entries"] == listed["entries"] > 0
    mistyped = privacy("hold", "--person", "adda", "--reason", "claim 118")
    assert (mistyped.code, "· 0 entries ·" in mistyped.out) == (0, True)
    assert "covers no entry yet" in mistyped.err
    assert "was held before" in privacy("hold", "--person", "adda", "--reason", "claim 118").out
    assert "released: person ada" in privacy("release", held["hold"], "--reason", "settled").out
    assert privacy("erase", "--conversation", "a:1", *BECAUSE, "--yes").code == 0
    assert bodies()[filled[0]] is None


def test_retention_now(privacy: Callable[..., Ran], filled: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert privacy("retain").err == "nothing is due\n"
    state = sqlite3.connect(load_settings().files.home / "state.db")
    state.execute("UPDATE turns SET at = at - 31 * 86400")
    state.commit()
    state.close()
    assert privacy("retain", "--dry-run").out == "would go: 1 kept turn\n"
    assert privacy("retain", "--json").document == {
        "dry_run": False,
        "entries": [],
        "state": {"turns": 1, "inbox": 0, "sent": 0},
        "held": {},
        "records": [],
    }
    monkeypatch.setenv("ATTEST_RETENTION_DAYS", "1")
    assert privacy("retain").err == "nothing is due\n"
    assert all(bodies()[name] for name in filled)


def test_what_is_known_of_a_person(privacy: Callable[..., Ran], filled: list[str]) -> None:
    heading, *lines, end = privacy("export", "--person", "ada").lines
    assert heading["person"] == "ada"
    assert [line.get("entry_id") or line["text"] for line in lines] == [filled[0], filled[2], "A shop of ada?"]
    assert end["end"] == {"entries": 2, "rows": 1, "shared_conversations": 0}


def test_what_is_handed_out_of_a_person_is_on_record_without_naming_them(
    privacy: Callable[..., Ran], filled: list[str]
) -> None:
    """Who has ledger and key finds out whom it was about; the digest outlasts the erasure of the person."""
    assert privacy("export", "--person", "ada").lines[-1]["end"]["entries"] > 0
    assert privacy("export", "--person", "Ada ").code == 0
    assert privacy("export", "--person", " ").code == 2

    async def exports() -> list[dict[str, Any]]:
        settings = load_settings()
        opened = SqlLedger(settings.files.home / "ledger.db", settings.files.ledger_key, read_only=True)
        return [entry.body async for entry in opened.entries(kinds=("export",))]

    one, two = asyncio.run(exports())
    assert (one["form"], one["complete"], one["entries"]) == ("attest-person-1", True, two["entries"])
    assert one["person"] == two["person"]
    assert len(one["person"]) == 16
    assert one["actor"]["user"] == operator().user


def test_mistakes_are_one_line(privacy: Callable[..., Ran], filled: list[str]) -> None:
    for arguments, said in (
        (("erase", *BECAUSE), "--entry ID"),
        (("erase", "--person", "ada"), "--reason"),
        (("erase", "--person", "ada", "--reason", " ", "--dry-run"), "--reason"),
        (("erase", "--person", "ada", "--reason", "for ada", "--yes"), "--reason must not"),
        (("erase", "--search", "xy", *BECAUSE), "--search"),
        (("erase", "--entry", "nope", *BECAUSE), "'nope' is not in the ledger"),
        (("hold", "--reason", "why"), "one thing to hold"),
        (("hold", "--person", "ada", "--entry", filled[0], "--reason", "why"), "one thing to hold"),
        (("hold", "--entry", "nope", "--reason", "why"), "'nope'"),
        (("release", "nope", "--reason", "why"), "no hold 'nope'"),
        (("export",), "--person"),
    ):
        ran = privacy(*arguments)
        assert (ran.code, len(ran.err.splitlines())) == (2, 1), (arguments, ran.err)
        assert said in ran.err


@pytest.mark.parametrize("command", ["holds", "retain", "erase --person ada --reason why", "export --person ada"])
def test_where_nothing_was_recorded(privacy: Callable[..., Ran], command: str, tmp_path: Path) -> None:
    ran = privacy(*command.split())
    assert (ran.code, "there is no ledger here" in ran.err) == (2, True)
    assert not load_settings().files.home.exists()


@pytest.fixture
def in_a_database(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The settings over a database with a turn; its id."""
    made(database_url, tmp_path)
    key = keys_in(tmp_path)
    monkeypatch.setenv("ATTEST_DATABASE_URL", database_url)
    monkeypatch.setenv("ATTEST_LEDGER_KEY_FILE", str(key))

    async def fill() -> str:
        ledger = SqlLedger(Postgres(database_url), key)
        body = {"schema": 2, "ask": {"question": "A shop?", "user": "ada"}, "reply": {"outcome": "answered"}}
        entry = await ledger.append("turn", body)
        await ledger.close()
        return entry.entry_id

    return asyncio.run(fill())


def test_in_a_database_it_says_until_when_backups_hold_what_was_erased(
    privacy: Callable[..., Ran], in_a_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert privacy("erase", "--entry", in_a_database, *BECAUSE, "--dry-run").err == ""
    monkeypatch.setenv("ATTEST_DATABASE_BACKUP_DAYS", "35")
    day = (datetime.now(UTC) + timedelta(days=35)).date().isoformat()
    document = privacy("erase", "--entry", in_a_database, *BECAUSE, "--dry-run", "--json").document
    assert document["database_backups_until"] == day
    done = privacy("erase", "--entry", in_a_database, *BECAUSE, "--yes")
    told = "backups, replicas and the log (WAL) of the database may hold it"
    assert (done.code, done.err) == (0, f"{told} until {day} (ATTEST_DATABASE_BACKUP_DAYS)\n")
    again = privacy("erase", "--entry", in_a_database, *BECAUSE, "--yes")
    assert told not in again.err  # nothing was erased


def test_without_the_setting_it_says_that_the_day_is_not_known(
    privacy: Callable[..., Ran], in_a_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = privacy("erase", "--entry", in_a_database, *BECAUSE, "--yes")
    assert done.err.endswith(
        "until when is not known here: ATTEST_DATABASE_BACKUP_DAYS says for how many days they are kept\n"
    )
    assert privacy("retain", "--json").document["database_backups_until"] is None
    monkeypatch.delenv("ATTEST_DATABASE_URL")
    monkeypatch.setenv("ATTEST_DATABASE_BACKUP_DAYS", "3")
    assert privacy("holds").err.startswith("attest: ATTEST_DATABASE_BACKUP_DAYS needs ATTEST_DATABASE_URL")


def test_files_of_a_home_say_nothing_of_backups(privacy: Callable[..., Ran], filled: list[str]) -> None:
    assert "database_backups_until" not in privacy("erase", "--person", "ada", *BECAUSE, "--dry-run", "--json").document
    assert privacy("erase", "--person", "ada", *BECAUSE, "--yes").err == ""
