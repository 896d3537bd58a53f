"""Deployments over the PostgreSQL of a test: homes of their own, one database, one pair of keys."""

from __future__ import annotations

from pathlib import Path

from bot.compose.database import upgraded
from bot.settings.settings import Settings
from tests.e2e.processes import settings_over
from tests.postgres.ledger import keys_in


def server_over(url: str, home: Path, keys: Path, model: Path | None = None, **more: object) -> Settings:
    """The settings of one server of the database `url`. `keys`: the folder of the keys, which all servers have."""
    return settings_over(home, model, database_url=url, **more).changed(ledger_key_file=keys / "keys" / "ledger.key")


def made(url: str, keys: Path, worker: str | None = None) -> None:
    """Makes every table in the database, and the keys of its servers in a folder below `keys`. `worker`: a role that gets a server's rights."""
    keys_in(keys)
    upgraded(settings_over(keys / "owner", database_url=url), worker)
