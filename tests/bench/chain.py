"""Benchmark of the chain that servers share: entries a second by four of them over PostgreSQL that flushes each commit, at its socket and behind a door of 1 ms each way.

`python -m tests.bench.chain URL KEYS CLIENTS ENTRIES` is one server: it opens the ledger, says `ready`, and begins when it is told a line.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from sqlalchemy import make_url

from grounding.database.postgres import Postgres
from rai.ledger.store import SqlLedger
from tests.bench.figures import Figure, percentile
from tests.bench.place import Place
from tests.bench.recording import body_of
from tests.postgres.ledger import keys_in, made
from tests.postgres.server import SETTINGS, VERSION, own_schema, running

SERVERS = 4
CLIENTS = (1, 16)
"""Turns that each server has at once."""
ENTRIES = {1: 250, 16: 1_000}
"""Entries that each server writes, by its clients."""
AWAY_S = 0.001
DURABLE = {**SETTINGS, "fsync": "on", "full_page_writes": "on"}


async def bench_chain(place: Place) -> list[Figure]:
    """Entries of 3 KB by four servers, each with a home and keys' folder of its own; of each server some turns are at their end at once.

    The search for personal data is left out: it is done by each server for itself, outside of the chain, and takes longer than anything else of it (`--only ledger`).
    """
    figures = []
    with running(settings=DURABLE) as server:
        for away in (0.0, AWAY_S):
            for clients in CLIENTS:
                with own_schema(server) as url, reached(url, away) as address:
                    figures += await asyncio.to_thread(_measured, place.scratch, url, address, clients, away)
    return figures


@contextmanager
def reached(url: str, away: float) -> Iterator[str]:
    """The address by which the servers reach the database."""
    if not away:
        yield url
        return
    given = make_url(url)
    folder = given.query["host"]
    assert isinstance(folder, str)
    command = [sys.executable, "-m", "tests.postgres.door", f"{folder}/.s.PGSQL.5432", str(away)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as far:
        assert far.stdout is not None
        port = int(far.stdout.readline())
        query = {name: value for name, value in given.query.items() if name != "host"}
        yield given.set(host="127.0.0.1", port=port, query=query).render_as_string(hide_password=False)
        far.communicate()


def _measured(scratch: Path, url: str, reached: str, clients: int, away: float) -> list[Figure]:
    made(url).close()
    keys = keys_in(scratch / "chain").parent
    entries = ENTRIES[clients]
    with ExitStack() as stack:
        servers = []
        for number in range(SERVERS):
            own = scratch / f"chain-{clients}-{away}" / str(number)
            shutil.copytree(keys, own)
            command = [sys.executable, "-m", "tests.bench.chain", reached, str(own / "ledger.key")]
            command += [str(clients), str(entries)]
            begun = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            servers.append(stack.enter_context(begun))
            assert begun.stdout is not None
            assert begun.stdout.readline() == "ready\n"
        said = [json.loads(text) for text in _told(servers)]
    seconds = max(one["ended"] for one in said) - min(one["began"] for one in said)
    waits = [ms for one in said for ms in one["ms"]]
    where = "at its socket" if not away else f"{away * 1000:.0f} ms away each way"
    name = f"chain in PostgreSQL {where}, {SERVERS} servers with {clients} at once"
    whole = _whole(url, scratch / f"chain-{clients}-{away}" / "0" / "ledger.key")
    assert whole == SERVERS * entries + 1, whole
    processor = sum(one["processor"] for one in said)
    note = f"PostgreSQL {VERSION} with fsync; entries of 3 KB, masked before"
    return [
        Figure(f"{name}, entries a second", len(waits) / seconds, "1/s", len(waits), note=note),
        Figure(f"{name}, an entry, p50", percentile(waits, 0.5), "ms", len(waits)),
        Figure(f"{name}, processor time of an entry", processor / len(waits) * 1000, "ms", len(waits)),
    ]


def _told(servers: list[subprocess.Popen[str]]) -> list[str]:
    for server in servers:
        assert server.stdin is not None
        server.stdin.write("begin\n")
        server.stdin.flush()
    return [server.communicate()[0] for server in servers]


def _whole(url: str, key: Path) -> int:
    """How many entries the chain has; it holds."""
    ledger = SqlLedger(Postgres(url), key, read_only=True)
    found = asyncio.run(ledger.verify())
    asyncio.run(ledger.close())
    assert found.ok, found
    return found.entries


async def _serve(url: str, key: Path, clients: int, entries: int) -> None:
    ledger = SqlLedger(Postgres(url), key, redact=lambda body, _: body)
    taken: list[float] = []

    async def client(first: int) -> None:
        for n in range(first, entries, clients):
            began = time.perf_counter()
            await ledger.append("turn", body_of(n))
            taken.append((time.perf_counter() - began) * 1000)

    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    began, processor = time.time(), time.process_time()
    await asyncio.gather(*(client(n) for n in range(clients)))
    said = {"began": began, "ended": time.time(), "processor": time.process_time() - processor, "ms": taken}
    sys.stdout.write(json.dumps(said))
    await ledger.close()


if __name__ == "__main__":
    asyncio.run(_serve(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])))
