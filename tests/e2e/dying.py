"""A process that takes documents in and dies on the way: `python -m tests.e2e.dying`, one job per line of stdin.

Each job runs in a fork of this process, which has everything imported, so that a death costs a fraction of a second. A
step is a statement of the store, an operation on files, or a sign of progress; a job dies by SIGKILL before the step it
names, or after a time, wherever it is then.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy.random  # noqa: F401 - before the fork, for numpy loads it by need
import sqlalchemy as sa

from grounding.embedded.index import EmbeddedIndex
from grounding.ingest.ingest import ingest, rebuild
from tests.fakes.embedder import HashEmbedder

FILE_STEPS = frozenset({"open", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "shutil.rmtree"})


class Steps:
    """Counts the steps and dies before number `last`."""

    def __init__(self, last: int | None) -> None:
        self.count, self._last = 0, last

    def step(self, *_: Any) -> None:
        self.count += 1
        if self.count == self._last:
            die()

    def audit(self, event: str, _arguments: Any) -> None:
        if event in FILE_STEPS:
            self.step()

    def statement(self, *_: Any, **__: Any) -> None:
        self.step()


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)  # the signal may take a moment to arrive


async def work(job: dict[str, Any]) -> dict[str, Any]:
    """Do the job; what it was for, if it was not cut short."""
    steps = Steps(job.get("step"))
    if "after_s" in job:
        threading.Timer(job["after_s"], die).start()
    index = EmbeddedIndex(Path(job["home"]) / "index", HashEmbedder())
    sys.addaudithook(steps.audit)
    for event in ("before_cursor_execute", "commit"):
        sa.event.listen(sa.Engine, event, steps.statement)
    began = time.monotonic()
    report: dict[str, Any] = {}
    if job["do"] == "rebuild":
        await rebuild(index, steps.step)
    else:
        done = await ingest(index, [Path(job["source"])], on_progress=steps.step)
        report = {"kb_version": done.kb_version, "refused": [r.code for r in done.refused]}
    return {**report, "steps": steps.count, "seconds": time.monotonic() - began}


def main() -> None:
    for line in sys.stdin:
        read_end, write_end = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(write_end, json.dumps(asyncio.run(work(json.loads(line)))).encode())
            os._exit(0)
        os.close(write_end)
        _, status = os.waitpid(child, 0)
        with os.fdopen(read_end) as pipe:
            said = pipe.read()
        code = os.waitstatus_to_exitcode(status)
        sys.stdout.write(json.dumps({"code": code, "report": json.loads(said) if said else None}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
