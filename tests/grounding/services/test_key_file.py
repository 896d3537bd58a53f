"""A key in a file: read, followed, and kept where its file is spoiled."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from grounding.errors import SettingsError
from grounding.services.key_file import KeyFile


def write(path: Path, text: str) -> None:
    """Replace a file as secrets are replaced: another file under its name."""
    fresh = path.with_suffix(".fresh")
    fresh.write_text(text, "utf-8")
    fresh.replace(path)


def test_a_key_is_read_again_when_its_file_changes(tmp_path: Path) -> None:
    path = tmp_path / "key"
    write(path, "one\n")
    key = KeyFile(path, "key_file")
    assert key.current() == "one"
    write(path, "two\n")
    assert key.current() == "two"


@pytest.mark.parametrize("spoiled", ["", "two words", "smart “quotes”"])
def test_a_spoiled_file_keeps_the_key_before_and_is_told_once(
    spoiled: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "key"
    write(path, "canary-one")
    key = KeyFile(path, "key_file")
    write(path, spoiled)
    with caplog.at_level(logging.WARNING, "attest"):
        assert [key.current(), key.current()] == ["canary-one"] * 2
    assert len(caplog.records) == 1
    assert "canary" not in caplog.text
    assert "quotes" not in caplog.text


def test_a_file_that_is_gone_keeps_the_key_and_its_return_counts(tmp_path: Path) -> None:
    path = tmp_path / "key"
    write(path, "one")
    key = KeyFile(path, "key_file")
    path.unlink()
    assert key.current() == "one"
    write(path, "two")
    assert key.current() == "two"


@pytest.mark.parametrize(
    ("text", "said"), [(None, "no such file"), ("", "is empty"), ("a b", "characters that no key")]
)
def test_without_a_key_at_the_start_it_is_one_line(text: str | None, said: str, tmp_path: Path) -> None:
    path = tmp_path / "key"
    if text is not None:
        write(path, text)
    with pytest.raises(SettingsError, match=said) as caught:
        KeyFile(path, "chat sweden: key_file")
    assert "chat sweden: key_file" in str(caught.value)
    assert "\n" not in str(caught.value)
