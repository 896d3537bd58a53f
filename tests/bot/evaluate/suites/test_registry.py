"""Which suites a folder has data for."""

from __future__ import annotations

from pathlib import Path

from bot.evaluate.suites.registry import SUITES
from tests.bot.commands.conftest import Attest
from tests.bot.evaluate.labelled import write


def test_a_suite_without_data_is_skipped_in_all_and_refused_alone(attest: Attest, tmp_path: Path) -> None:
    write(tmp_path / "screen" / "a.jsonl", {"id": "1", "text": "x", "label": "allow"})
    ran = attest("eval", "all", "--data", str(tmp_path), "--json")
    assert ran.code == 0
    assert ran.err.count("skipped") == len(SUITES) - 1
    alone = attest("eval", "golden", "--data", str(tmp_path))
    assert alone.code == 2
    assert "golden.jsonl" in alone.err
    (tmp_path / "empty").mkdir()
    assert attest("eval", "all", "--data", str(tmp_path / "empty")).code == 2
