"""A process that works on a ledger until it is killed: `python -m tests.e2e.ledger_work`, one job per line of stdin.

Each job opens the ledger in a fork of this process, which has everything imported, and several clients write to it at the same time. This process
kills the fork after the time that the job names, wherever it is then, and tells what the fork had acknowledged before.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import psycopg  # noqa: F401 - each fork would import it anew

from grounding.database.postgres import Postgres
from grounding.errors import StoreError
from rai.embedded.checkpoint_folder import FolderSink
from rai.ledger.checkpoints.publish import Publisher
from rai.ledger.store import SqlLedger


def canary(name: object) -> str:
    """A text that one entry alone holds."""
    return f"canary {name} sings"


class Clients:
    """Clients of one ledger, who work until the process ends. What was acknowledged goes out one line at a time: `entry ID NAME`, `erased ID`, `signed SIZE`."""

    def __init__(self, job: dict[str, Any], out: int) -> None:
        database = job.get("database")
        store = Path(job["store"]) if database is None else Postgres(database, wait_s=60)
        self._ledger = SqlLedger(store, Path(job["key"]), busy_s=60)
        self._publisher = Publisher(self._ledger, FolderSink(Path(job["checkpoints"])))
        self._job, self._out = job, out
        self._written: list[str] = []

    async def run(self) -> None:
        """Works for ever."""
        work = [self._write(n) for n in range(self._job["clients"])]
        await asyncio.gather(*work, *([self._erase()] if self._job["erase"] else []), self._sign())

    def _say(self, line: str) -> None:
        os.write(self._out, f"{line}\n".encode())

    async def _write(self, client: int) -> None:
        for n in range(1_000_000):
            name = f"{self._job['name']}-{client}-{n}"
            entry = await self._ledger.append("turn", {"reply": {"answer": f"{canary(name)} {'la ' * 200}"}})
            self._say(f"entry {entry.entry_id} {name}")
            self._written.append(entry.entry_id)

    async def _erase(self) -> None:
        while True:
            await asyncio.sleep(0)
            if self._written:
                entry_id = self._written.pop()
                try:
                    await self._ledger.erase(entry_id, "killed while it is erased")
                except StoreError as error:
                    if not any(why in str(error) for why in ("write-ahead log", "holds it locked")):
                        raise
                else:
                    self._say(f"erased {entry_id}")

    async def _sign(self) -> None:
        while True:
            await asyncio.sleep(0.05)
            if (published := await self._publisher.publish()) is not None:
                self._say(f"signed {published.size}")


def killed(job: dict[str, Any]) -> dict[str, Any]:
    """Does a job in a fork and kills that. `code`: what the fork ended with; `said`: what it had acknowledged."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read_end)
        asyncio.run(Clients(job, write_end).run())
        os._exit(0)
    os.close(write_end)
    time.sleep(job["after_s"])
    os.kill(child, signal.SIGKILL)
    with os.fdopen(read_end) as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    return {"code": os.waitstatus_to_exitcode(status), "said": said.splitlines()}


def main() -> None:
    for line in sys.stdin:
        sys.stdout.write(json.dumps(killed(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
