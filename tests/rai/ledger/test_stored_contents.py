"""Contents in a store: found again while they are what they were, stored anew otherwise."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from rai.ledger.store import SqlLedger
from tests.fakes.recorded_turn import recorded_turn


@pytest_asyncio.fixture
async def ledger(tmp_path: Path) -> AsyncIterator[SqlLedger]:
    opened = SqlLedger(tmp_path / "ledger.db", tmp_path / "ledger.key")
    yield opened
    await opened.close()


def _change(path: Path, seq: int, body: str) -> None:
    with sqlite3.connect(path) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f'DROP TRIGGER "{name}"')
        connection.execute("UPDATE entries SET body = ? WHERE seq = ?", (body, seq))
    connection.close()


async def _passage(ledger: SqlLedger) -> dict[str, object]:
    lines = [json.loads(line) async for line in ledger.export()]
    contents = [line for line in lines if line.get("kind") == "content" and isinstance(line["body"]["value"], dict)]
    found: dict[str, object] = next(line for line in contents if "text" in line["body"]["value"])
    return found


@pytest.mark.asyncio
@pytest.mark.parametrize("change", ["Sundays", "no JSON", "[" * 100_000, '{"value":NaN}', "[]"])
async def test_a_content_that_was_changed_is_told_and_never_used_again(
    ledger: SqlLedger, tmp_path: Path, change: str
) -> None:
    turn = await ledger.append("turn", recorded_turn())
    passage = await _passage(ledger)
    body = json.dumps(passage["body"], separators=(",", ":"), sort_keys=True)
    changed = body.replace("Saturdays", "Sundays") if change == "Sundays" else change
    assert changed != body
    _change(tmp_path / "ledger.db", int(str(passage["seq"])), changed)
    seen = await ledger.get(turn.entry_id)
    assert seen is not None
    assert "unreadable" in seen.body
    assert seen.body["ask"]["question"] == turn.body["ask"]["question"]
    later = await ledger.append("turn", recorded_turn())
    assert await ledger.get(later.entry_id) == later
    assert later.body == turn.body
    assert not (await ledger.verify()).ok


@pytest.mark.asyncio
async def test_two_writers_use_the_same_contents(ledger: SqlLedger, tmp_path: Path) -> None:
    other = SqlLedger(tmp_path / "ledger.db", tmp_path / "ledger.key")
    first = await ledger.append("turn", recorded_turn())
    second = await other.append("turn", recorded_turn())
    third = await ledger.append("turn", recorded_turn())
    assert (second.seq, third.seq) == (first.seq + 1, first.seq + 2)
    await other.close()
