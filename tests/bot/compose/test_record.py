"""The record is read without the system that writes it, and nothing is made for it."""

from __future__ import annotations

from pathlib import Path

from bot.compose.record import open_ledger, open_record
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


async def test_the_record_is_opened_to_write_without_a_system(tmp_path: Path) -> None:
    settings = load_settings(home=tmp_path / "home", ledger_key_file=tmp_path / "keys" / "ledger.key")
    writer = SqlLedger(settings.files.home / "ledger.db", settings.files.ledger_key)
    await writer.append("start", {"schema": 2, "program": "1"})
    await writer.close()
    async with open_ledger(settings, writes=True) as found:
        entry = await found.ledger.append("stop", {"schema": 2, "start": None, "signal": None})
    async with open_record(settings) as ledger:
        assert await ledger.get(entry.entry_id) == entry
