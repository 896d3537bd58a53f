"""`attest ingest`: what it takes, and what the sample brings along."""

from __future__ import annotations

from pathlib import Path

from tests.bot.commands.conftest import Attest
from tests.bot.commands.fakes import FakeWorld


def test_a_rebuild_needs_no_path_and_a_watch_does(attest: Attest, small: FakeWorld, tmp_path: Path) -> None:
    assert attest("ingest", "--rebuild", "--json").document == {"rebuilt": True}
    assert small.ingests == []
    assert attest("ingest", "--rebuild", str(tmp_path)).code == 0
    assert len(small.ingests) == 1
    assert attest("ingest", "--watch", "--rebuild").code == 2


def test_the_people_of_the_sample_stay_out_of_your_own_knowledge_base(attest: Attest, tmp_path: Path) -> None:
    (tmp_path / "kb").mkdir()
    (tmp_path / "kb" / "a.md").write_text("x", "utf-8")
    assert attest("ingest", str(tmp_path / "kb")).code == 0
    assert not (tmp_path / "home" / "directory.yaml").exists()
