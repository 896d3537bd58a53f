"""`attest ledger affected` over a real system."""

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


def test_claims_that_no_longer_stand_are_named_and_end_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = asyncio.run(asked(tmp_path / "kb"))
    capsys.readouterr()
    assert main(["ledger", "affected", "plans.md"]) == 0
    assert "no answer quotes a document that has changed or gone" in capsys.readouterr().err
    asyncio.run(take_in_page(load_settings(), tmp_path / "kb", PAGE.replace("$9.99", "$12.50"), lexical_only=True))
    assert main(["ledger", "affected", "plans.md"]) == 1
    ran = capsys.readouterr()
    assert entry in ran.out
    assert "✗ money “$9.99” was exact, is" in ran.out
    assert "1 answers stood on text that is no longer there, 1 of them with claims" in ran.err
    assert main(["ledger", "affected", "--since", "2020-01-01", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [d["doc_id"] for d in found["documents"]] == ["plans.md"]
    (turn,) = found["entries"]
    assert (turn["entry_id"], turn["documents"]) == (entry, {"plans.md": "changed"})
    assert any(claim["unsupported"] and claim["text"] == "$9.99" for claim in turn["no_longer_supported"])
    assert (found["untouched"], found["before"]) == (0, None)
    assert main(["ledger", "affected", "--since", "2199-01-01"]) == 0
    capsys.readouterr()
    for wrong, meant in (("plans", "; did you mean plans.md?"), ("nope.md", ": see attest documents list")):
        assert main(["ledger", "affected", wrong]) == 2
        assert f"no document has or had the id '{wrong}'{meant}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [([], "nothing is named: allowed are a document's id, --since DAY"), (["--since", "x"], "--since 'x' is no day")],
)
def test_what_says_nothing_is_refused(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ledger", "affected", *arguments]) == 2
    assert said in capsys.readouterr().err
