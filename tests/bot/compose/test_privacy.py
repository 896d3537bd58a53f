"""What holds people's words is opened without the system that answers, and nothing is made for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.compose.privacy import open_stores, terms_of
from bot.privacy.retention import Terms
from bot.settings.load import load_settings
from grounding.errors import SettingsError, StoreError
from rai.embedded.quarantine import DecisionFile
from rai.ledger.store import SqlLedger
from rai.screening.quarantine import Decided


async def test_nothing_is_made(tmp_path: Path) -> None:
    settings = load_settings(home=tmp_path / "home", ledger_key_file=tmp_path / "keys" / "ledger.key")
    with pytest.raises(SettingsError, match="no ledger"):
        async with open_stores(settings):
            pass
    assert list(tmp_path.iterdir()) == []
    await SqlLedger(settings.files.home / "ledger.db", settings.files.ledger_key).close()
    async with open_stores(settings) as stores:
        assert stores.state is None
        assert await stores.notes.notes() == {}
        assert await stores.notes.forget(["a" * 12]) == 0
        assert await stores.ledger.flush()
    assert not {"state.db", "quarantine.db"} & {path.name for path in settings.files.home.iterdir()}


async def test_to_be_read_alone(tmp_path: Path) -> None:
    settings = load_settings(home=tmp_path / "home", ledger_key_file=tmp_path / "keys" / "ledger.key")
    await SqlLedger(settings.files.home / "ledger.db", settings.files.ledger_key).close()
    async with open_stores(settings, read_only=True) as stores:
        with pytest.raises(StoreError, match="read alone"):
            await stores.ledger.append("remove", {"schema": 2, "doc_id": "a.md"})


async def test_a_note_is_found_by_the_id_that_people_see(tmp_path: Path) -> None:
    settings = load_settings(home=tmp_path / "home", ledger_key_file=tmp_path / "keys" / "ledger.key")
    await SqlLedger(settings.files.home / "ledger.db", settings.files.ledger_key).close()
    decisions = DecisionFile(settings.files.home / "quarantine.db")
    decisions.keep("ab" * 32, Decided("released", "2026-11-01", "ours"))
    decisions.keep("cd" * 32, Decided("confirmed", "2026-11-01"))
    async with open_stores(settings) as stores:
        assert await stores.notes.notes() == {"ab" * 6: "ours"}
        assert await stores.notes.forget(["ab" * 6, "cd" * 6]) == 1
    assert decisions.decided(["ab" * 32])["ab" * 32] == Decided("released", "2026-11-01", "")


def test_terms_are_settings() -> None:
    assert terms_of(load_settings()) == Terms(None, 30)
    given = load_settings(retention_days="400", retention_kinds="feedback=90", state_days="7")
    assert terms_of(given) == Terms(400, 7, {"feedback": 90})
