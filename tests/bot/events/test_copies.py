"""What is recorded of copies and of what is made anew, and that the schema knows it."""

from __future__ import annotations

from pathlib import Path

from bot.events.copies import Exported, Rebuilt, record_backup, record_export, record_rebuild
from rai.entry_schema import changed
from tests.fakes.ledger import FakeLedger
from tests.filled import filled


async def test_each_names_who_and_what(tmp_path: Path) -> None:
    ledger = FakeLedger()
    await record_export(ledger, filled(Exported))
    await record_backup(ledger, tmp_path / "kb.db", 10, "ab" * 32)
    await record_rebuild(ledger, filled(Rebuilt))
    assert [e.kind for e in ledger.kept] == ["export", "backup", "rebuild"]
    for entry in ledger.kept:
        assert changed(entry.body, entry.kind, lambda text, _leaf: text.upper()) == entry.body, "structure alone"
        assert entry.body["actor"]["authenticated_by"] == "account"


async def test_a_backup_is_named_without_its_folder(tmp_path: Path) -> None:
    ledger = FakeLedger()
    entry = await record_backup(ledger, tmp_path / "kb.db", 10, None)
    assert entry.body["file"] == "kb.db"
    assert str(tmp_path) not in str(entry.body)
