"""The record is read without the system that writes it, and nothing is made for it."""

from __future__ import annotations

from pathlib import Path

from bot.compose.record import open_record
from bot.settings.load import load_settings
from rai.ledger.store import SqlLedger


async def test_the_record_is_read_and_nothing_is_made(tmp_path: Path) -> None:
    settings = load_settings(home=tmp_path / "home", ledger_key_file=tmp_path / "keys" / "ledger.key")
    async with open_record(settings) as ledger:
        assert (await ledger.verify()).entries == 0
    assert list(tmp_path.iterdir()) == []
    writer = SqlLedger(settings.files.home / "ledger.db", settings.files.ledger_key)
    entry = await writer.append("turn", {"n": 1})
    await writer.close()
    async with open_record(settings) as ledger:
        assert await ledger.get(entry.entry_id) == entry
