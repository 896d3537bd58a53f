"""Stores of record in the PostgreSQL of a test."""

from __future__ import annotations

from grounding.database import schema
from grounding.database.postgres import Postgres
from grounding.store.databases.postgres import PART


def made(url: str, worker: str | None = None) -> Postgres:
    """The database with the store's tables, which its owner makes; of whoever `url` says. `worker`: a role that gets a worker's rights."""
    database = Postgres(url)
    with database.writing(schema.LOCK) as connection:
        schema.upgrade(connection, [PART], worker)
    return database
