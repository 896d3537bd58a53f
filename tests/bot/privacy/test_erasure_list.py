"""The list of erasures outside of a database: sealed line by line, without a name."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.events.digests import Digests
from bot.privacy.erasure_list import ErasureList, NotedErasure
from grounding.errors import InputError

PLACE = ("msteams", "a:1")


@pytest.fixture
def noted(tmp_path: Path) -> ErasureList:
    key = tmp_path / "ledger.key"
    key.write_text("00" * 32)
    return ErasureList(tmp_path / "list.jsonl", Digests(key).of)


def test_what_was_noted_is_read_in_order(noted: ErasureList, tmp_path: Path) -> None:
    assert noted.read() == ()
    noted.note(1.5, ["01JD"], [PLACE], ["p1"])
    noted.note(2.5, [], [], [])
    assert noted.read() == (NotedErasure(1.5, ("01JD",), (noted.digest(PLACE),), ("p1",)), NotedErasure(2.5))
    assert (tmp_path / "list.jsonl").stat().st_mode & 0o777 == 0o600
    assert "a:1" not in (tmp_path / "list.jsonl").read_text()
    assert noted.digest(PLACE) != noted.digest(("msteams", "a:2"))


@pytest.mark.parametrize("line", ["", "[]", "nonsense", '{"at": 1, "entries": ["x"], "places": [], "notes": []}', "é"])
def test_a_line_that_nobody_sealed_is_refused(noted: ErasureList, tmp_path: Path, line: str) -> None:
    noted.note(1.5, ["01JD"], [], [])
    path = tmp_path / "list.jsonl"
    path.write_text(f"{path.read_text()}{line}\n", "utf-8")
    with pytest.raises(InputError, match="line 2 is not as it was written with this ledger key"):
        noted.read()
    path.write_text(path.read_text().replace("01JD", "01JE"), "utf-8")
    with pytest.raises(InputError, match="line 1 is not"):
        noted.read()


def test_another_key_reads_nothing_of_it(noted: ErasureList, tmp_path: Path) -> None:
    noted.note(1.5, ["01JD"], [], [])
    key = tmp_path / "other.key"
    key.write_text("11" * 32)
    with pytest.raises(InputError, match="line 1 is not"):
        ErasureList(tmp_path / "list.jsonl", Digests(key).of).read()
