"""`attest ingest --watch`: look at the files, wait until they are quiet, take in what changed, tell each change in a line.

Looking is polling: it needs no service of the system, and sees shares and mounts too. The lock of the one writer is held
only while something is taken in, so that another ingest gets its turn.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bot.commands.shared.output import console, emit_line, note, plain
from bot.commands.shared.wiring import Ingester
from grounding.errors import InputError, ServiceError, StoreError
from grounding.ingest.sources import look
from grounding.records import IngestReport, OnProgress, Refusal

LOOK_S = 0.5
"""Seconds between two looks at the files."""
LOOKING = 0.2
"""At most this share of the time goes into looking: a look at very many files takes long, and comes less often."""
QUIET_S = 30.0
"""Files that never become quiet are taken in after this time, as they stand; what changes later comes again."""

Looked = dict[str, tuple[int, int, int]]
"""A look at the files: what tells each of them from a changed one, by path."""
Tell = Callable[[dict[str, Any]], None]
"""Prints an event."""
Bars = Callable[[], AbstractContextManager[OnProgress]]
"""Draws the progress of an ingest."""


@dataclass(frozen=True, slots=True)
class Job:
    """The arguments of an ingest: the paths, the file of who may read what, whether vectors are left out, and the name of the root of a planned run."""

    paths: Sequence[Path]
    acl: Path | None
    lexical_only: bool
    root: str | None = None


def print_event(event: dict[str, Any]) -> None:
    """Print an event of the watch as one line for a person, on stdout; an error goes to stderr, `ready` nowhere."""
    words = [str(event[name]) for name in ("doc_id", "code", "message") if event.get(name)]
    if event["event"] == "error":
        note(f"attest: {event['message']}")
    elif event["event"] != "ready":
        console().print(plain(" ".join([time.strftime("%H:%M:%S"), event["event"], *words])), soft_wrap=True)


def print_event_as_json(event: dict[str, Any]) -> None:
    """Print an event of the watch as one JSON object on a line of stdout."""
    emit_line(event)


async def follow(
    ingester: Ingester,
    job: Job,
    tell: Tell,
    show: Callable[[IngestReport], None],
    bars: Bars,
    *,
    look_s: float = LOOK_S,
) -> None:
    """Take in `job`, then every change of it, for ever. Raises InputError, StoreError or ServiceError only for the first time.

    Events: `ready` with the first report, then `added`, `changed`, `deleted` and `refused` with `doc_id`, and `error`.
    """
    seen: Looked | None = await asyncio.to_thread(look, job.paths, job.acl)
    with bars() as on_progress:
        first = await ingester.run(job.paths, acl=job.acl, lexical_only=job.lexical_only, on_progress=on_progress)
    show(first)
    tell({"event": "ready", **asdict(first)})
    watch = _Watch(ingester, job, tell, bars, look_s, set(first.refused))
    while True:
        seen = await watch.next(seen)


@dataclass(slots=True)
class _Watch:
    ingester: Ingester
    job: Job
    tell: Tell
    bars: Bars
    look_s: float
    refused: set[Refusal]
    said: str = ""

    async def next(self, seen: Looked | None) -> Looked | None:
        """Wait for a change, and for quiet after it; take it in. Returns the look that was taken in, or None if it failed, for nobody knows how far it came."""
        now = await self._quiet(await self._changed(seen))
        try:
            await self._take()
        except (InputError, StoreError, ServiceError) as error:
            # metadata being edited, another ingest, an index elsewhere that does not answer: the next look tries again
            if str(error) != self.said:
                self.said = str(error)
                self.tell({"event": "error", "message": str(error)})
            await asyncio.sleep(self.look_s)
            return None
        self.said = ""
        return now

    async def _changed(self, seen: Looked | None) -> Looked:
        while (now := await self._look()) == seen:
            pass
        return now

    async def _quiet(self, now: Looked) -> Looked:
        """The first look that is like the one before it: a file that is being written, or renamed into place, is done."""
        until = time.monotonic() + QUIET_S
        while (then := await self._look()) != now and time.monotonic() < until:
            now = then
        return then

    async def _look(self) -> Looked:
        began = time.monotonic()
        looked = await asyncio.to_thread(look, self.job.paths, self.job.acl)
        await asyncio.sleep(max(self.look_s, (time.monotonic() - began) / LOOKING))
        return looked

    async def _take(self) -> None:
        changes: list[tuple[str, str]] = []
        try:
            with self.bars() as on_progress:
                report = await self.ingester.run(
                    self.job.paths,
                    acl=self.job.acl,
                    lexical_only=self.job.lexical_only,
                    on_progress=on_progress,
                    on_change=lambda kind, doc_id: changes.append((kind, doc_id)),
                )
        finally:  # what was taken in before a service failed is no news the next time
            for kind, doc_id in changes:
                self.tell({"event": kind, "doc_id": doc_id})
        if report.waiting:
            self.tell({"event": "error", "message": f"{report.waiting}; found by words meanwhile"})
        for refusal in report.refused:
            if refusal not in self.refused:
                self.tell({"event": "refused", "doc_id": refusal.doc, "code": refusal.code, "message": refusal.reason})
        for doc_id in report.opened:
            self.tell({"event": "opened", "doc_id": doc_id, "message": "more people than before may read it"})
        self.refused = set(report.refused)
