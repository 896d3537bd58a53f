"""`attest ledger search` over the real store and the real index."""

from __future__ import annotations

import asyncio
import csv
import io
import json
from collections.abc import Callable
from copy import deepcopy

import pytest

from bot.cli import main
from bot.commands.shared.wiring import Wiring
from bot.compose.record import open_ledger, open_record
from bot.settings.load import load_settings
from rai.ledger.store import SqlLedger
from tests.bot.commands.conftest import Ran
from tests.bot.commands.fakes import FakeWorld
from tests.fakes.recorded_turn import recorded_turn

Ledger = Callable[..., Ran]
QUESTIONS = (("When do kettles arrive?", "ada"), ("Do you sell lamps?", "bo"), ("What does a kettle weigh?", "ada"))


@pytest.fixture
def ledger(small: FakeWorld, capsys: pytest.CaptureFixture[str]) -> Ledger:
    """Runs `attest ledger …` over a store with three turns; the first entry is the ledger's own."""

    async def fill() -> None:
        settings = load_settings()
        settings.files.home.mkdir(parents=True)
        store = SqlLedger(settings.files.home / "ledger.db", settings.files.ledger_key)
        for question, user in QUESTIONS:
            body = deepcopy(recorded_turn())
            body["ask"] |= {"question": question}
            body["actor"] |= {"user": user}
            await store.append("turn", body)
        await store.close()

    asyncio.run(fill())

    def run(*arguments: str) -> Ran:
        capsys.readouterr()
        wiring = Wiring(small.compose, small.open_ingester, small.open_history, open_record, open_ledger)
        code = main(["ledger", *arguments], lambda: wiring)
        return Ran(code, *capsys.readouterr())

    return run


def test_what_matches_is_listed_with_how_many_there_are(ledger: Ledger) -> None:
    ran = ledger("search", "kettle*")
    assert ran.code == 0
    assert "When do kettles arrive?" in ran.out
    assert "lamps" not in ran.out
    assert ran.err.strip() == "2 found (2 answered)"
    assert ledger("search", "teapot").err.strip() == "no entry matches"


def test_json_has_the_rows_the_counts_and_where_to_go_on(ledger: Ledger) -> None:
    found = ledger("search", "kettle*", "--user", "ada", "--limit", "1", "--json").document
    assert [row["question"] for row in found["entries"]] == ["What does a kettle weigh?"]
    assert (found["total"], found["counts"], found["more_than_counted"]) == (2, {"answered": 2}, False)
    more = ledger("search", "kettle*", "--user", "ada", "--before", str(found["before"]), "--json").document
    assert [row["question"] for row in more["entries"]] == ["When do kettles arrive?"]
    assert more["before"] is None


def test_all_of_it_goes_to_a_file(ledger: Ledger) -> None:
    rows = list(csv.DictReader(io.StringIO(ledger("search", "--kind", "turn", "--format", "csv").out)))
    assert [row["user"] for row in rows] == ["ada", "bo", "ada"]
    lines = ledger("search", "--document", "hours.md", "--status", "exact", "--format", "jsonl").out.splitlines()
    assert len(lines) == 3
    assert json.loads(lines[0])["documents"] == ["hours.md"]


def test_a_sample_can_be_drawn_again(ledger: Ledger) -> None:
    first = ledger("search", "--kind", "turn", "--sample", "1", "--by", "user", "--json").document
    assert {row["user"] for row in first["entries"]} == {"ada", "bo"}
    drawn = str(first["seed"])
    again = ledger("search", "--kind", "turn", "--sample", "1", "--by", "user", "--seed", drawn, "--json").document
    assert again == first
    ran = ledger("search", "--kind", "turn", "--sample", "1", "--by", "user", "--seed", drawn, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(ran.out)))
    assert [row["entry_id"] for row in rows] == [entry["entry_id"] for entry in first["entries"]]
    assert f"a sample: 1 of each user, picked by chance with the seed {drawn}" in ran.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--status", "odd"], "--status 'odd' is not known: allowed are unsupported, exact"),
        (["--claim", "odd"], "--claim 'odd' is not known"),
        (["--since", "yesterday"], "--since 'yesterday' is no day: allowed is one as 2026-11-25"),
        (["--by", "odd"], "--by 'odd' is not known"),
        (["--format", "xls"], "--format 'xls' is not known: allowed are table, csv, jsonl"),
        (["--version", "abc"], "--version narrows a document: name it with --document DOC"),
        (["--in-evidence"], "--in-evidence narrows a document"),
        (["x" * 300], "words is longer than the 200 characters that are allowed"),
    ],
)
def test_what_is_not_known_is_refused_in_one_line(ledger: Ledger, arguments: list[str], said: str) -> None:
    ran = ledger("search", *arguments)
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (2, "", 1)
    assert said in ran.err


def test_without_a_ledger_nothing_is_made(small: FakeWorld, capsys: pytest.CaptureFixture[str]) -> None:
    wiring = Wiring(small.compose, small.open_ingester, small.open_history, open_record, open_ledger)
    assert main(["ledger", "search", "x"], lambda: wiring) == 2
    assert "there is no ledger yet" in capsys.readouterr().err
    assert not (load_settings().files.home / "review.db").exists()
