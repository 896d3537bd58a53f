"""Files of 32 secret bytes. How the key of the ledger's chain uses them: test_key.py."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from grounding.errors import SettingsError
from rai.ledger.secret_file import load_secret, write_durably

posix = pytest.mark.skipif(os.name != "posix", reason="file modes are a POSIX matter")


def load(path: Path, missing: str = "") -> bytes:
    return load_secret(path, label="the third key", is_called="a third key", missing=missing)


def test_a_secret_is_made_once(tmp_path: Path) -> None:
    made = load(tmp_path / "new" / "s")
    assert len(made) == 32
    assert load(tmp_path / "new" / "s") == made
    assert [p.name for p in (tmp_path / "new").iterdir()] == ["s"]


def test_one_that_may_not_be_made_is_missed(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        load(tmp_path / "s", missing="put it back")
    assert str(caught.value) == f"the third key: {tmp_path / 's'} is missing, put it back"
    assert not list(tmp_path.iterdir())


@posix
def test_one_that_others_can_read_is_refused(tmp_path: Path) -> None:
    load(tmp_path / "s")
    assert (tmp_path / "s").stat().st_mode & 0o777 == 0o600
    (tmp_path / "s").chmod(0o644)
    with pytest.raises(SettingsError, match=r"^the third key: .* can be read by others \(mode 0644\)"):
        load(tmp_path / "s")


@pytest.mark.parametrize("text", ["", "xyz", "ab" * 31, "ab" * 33])
def test_a_file_that_holds_something_else_is_refused(tmp_path: Path, text: str) -> None:
    write_durably(tmp_path / "s", text)
    with pytest.raises(SettingsError, match=r"^the third key: .* is not a third key; it holds 64 hex digits$"):
        load(tmp_path / "s")


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(SettingsError, match=r"^the third key: .* cannot be"):
        load(tmp_path / "file" / "s")


def test_what_is_there_is_not_written_over(tmp_path: Path) -> None:
    write_durably(tmp_path / "s", "one")
    with pytest.raises(FileExistsError):
        write_durably(tmp_path / "s", "two")
    assert (tmp_path / "s").read_text() == "one"


def test_a_disk_that_takes_a_part_gets_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: whole(handle, bytes(data)[:3]))
    write_durably(tmp_path / "s", "one and another")
    assert (tmp_path / "s").read_text() == "one and another"
