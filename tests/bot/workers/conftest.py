"""The state that processes share, in a file and in PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.postgres.state import Opener, opener, shared


@pytest.fixture(params=["sqlite", "postgres"])
async def another(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Opener]:
    """Opens the same state once more, as another process does."""
    place = tmp_path / "state.db" if request.param == "sqlite" else shared(request.getfixturevalue("database_url"))
    async with opener(place) as open_one:
        yield open_one
