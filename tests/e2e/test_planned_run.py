"""Four ingest workers as processes over one database and one index in Azure AI Search, one of them killed: nothing is missing, nothing is there twice, hardly anything is sent again."""

from __future__ import annotations

import os
from pathlib import Path

from tests.bench.planned import AGAIN, CHANGED, filled

COUNT = int(os.environ.get("TEST_PLANNED", "1200"))
"""Passages: the bench takes 100,000."""


def test_four_workers_fill_an_index_and_one_is_killed(database_url: str, tmp_path: Path) -> None:
    found = filled(database_url, tmp_path / "run", COUNT)
    assert found.killed_in, "else nobody was killed in the middle of it"
    assert (found.missing, found.wrong) == (0, 0)
    assert found.again <= AGAIN * COUNT
    assert (found.told, found.heavy, found.texts) == (COUNT // CHANGED, 0, 0)
