"""The key file and the anchor."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

from grounding.errors import SettingsError, StoreError
from rai.ledger.chain import GENESIS
from rai.ledger.key import Anchor, Mark, load_key

posix = pytest.mark.skipif(os.name != "posix", reason="file modes are a POSIX matter")


def test_a_key_is_made_once_with_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "ledger.key"
    key = load_key(path)
    assert len(key) == 32
    assert load_key(path) == key
    assert [p.name for p in path.parent.iterdir()] == ["ledger.key"]


@posix
def test_a_new_key_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    load_key(tmp_path / "k")
    assert (tmp_path / "k").stat().st_mode & 0o777 == 0o600


@posix
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660])
def test_a_key_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    load_key(tmp_path / "k")
    (tmp_path / "k").chmod(mode)
    with pytest.raises(SettingsError, match="read by others"):
        load_key(tmp_path / "k")


@pytest.mark.parametrize("text", ["", "xyz", "ab" * 31, "ab" * 33])
def test_a_file_that_is_no_key_is_refused_without_its_text(tmp_path: Path, text: str) -> None:
    (tmp_path / "k").write_text(text)
    (tmp_path / "k").chmod(0o600)
    with pytest.raises(SettingsError, match="not a ledger key") as caught:
        load_key(tmp_path / "k")
    assert not text or text not in str(caught.value).replace(str(tmp_path), "")


def test_many_starters_agree_on_one_key(tmp_path: Path) -> None:
    keys: list[bytes] = []
    threads = [threading.Thread(target=lambda: keys.append(load_key(tmp_path / "k"))) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(keys) == 16
    assert len(set(keys)) == 1


def test_an_anchor_says_what_was_written(tmp_path: Path) -> None:
    anchor = Anchor(load_key(tmp_path / "k"), tmp_path / "k", tmp_path / "store.db")
    assert anchor.read() is None
    anchor.start("one")
    assert anchor.read() == Mark(0, GENESIS, "one")
    anchor.start("two")  # the first was never written to
    assert anchor.read() == Mark(0, GENESIS, "two")
    anchor.write(Mark(7, "ab", "two"))
    anchor.start("three")
    assert anchor.read() == Mark(7, "ab", "two")


def test_an_anchor_cut_short_or_of_another_key_is_refused(tmp_path: Path) -> None:
    anchor = Anchor(load_key(tmp_path / "k"), tmp_path / "k", tmp_path / "store.db")
    anchor.write(Mark(7, "ab"))
    with pytest.raises(StoreError, match="altered"):
        Anchor(bytes(32), tmp_path / "k", tmp_path / "store.db").read()
    anchor.path.write_text(anchor.path.read_text()[:20])
    with pytest.raises(StoreError, match="altered"):
        anchor.read()


def test_an_anchor_of_another_place_is_refused(tmp_path: Path) -> None:
    key = load_key(tmp_path / "k")
    here, there = (Anchor(key, tmp_path / "k", tmp_path / name) for name in ("a.db", "b.db"))
    here.write(Mark(7, "ab", "one"))
    here.path.rename(there.path)
    with pytest.raises(StoreError, match="altered"):
        there.read()


def test_an_anchor_of_an_older_program_is_read_as_one_that_names_no_ledger(tmp_path: Path) -> None:
    anchor = Anchor(load_key(tmp_path / "k"), tmp_path / "k", tmp_path / "store.db")
    anchor.write(Mark(7, "ab"))
    assert json.loads(anchor.path.read_text()).keys() == {"count", "head", "mac"}
    assert anchor.read() == Mark(7, "ab", None)


def test_two_stores_have_two_anchors(tmp_path: Path) -> None:
    key = load_key(tmp_path / "k")
    assert Anchor(key, tmp_path / "k", tmp_path / "a.db").path != Anchor(key, tmp_path / "k", tmp_path / "b.db").path


def test_marks_that_a_killed_process_left_go_and_those_of_others_at_work_stay(tmp_path: Path) -> None:
    key = load_key(tmp_path / "k")
    anchor, other = (Anchor(key, tmp_path / "k", tmp_path / name) for name in ("a.db", "b.db"))
    left, fresh, of_another = anchor.prepare(Mark(7, "ab")), anchor.prepare(Mark(8, "cd")), other.prepare(Mark(1, "ef"))
    for path in (left, of_another):
        os.utime(path, (0, 0))
    anchor.tidy()
    assert [path.exists() for path in (left, fresh, of_another)] == [False, True, True]
