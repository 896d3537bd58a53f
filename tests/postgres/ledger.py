"""Ledgers in the PostgreSQL of a test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from grounding.database import schema
from grounding.database.postgres import Postgres
from rai.ledger.checkpoints.checkpoint import load_signing_seed
from rai.ledger.databases.postgres import PART
from rai.ledger.key import load_key, signing_key_beside
from rai.ledger.store import SqlLedger


def made(url: str, worker: str | None = None) -> Postgres:
    """The database with the ledger's tables, which its owner makes; of whoever `url` says. `worker`: a role that gets a worker's rights."""
    database = Postgres(url)
    with database.writing(schema.LOCK) as connection:
        schema.upgrade(connection, [PART], worker)
    return database


def keys_in(folder: Path) -> Path:
    """The file of the ledger's key with that of the signing key beside it, as a worker is given them."""
    key = folder / "keys" / "ledger.key"
    load_key(key)
    load_signing_seed(signing_key_beside(key))
    return key


def ledger_in(url: str, folder: Path, **more: Any) -> SqlLedger:
    """A ledger whose tables are made if they are missing, with keys and anchor in `folder`."""
    return SqlLedger(made(url), keys_in(folder), **more)
