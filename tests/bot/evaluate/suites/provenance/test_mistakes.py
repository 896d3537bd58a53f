"""What the check got wrong, written to a file."""

from __future__ import annotations

from pathlib import Path

from tests.bot.commands.conftest import Attest
from tests.bot.evaluate.labelled import checked, write


def test_a_file_of_mistakes_that_cannot_be_written_is_named(attest: Attest, tmp_path: Path) -> None:
    write(tmp_path / "provenance" / "m.jsonl", checked("1", "fine", "supported"))
    where = str(tmp_path / "no" / "folder.jsonl")
    ran = attest("eval", "provenance", "--data", str(tmp_path), "--mutations", "0", "--errors", where)
    assert (ran.code, where in ran.err) == (2, True)
