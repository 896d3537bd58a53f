"""Checkpoints in a folder: whole or not there, for others to read, and never in a folder of our own making."""

from __future__ import annotations

import asyncio
import errno
import os
import threading
from pathlib import Path
from typing import Any

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


@posix
async def test_a_pipe_under_the_name_of_a_checkpoint_keeps_nobody_waiting(tmp_path: Path) -> None:
    """It is no checkpoint, and whoever reads it would wait for somebody to write into it."""
    os.mkfifo(tmp_path / "a-1.txt")
    sink = FolderSink(tmp_path, answer_s=5)
    async with asyncio.timeout(4):
        assert await sink.read("a-1.txt") == ""
        assert await sink.put("a-1.txt", "one") == ""


async def test_a_folder_that_does_not_answer_is_told_and_holds_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of a share whose server is gone. It is not asked again while it still owes an answer, and again once it has given it."""
    sink = FolderSink(tmp_path, answer_s=0.05)
    answers, asked = threading.Event(), list[str]()

    def hangs(folder: Path) -> Any:
        asked.append(str(folder))
        answers.wait(10)
        raise OSError(errno.ESTALE, "stale file handle")

    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", hangs)
        with pytest.raises(StoreError, match=r"does not answer within 0.05 s"):
            await sink.newest("a-")
        with pytest.raises(StoreError, match="still does not answer"):
            await sink.read("a-1.txt")
    assert asked == [str(tmp_path)]
    waiting = next(thread for thread in threading.enumerate() if thread.name == "checkpoint-folder")
    assert waiting.daemon  # else the process would not end
    answers.set()
    waiting.join(5)
    assert await sink.newest("a-") is None
