"""What is costly to make, made once for the run: the first worker that needs it makes it, the others wait and find it."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

MEMORY = Path("/dev/shm")
"""The file system in memory that Linux has: a file there is synchronised and removed at once, on a disk that takes a millisecond or more."""
ROOM = 4 * 2**30
"""Bytes, twice what a run of the whole suite holds there at any time."""


def fits_in_memory() -> bool:
    """Whether what a run writes may lie in memory: there is room, and programs may be started from there."""
    if not os.access(MEMORY, os.W_OK):
        return False
    there = os.statvfs(MEMORY)
    free = min(there.f_bavail * there.f_frsize, psutil.virtual_memory().available // 2)
    return free >= ROOM and not there.f_flag & os.ST_NOEXEC


def base_of_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that all workers of the run share."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


def made_once(folder: Path, make: Callable[[Path], object]) -> Path:
    """`folder`, which `make` fills under another name first: whoever looks while it is made finds none. Nobody may write into it."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            making = folder.with_name(f"{folder.name}.making")
            shutil.rmtree(making, ignore_errors=True)  # of one that failed half-way: the next says why, too
            make(making)
            making.rename(folder)
    return folder
