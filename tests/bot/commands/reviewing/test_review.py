"""`attest review` over the real store and the real index."""

from __future__ import annotations

import asyncio
import csv
import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from bot.cli import main
from bot.commands.shared.wiring import Wiring
from bot.compose.record import open_ledger, open_record
from bot.evaluate.suites.turns.facts import turn_row
from bot.settings.load import load_settings
from bot.settings.settings import Settings
from bot.system import System
from rai.ledger.store import SqlLedger
from tests.bot.commands.conftest import Ran
from tests.bot.commands.fakes import FakeWorld
from tests.bot.desk.test_index import turn

Review = Callable[..., Ran]


@pytest.fixture
def review(small: FakeWorld, capsys: pytest.CaptureFixture[str]) -> Review:
    """Runs `attest review …` over a store with a withheld turn and two unanswered ones."""

    def store(settings: Settings) -> SqlLedger:
        return SqlLedger(settings.files.home / "ledger.db", settings.files.ledger_key)

    async def fill() -> None:
        settings = load_settings()
        settings.files.home.mkdir(parents=True)
        ledger = store(settings)
        withheld = turn("What does a kettle cost?", outcome="withheld")
        withheld["access"] = {"user": "ada", "groups": ["billing"]}
        await ledger.append("turn", withheld)
        for question in ("Do you ship to Iceland?", "shipping to Iceland"):
            await ledger.append("turn", turn(question, outcome="insufficient"))
        await ledger.close()

    async def compose(settings: Settings) -> System:
        ledger = store(settings)
        return replace(await small.compose(settings), ledger=ledger, close=ledger.close)

    asyncio.run(fill())

    def run(*arguments: str) -> Ran:
        capsys.readouterr()
        wiring = Wiring(compose, small.open_ingester, small.open_history, open_record, open_ledger)
        code = main(["review", *arguments], lambda: wiring)
        return Ran(code, *capsys.readouterr())

    return run


def test_a_turn_that_is_judged_leaves_the_queue_and_becomes_a_row(review: Review, tmp_path: Path) -> None:
    counts = review("queue", "--json").document["waiting"]
    assert {name: n for name, n in counts.items() if n} == {"withheld": 1, "unanswered": 2}
    (waiting,) = review("queue", "withheld", "--json").document["entries"]
    assert "kettle" in review("queue", "withheld").out
    said = ("--comment", "Ask Ms Zebedea Quill.", "--answer", "It costs €4.90.", "--wrong", "€5.90")
    entry = review("judge", waiting["entry_id"], "wrongly_refused", *said, "--json").document
    assert entry["body"]["correction"] == "It costs €4.90."
    assert "Quill" not in entry["body"]["comment"]
    assert review("queue", "withheld").err.strip() == "nothing waits for that reason"
    folder = tmp_path / "company"
    assert review("corrections", "--to", str(folder)).code == 0
    (row,) = map(json.loads, (folder / "turns.jsonl").read_text("utf-8").splitlines())
    assert turn_row(folder / "turns.jsonl", row).facts == (("€4.90",),)
    assert yaml.safe_load((folder / "directory.yaml").read_text("utf-8")) == {"users": {row["as"]: ["billing"]}}
    again = review("corrections", "--to", str(folder))
    assert (again.code, "is there already" in again.err) == (2, True)


def test_what_becomes_no_row_is_named(review: Review) -> None:
    (waiting,) = review("queue", "withheld", "--json").document["entries"]
    assert review("judge", waiting["entry_id"], "wrongly_refused").code == 0
    ran = review("corrections")
    assert ran.out == ""
    assert ran.err.strip() == f"left out: {waiting['entry_id']}: no corrected answer was given"


def test_unanswered_questions_are_listed_together(review: Review) -> None:
    (subject,) = review("unanswered", "--json").document["subjects"]
    assert (subject["times"], subject["question"]) == (2, "shipping to Iceland")
    (row,) = csv.DictReader(io.StringIO(review("unanswered", "--format", "csv").out, newline=""))
    assert row["other_wordings"] == "Do you ship to Iceland?"
    assert review("unanswered", "--until", "2020-01-01").err.strip() == "no question is unanswered"


def test_figures_are_those_of_the_days(review: Review) -> None:
    found = review("figures", "--json").document
    assert (found["by"], len(found["periods"])) == ("day", 30)
    assert found["outcome"]["Withheld"][-1] == 1
    assert found["unanswered"] == {"shipping to Iceland": [0] * 29 + [2]}
    assert "Not enough information" in review("figures", "--by", "week").out


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("queue", "boredom"), "struck, withheld"),
        (("judge", "x", "good"), "right, partly"),
        (("judge", "x", "right"), "no turn"),
        (("unanswered", "--since", "monday"), "--since"),
        (("unanswered", "--format", "xls"), "table, csv"),
        (("figures", "--by", "year"), "day, week"),
        (("figures", "--since", "2026-12-01", "--until", "2026-11-01"), "nothing lies between"),
    ],
)
def test_a_mistake_gets_one_line(review: Review, arguments: tuple[str, ...], named: str) -> None:
    ran = review(*arguments)
    assert ran.code == 2
    assert named in ran.err
    assert ran.err.count("\n") == 1
