"""Digests of what an entry names and does not hold."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from bot.events.digests import Digests, file_sha256


def test_equal_values_have_equal_digests_under_one_key(tmp_path: Path) -> None:
    key = tmp_path / "ledger.key"
    key.write_bytes(b"k" * 32)
    assert Digests(key).of("answer", 1) == Digests(key).of("answer", 1)
    assert Digests(key).of("answer", 1) != Digests(key).of("answer", "1")
    assert len(Digests(key).of(["a"])) == 16


def test_a_guess_cannot_be_tried_without_the_key(tmp_path: Path) -> None:
    """Neither is it the plain hash, nor that of another key, nor of the key of no file."""
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_bytes(b"1" * 32)
    two.write_bytes(b"2" * 32)
    found = {Digests(path).of("0170 1234567") for path in (one, two, tmp_path / "absent")}
    assert len(found) == 3
    assert hashlib.sha256(b'["0170 1234567"]').hexdigest()[:16] not in found
    assert Digests(tmp_path / "absent").of("x") == Digests(tmp_path / "absent").of("x")


def test_the_hash_of_a_file_is_what_others_compute(tmp_path: Path) -> None:
    file = tmp_path / "directory.yaml"
    assert file_sha256(file) is None
    file.write_bytes(b"users: {}\n" * 200_000)
    assert file_sha256(file) == hashlib.sha256(file.read_bytes()).hexdigest()
    with pytest.raises(OSError, match="directory"):
        file_sha256(tmp_path)
