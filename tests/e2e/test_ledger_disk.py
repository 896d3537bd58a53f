"""The ledger on a disk that is full, has no inode left, or may not be written: what was acknowledged is there, nothing else is, and it goes on afterwards.

The disks are file systems of a few megabytes, which only root may mount.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession

from bot.commands.ingest.sample import place_sample_directory
from bot.settings.load import SAMPLE
from grounding.errors import StoreError
from rai.ledger.databases.sqlite import LEAST_FREE
from rai.ledger.store import SqlLedger
from tests.e2e.processes import address_of, environment_of, settings_over, started
from tests.knowledge_base import take_in

CLIENTS, INODES, SMALL, FOR_A_HOME = 4, 40, 6, 24
QUESTION = "How many devices can connect to a Wren X1?"
Mount = Callable[..., Path]


@pytest.fixture
def mount(tmp_path: Path) -> Iterator[Mount]:
    """Mounts a file system of `size` MiB and `inodes`, or with `bind` a folder once more over itself."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("mounting a small file system takes root")
    mounted: list[Path] = []

    def mount(name: str, size: int = SMALL, inodes: int = 0, *, bind: bool = False) -> Path:
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        what = ["--bind", str(folder)] if bind else ["-t", "tmpfs", "-o", f"size={size}m,nr_inodes={inodes}", "tmpfs"]
        done = subprocess.run(["mount", *what, str(folder)], capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"this machine mounts nothing: {done.stderr.strip()}")
        mounted.append(folder)
        return folder

    yield mount
    for folder in reversed(mounted):
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def remount(folder: Path, how: str, *, bind: bool = True) -> None:
    """`how` is ro or rw."""
    options = f"remount,{how},bind" if bind else f"remount,{how}"
    subprocess.run(["mount", "-o", options, str(folder)], check=True)


def fill(folder: Path, leave: int) -> Path:
    """A file that takes all but `leave` bytes of the disk."""
    ballast = folder / "ballast"
    with ballast.open("wb") as file, suppress(OSError):
        while (free := shutil.disk_usage(folder).free - leave) > 0:
            file.write(b"x" * min(free, 1 << 16))
            file.flush()
    return ballast


def use_up_inodes(folder: Path) -> list[Path]:
    made = [folder / f"empty{n}" for n in range(INODES)]
    with suppress(OSError):
        for path in made:
            path.touch()
    return made


async def write(ledger: SqlLedger, acknowledged: set[str], most: int = 10_000) -> str:
    """Appends until it fails, from several clients; what a failure said, empty if there was none."""

    async def client() -> str:
        for _ in range(most):
            try:
                entry = await ledger.append("turn", {"reply": {"answer": "sixty-four " * 800}})
            except StoreError as error:
                return str(error)
            acknowledged.add(entry.entry_id)
        return ""

    return max(await asyncio.gather(*(client() for _ in range(CLIENTS))))


async def turns(ledger: SqlLedger) -> set[str]:
    found = await ledger.verify()
    assert found.ok, found.why
    return {entry.entry_id async for entry in ledger.entries() if entry.kind == "turn"}


async def assert_refused(ledger: SqlLedger, acknowledged: set[str], why: str) -> None:
    """An entry is refused with the reason, which readiness tells too, and none is stored but those that were acknowledged."""
    with pytest.raises(StoreError, match=why):
        await ledger.append("turn", {"reply": {"answer": "lost " * 20_000}})
    with pytest.raises(StoreError, match=why):
        await ledger.probe()
    assert await turns(ledger) == acknowledged


async def assert_goes_on(ledger: SqlLedger, acknowledged: set[str]) -> None:
    await ledger.probe()
    assert await write(ledger, acknowledged, most=3) == ""
    assert await turns(ledger) == acknowledged
    await ledger.close()


@pytest.mark.parametrize("where", ["store", "anchor", "both"])
async def test_a_disk_that_fills_while_several_write(mount: Mount, tmp_path: Path, where: str) -> None:
    disk = mount("disk")
    home, keys = (disk if where in (part, "both") else tmp_path for part in ("store", "anchor"))
    ledger, acknowledged = SqlLedger(home / "ledger.db", keys / "keys" / "ledger.key"), set[str]()
    if where == "anchor":  # an anchor alone fills nothing
        assert await write(ledger, acknowledged, most=5) == ""
    ballast = fill(disk, 0 if where == "anchor" else LEAST_FREE)
    assert await write(ledger, acknowledged)
    assert acknowledged
    await assert_refused(ledger, acknowledged, "full|No space left on device")
    ballast.unlink()
    await assert_goes_on(ledger, acknowledged)


async def test_a_disk_without_inodes(mount: Mount) -> None:
    disk = mount("disk", inodes=INODES)
    ledger, acknowledged = SqlLedger(disk / "ledger.db", disk / "keys" / "ledger.key"), set[str]()
    assert await write(ledger, acknowledged, most=3) == ""
    made = use_up_inodes(disk)
    await assert_refused(ledger, acknowledged, r"anchor cannot be written \(No space left on device\)")
    for path in made:
        path.unlink(missing_ok=True)
    await assert_goes_on(ledger, acknowledged)


async def test_an_anchor_in_a_folder_that_may_not_be_written(mount: Mount, tmp_path: Path) -> None:
    keys = mount("keys", bind=True)
    ledger, acknowledged = SqlLedger(tmp_path / "ledger.db", keys / "ledger.key"), set[str]()
    assert await write(ledger, acknowledged, most=3) == ""
    remount(keys, "ro")
    await assert_refused(ledger, acknowledged, r"anchor cannot be written \(Read-only file system\)")
    remount(keys, "rw")
    await assert_goes_on(ledger, acknowledged)


async def test_a_store_in_a_folder_that_may_not_be_written(mount: Mount, tmp_path: Path) -> None:
    """It can be read and verified; who would write is refused at the start."""
    disk, key = mount("disk"), tmp_path / "keys" / "ledger.key"
    ledger, acknowledged = SqlLedger(disk / "ledger.db", key), set[str]()
    assert await write(ledger, acknowledged, most=3) == ""
    await ledger.close()
    remount(disk, "ro", bind=False)
    with pytest.raises(StoreError, match="the ledger cannot be used"):
        SqlLedger(disk / "ledger.db", key)
    reading = SqlLedger(disk / "ledger.db", key, read_only=True)
    assert await turns(reading) == acknowledged
    await reading.close()
    remount(disk, "rw", bind=False)
    await assert_goes_on(SqlLedger(disk / "ledger.db", key), acknowledged)


async def test_a_server_whose_disk_is_full(mount: Mount) -> None:
    """Callers get the notice and no answer, readiness the reason; then turns go on."""
    disk = mount("disk", FOR_A_HOME)
    home = disk / "home"
    settings = settings_over(home)
    place_sample_directory(settings)
    await take_in(settings, SAMPLE / "kb")
    env = environment_of(home) | {"ATTEST_RATE_PER_MINUTE": "100000"}
    answered: set[str] = set()
    with started("serve", "--port", "0", "--json", env=env, cwd=disk.parent) as process:
        base = await asyncio.to_thread(address_of, process)
        async with ClientSession() as session:

            async def ask() -> dict[str, Any]:
                async with session.post(f"{base}/api/ask", json={"question": QUESTION}) as response:
                    said = dict(await response.json())
                if said.get("outcome") == "answered":
                    answered.add(str(said["entry_id"]))
                return said

            assert (await ask())["outcome"] == "answered"
            ballast = fill(disk, 0)
            refused = [
                said for said in await asyncio.gather(*(ask() for _ in range(20))) if said["outcome"] != "answered"
            ]
            assert refused
            assert {(said["outcome"], said["code"]) for said in refused} == {("failed", "ledger_unavailable")}
            async with session.get(f"{base}/readyz") as response:
                assert response.status == 503
                assert "ledger" in (await response.json())["reasons"]
            ballast.unlink()
            async with session.get(f"{base}/readyz") as response:
                assert response.status == 200, await response.text()
            assert (await ask())["outcome"] == "answered"
    ledger = SqlLedger(home / "ledger.db", settings.files.ledger_key, read_only=True)
    stored = [entry async for entry in ledger.entries() if entry.kind == "turn"]
    assert {e.entry_id for e in stored if e.body["reply"]["outcome"] == "answered"} == answered
    assert (await ledger.verify()).ok
    await ledger.close()
