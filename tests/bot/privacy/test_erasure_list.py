"""The list of erasures outside of a database: sealed line by line, without a name."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bot.events.digests import Digests
from bot.privacy.erasure_list import ErasureList, NotedErasure
from grounding.errors import InputError, StoreError

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


def test_what_stayed_is_noted_behind_it(noted: ErasureList) -> None:
    noted.note(1.5, ["a", "b"], [], [])
    noted.keep(2.5, ["b"])
    assert noted.read() == (NotedErasure(1.5, ("a", "b")), NotedErasure(2.5, stayed=("b",)))


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


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """No file may grow beyond that meanwhile: what does not fit is cut off, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_line_that_does_not_fit_is_refused_and_leaves_nothing(noted: ErasureList, tmp_path: Path) -> None:
    path = tmp_path / "list.jsonl"
    noted.note(1.5, ["01JD"], [], [])
    before = path.read_bytes()
    with (
        room_for(len(before) + 50),
        pytest.raises(StoreError, match=r"nothing was erased: the list of erasures, .*, cannot be written"),
    ):
        noted.note(2.5, ["01JE"], [], [])
    assert path.read_bytes() == before
    noted.note(3.5, ["01JF"], [], [])
    assert (noted.read(), noted.torn()) == ((NotedErasure(1.5, ("01JD",)), NotedErasure(3.5, ("01JF",))), ())


@pytest.mark.parametrize("length", [1, 60])
def test_a_line_of_whoever_was_killed_is_told_and_keeps_no_other_from_being_read(
    noted: ErasureList, tmp_path: Path, length: int
) -> None:
    path = tmp_path / "list.jsonl"
    noted.note(1.5, ["01JD"], [], [])
    path.write_bytes(path.read_bytes() + path.read_bytes()[:length])
    assert (noted.read(), noted.torn()) == ((NotedErasure(1.5, ("01JD",)),), (f"{path}: line 2",))
    noted.note(2.5, ["01JE"], [], [])
    assert noted.read() == (NotedErasure(1.5, ("01JD",)), NotedErasure(2.5, ("01JE",)))
    assert noted.torn() == (f"{path}: line 2",)


def test_a_line_that_lacks_its_end_alone_is_whole(noted: ErasureList, tmp_path: Path) -> None:
    path = tmp_path / "list.jsonl"
    noted.note(1.5, ["01JD"], [], [])
    path.write_bytes(path.read_bytes().removesuffix(b"\n"))
    noted.note(2.5, [], [], [])
    assert (noted.read(), noted.torn()) == ((NotedErasure(1.5, ("01JD",)), NotedErasure(2.5)), ())
