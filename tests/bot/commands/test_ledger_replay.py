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
