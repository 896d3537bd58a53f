"""Checkpoints in a folder: whole or not there, for others to read, and never in a folder of our own making."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from grounding.errors import StoreError
from rai.embedded.checkpoint_folder import FolderSink

posix = pytest.mark.skipif(os.name != "posix", reason="file modes are a POSIX matter")


@posix
async def test_a_checkpoint_is_for_others_to_read(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        await FolderSink(tmp_path).put("a-1.txt", "one — two")
    finally:
        os.umask(before)
    assert (tmp_path / "a-1.txt").stat().st_mode & 0o777 == 0o644
    assert (tmp_path / "a-1.txt").read_text("utf-8") == "one — two"
    assert [path.name for path in tmp_path.iterdir()] == ["a-1.txt"]


async def test_a_folder_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    """It may be a share that is not mounted."""
    for sink in (FolderSink(tmp_path / "share"), FolderSink(tmp_path / "share" / "deep")):
        with pytest.raises(StoreError, match="is no folder; make it, or mount it"):
            await sink.put("a-1.txt", "one")
        with pytest.raises(StoreError, match="is no folder"):
            await sink.newest("a-")
    assert not list(tmp_path.iterdir())


async def test_where_a_file_has_one_name_alone_it_is_written_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some shares know no hard links."""

    def refuse(*_names: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    sink = FolderSink(tmp_path)
    assert await sink.put("a-1.txt", "one") == "one"
    assert await sink.put("a-1.txt", "two") == "one"
    assert [path.name for path in tmp_path.iterdir()] == ["a-1.txt"]


async def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match="no space left on device"):
        await FolderSink(tmp_path).put("a-1.txt", "one")
    assert not list(tmp_path.iterdir())
