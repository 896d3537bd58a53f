"""`attest doctor` as a whole."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing

import pytest

from bot.cli import main
from bot.commands.shared.wiring import Wiring
from bot.compose.record import open_ledger, open_record
from bot.settings.load import load_settings
from rai.ledger.store import SqlLedger
from tests.bot.commands.fakes import FakeWorld


def test_the_ledger_is_looked_at_before_anything_is_put_back(
    small: FakeWorld, capsys: pytest.CaptureFixture[str]
) -> None:
    files = load_settings().files
    store = files.home / "ledger.db"
    asyncio.run(SqlLedger(store, files.ledger_key).close())
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("DROP TRIGGER entries_no_update")

    def wiring() -> Wiring:
        return Wiring(small.compose, small.open_ingester, small.open_history, open_record, open_ledger)

    main(["doctor", "--json"], wiring)
    assert "the trigger entries_no_update, which refuses changes, is gone" in capsys.readouterr().out
    asyncio.run(SqlLedger(store, files.ledger_key).close())  # opened to write, it is put back
    main(["doctor", "--json"], wiring)
    assert "chain intact" in capsys.readouterr().out
