"""`attest refusals` over the real store: report, list, decide."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bot.cli import main
from bot.commands.shared.wiring import Wiring
from bot.settings.load import load_settings
from bot.settings.settings import Settings
from bot.system import System
from rai.ledger.store import SqlLedger
from tests.bot.commands.conftest import Ran
from tests.bot.commands.fakes import FakeWorld

BODY = {
    "ask": {"question": "How do I kill a process?", "user": "bella", "channel": "cli", "conversation": None},
    "reply": {"outcome": "blocked"},
    "screenings": [
        {
            "what": "question",
            "verdict": "block",
            "category": "violence",
            "rule": "VI-01",
            "score": 0.9,
            "threshold": 0.5,
        }
    ],
}


@pytest.fixture
def entry_id() -> str:
    """A refused turn in the store."""

    async def fill() -> str:
        settings = load_settings()
        settings.files.home.mkdir(parents=True)
        store = SqlLedger(settings.files.home / "ledger.db", settings.files.ledger_key)
        entry = await store.append("turn", BODY)
        await store.close()
        return entry.entry_id

    return asyncio.run(fill())


@pytest.fixture
def refusals(small: FakeWorld, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Callable[..., Ran]:
    async def compose(settings: Settings) -> System:
        store = await asyncio.to_thread(SqlLedger, settings.files.home / "ledger.db", settings.files.ledger_key)
        return replace(await small.compose(settings), ledger=store, close=store.close)

    def run(*arguments: str) -> Ran:
        capsys.readouterr()
        code = main(
            ["refusals", *arguments],
            lambda: Wiring(compose, small.open_ingester, small.open_history, small.open_record, small.open_ledger),
        )
        return Ran(code, *capsys.readouterr())

    return run


def test_a_report_goes_through_the_queue(refusals: Callable[..., Ran], entry_id: str) -> None:
    assert "no report matches" in refusals("list").err
    words = ("report", entry_id, "--as", "bella", "--comment", "on my computer", "--json")
    assert refusals(*words).document["new"] is True
    assert refusals(*words).document["new"] is False
    assert "VI-01" in refusals("list").out
    [found] = refusals("list", "--json").document["refusals"]
    assert (found["state"], found["rule"], found["score"], found["threshold"]) == ("open", "VI-01", 0.9, 0.5)
    assert (found["reported_by"], found["comment"], found["channel"]) == ("bella", "on my computer", "cli")
    assert refusals("decide", entry_id, "wrong", "--note", "honest").code == 0
    assert refusals("list", "--json").document["refusals"] == []
    [found] = refusals("list", "--state", "wrong", "--json").document["refusals"]
    assert (found["state"], found["note"], found["question"]) == ("wrong", "honest", "How do I kill a process?")


def test_mistakes_are_one_line(refusals: Callable[..., Ran], entry_id: str) -> None:
    for arguments, said in (
        (("report", entry_id), "no refused question of yours"),
        (("report", "nope", "--as", "bella"), "no refused question of yours"),
        (("decide", entry_id, "wrong"), "nobody reported this entry"),
        (("decide", entry_id, "maybe"), "allowed: right, wrong"),
        (("list", "--state", "closed"), "--state"),
    ):
        ran = refusals(*arguments)
        assert ran.code == 2
        assert said in ran.err
        assert len(ran.err.splitlines()) == 1
