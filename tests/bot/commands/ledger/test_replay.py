"""`attest ledger replay` over a real system."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from bot.cli import main
from bot.records import Ask
from bot.settings.load import load_settings
from tests.knowledge_base import PAGE, running, take_in_page


async def asked(folder: Path) -> str:
    await take_in_page(load_settings(), folder, lexical_only=True)
    async with running(load_settings()) as system:
        return (await system.answer(Ask("How much is Watch Plus a month?"), None)).entry_id


def test_differences_stand_side_by_side_and_decide_the_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = asyncio.run(asked(tmp_path / "kb"))
    capsys.readouterr()
    assert main(["ledger", "replay", entry]) == 0
    out = capsys.readouterr().out
    assert "as it was: What it ran on, Query, Passages and grades, Decision, Prompt, Check, Reply" in out
    assert "the answer is as it was" in out
    assert main(["ledger", "replay", entry, "--all"]) == 0
    assert "rank 1" in capsys.readouterr().out
    asyncio.run(take_in_page(load_settings(), tmp_path / "kb", PAGE.replace("$9.99", "$12.50"), lexical_only=True))
    assert main(["ledger", "replay", entry]) == 1
    out = capsys.readouterr().out
    assert "the answer is NOT as it was" in out
    assert "its text is another" in out
    assert "$12.50" in out
    assert main(["ledger", "replay", entry, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["same"], found["entry_id"], found["today"]["outcome"]) == (False, entry, "answered")
    assert "reply" in found["differing"]
    assert main(["ledger", "replay", "none-such"]) == 2
    assert "is not in the ledger" in capsys.readouterr().err


def test_all_of_a_time_are_replayed_and_those_that_differ_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = asyncio.run(asked(tmp_path / "kb"))
    capsys.readouterr()
    assert main(["ledger", "replay", "--since", "2020-01-01"]) == 0
    assert "0 of 1 turns would be different today" in capsys.readouterr().err
    asyncio.run(take_in_page(load_settings(), tmp_path / "kb", PAGE.replace("$9.99", "$12.50"), lexical_only=True))
    assert main(["ledger", "replay", "--document", "plans.md"]) == 1
    ran = capsys.readouterr()
    assert entry in ran.out
    assert "1 of 1 turns would be different today" in ran.err
    assert main(["ledger", "replay", "--outcome", "answered", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    (turn,) = found["entries"]
    assert (turn["entry_id"], turn["same"], turn["then"], turn["now"]) == (entry, False, "answered", "answered")
    assert any(line.startswith("+") and "$12.50" in line for line in turn["lines"])
    assert (found["differing"], found["before"]) == (1, None)
    assert main(["ledger", "replay", "--document", "plans"]) == 2
    assert "no document has or had the id 'plans'; did you mean plans.md?" in capsys.readouterr().err
    assert main(["ledger", "replay", "--until", "2020-01-01"]) == 0
    assert "no turn matches" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "nothing is named: allowed are ENTRY, --since DAY"),
        (["--since", "monday"], "--since 'monday' is no day"),
        (["--outcome", "odd"], "--outcome 'odd' is not known: allowed are answered"),
        (["--since", "2026-11-01", "--ask-model"], "--ask-model is for one ENTRY"),
        (["01JD3Z", "--since", "2026-11-01"], "ENTRY and a search are two things"),
        (["01JD3Z", "--limit", "3"], "ENTRY and a search are two things"),
        (["--since", "2026-11-01", "--all"], "--all is for one ENTRY"),
        (["--since", "2026-11-02", "--until", "2026-11-01"], "nothing lies between"),
    ],
)
def test_a_replay_of_nothing_is_refused_in_one_line(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ledger", "replay", *arguments]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1
