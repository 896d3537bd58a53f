"""Entries of a server's life: start and stop, settings that are others than at the start before, and changes of who belongs to which group."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal as signals
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.events.digests import Digests, file_sha256
from bot.operator import operator
from bot.settings.settings import PLACES, Settings
from bot.settings.versions import ELSEWHERE, settings_hash
from bot.system import System
from grounding.errors import AttestError, StoreError
from grounding.records import plain
from rai.entry_schema import NAME, SCHEMA
from rai.ports import Ledger
from rai.records import Entry

LOG = logging.getLogger("attest")
START, STOP, SETTINGS, DIRECTORY = "start", "stop", "settings", "directory"
WATCH_S = 2.0
"""Seconds between two looks at the file of groups."""
UNREADABLE = "unreadable"
PUBLISH_S = 5.0
"""Seconds that the last checkpoint may take."""


@dataclass(slots=True)
class Run:
    """A server that runs; whoever stops it says by which signal."""

    signal: int | None = None


@contextlib.asynccontextmanager
async def recorded_run(system: System, worker: int = 1, workers: int = 1) -> AsyncIterator[Run]:
    """Record the start of a process that serves, and at the end its stop; one that is killed leaves no stop.

    The first of several processes also records what is new since the last start, and watches the file of groups. A ledger that cannot be
    written is said in the log and stops nobody: without it no turn is answered, and `/readyz` says so.
    """
    run = Run()
    watch = DirectoryWatch(system.ledger, groups_file(system.settings))
    start = await _logged(_begin(system, watch, worker, workers), "the start")
    task = asyncio.create_task(watch.run(), name="directory-watch") if worker == 1 else None
    try:
        yield run
    finally:
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        if await _logged(_end(system.ledger, start, run), "the stop") is not None:
            await _publish(system)


async def _publish(system: System) -> None:
    """A checkpoint that covers the stop too, where checkpoints are published."""
    if system.checkpoints is None:
        return
    try:
        async with asyncio.timeout(PUBLISH_S):
            await system.checkpoints.publish()
    except (AttestError, TimeoutError) as error:
        LOG.error("the last checkpoint could not be published: %s", str(error) or f"no answer in {PUBLISH_S:g} s")  # noqa: TRY400 - one line is enough


async def _logged(work: Any, what: str) -> Entry | None:
    try:
        entry: Entry = await work
    except StoreError as error:
        LOG.error("%s could not be recorded: %s", what, error)  # noqa: TRY400 - one line is enough
        return None
    return entry


async def _begin(system: System, watch: DirectoryWatch, worker: int, workers: int) -> Entry:
    """The entry of the start, after which come those of what is new since the last one."""
    ledger, settings = system.ledger, system.settings
    before = await last_run(ledger) if worker == 1 else LastRun()
    now = await watch.look()
    hashed, given = settings_hash(settings), given_settings(settings)
    body = {
        NAME: SCHEMA,
        "actor": plain(operator()),
        "program": system.versions.program,
        "models": dict(system.versions.models),
        "settings": hashed,
        "given": given,
        "directory": now,
        "worker": worker,
        "workers": workers,
    }
    start = await ledger.append(START, body)
    if before.start is None:
        watch.known = now
        return start
    known = before.start.body
    if known.get("settings") != hashed:
        told_before = known.get("given") or {}
        changed = sorted(name for name in told_before.keys() | given if told_before.get(name) != given.get(name))
        await ledger.append(
            SETTINGS, {NAME: SCHEMA, "before": known.get("settings"), "after": hashed, "changed": changed}
        )
    watch.known = before.directory
    await watch.record(now)
    return start


async def _end(ledger: Ledger, start: Entry | None, run: Run) -> Entry:
    name = signals.Signals(run.signal).name if run.signal is not None else None
    return await ledger.append(STOP, {NAME: SCHEMA, "start": start.entry_id if start else None, "signal": name})


def given_settings(settings: Settings) -> dict[str, str]:
    """A keyed digest of each setting that was given and decides how turns run, by its variable; a secret is `set`."""
    digests = Digests(settings.files.ledger_key)
    found = {}
    for name in sorted(settings.given()):
        place = PLACES[name]
        if place.group not in ELSEWHERE:
            group = getattr(settings, place.group)
            secret = "SecretStr" in str(place.info.annotation)
            value = group.model_dump(mode="json", include={place.field})
            found[group.variable(place.field)] = "set" if secret else digests.of(value)[:8]
    return found


@dataclass(frozen=True, slots=True)
class LastRun:
    """The newest start in the ledger, and the hash of the file of groups as it was last recorded."""

    start: Entry | None = None
    directory: str | None = None


async def last_run(ledger: Ledger) -> LastRun:
    """What the ledger says of the run before; nothing where it knows of no start."""
    directory: Entry | None = None
    async for entry in ledger.entries(newest_first=True, kinds=(START, DIRECTORY)):
        if entry.kind == DIRECTORY and directory is None:
            directory = entry
        if entry.kind == START:
            return LastRun(entry, directory.body.get("after") if directory else entry.body.get("directory"))
    return LastRun()


def groups_file(settings: Settings) -> Path | None:
    """The file of this machine that decides who is in which group: the directory itself, or the names of its groups."""
    return settings.directory_path if settings.directory.kind == "file" else settings.directory.groups_file


class DirectoryWatch:
    """Looks at the file of groups again and again, and records its hash before and after a change. `known`: as it was last recorded."""

    def __init__(self, ledger: Ledger, file: Path | None) -> None:
        self._ledger = ledger
        self._file = file
        self._stamp: tuple[int, int] | None = None
        self._hash: str | None = None
        self.known: str | None = None

    async def look(self) -> str | None:
        """SHA-256 of the file as it is now, None where there is none. It is read again only when its time or size is another."""
        return None if self._file is None else await asyncio.to_thread(self._look, self._file)

    def _look(self, file: Path) -> str | None:
        try:
            status = file.stat()
            stamp = (status.st_mtime_ns, status.st_size)
            if stamp != self._stamp:
                self._hash = file_sha256(file)
                self._stamp = stamp
        except FileNotFoundError:
            self._stamp, self._hash = None, None
        except OSError:
            self._stamp, self._hash = None, UNREADABLE
        return self._hash

    async def record(self, now: str | None) -> None:
        """Record a change since the last record, if there is one. Raises StoreError: then it counts as not recorded."""
        if now == self.known or self._file is None:
            return
        await self._ledger.append(
            DIRECTORY, {NAME: SCHEMA, "file": self._file.name, "before": self.known, "after": now}
        )
        self.known = now

    async def run(self) -> None:
        """Looks until it is cancelled. What cannot be recorded is tried again."""
        while True:
            await asyncio.sleep(WATCH_S)
            try:
                await self.record(await self.look())
            except StoreError as error:
                LOG.error("a change of the directory could not be recorded: %s", error)  # noqa: TRY400 - one line
            except Exception:
                LOG.exception("a look at the directory failed")
