"""Where what lies beside the knowledge base is kept in a test: a file, or tables in its PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from grounding.database import schema
from grounding.database.postgres import Postgres
from grounding.database.schema import SchemaPart
from grounding.store.side import Place

Places = Callable[[], Place]
"""Gives the place once more, as another worker has it."""


def made(url: str, part: SchemaPart, worker: str | None = None) -> Postgres:
    """The database with the tables of `part`, which its owner makes; of whoever `url` says. `worker`: a role that gets a worker's rights."""
    database = Postgres(url)
    with database.writing(schema.LOCK) as connection:
        schema.upgrade(connection, [part], worker)
    return database


@contextmanager
def places(request: pytest.FixtureRequest, file: Path, part: SchemaPart) -> Iterator[Places]:
    """The place that the parameter of a fixture says: "sqlite" or "postgres"."""
    if request.param == "sqlite":
        yield lambda: file
        return
    url = request.getfixturevalue("database_url")
    databases = [made(url, part)]

    def another() -> Place:
        databases.append(Postgres(url))
        return databases[-1]

    yield another
    for database in databases:
        database.close()
