"""kill -9 of whoever writes the ledger, at moments drawn at random: `python -m tests.e2e.ledger_kill --kills 200 --serve 20 --seed 7`; with `--postgres` in PostgreSQL.

A writer process with several clients, who write, erase and sign checkpoints; one that brings an older ledger up; and `attest serve` with callers over HTTP. After each
kill: all that was acknowledged is there, what was erased is in no byte, chain and anchor hold, a checkpoint is signed, and the checkpoints published before hold too.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psycopg
from aiohttp import ClientError, ClientSession

from bot.commands.ingest.sample import place_sample_directory
from bot.settings.load import SAMPLE
from grounding.database.postgres import Postgres
from rai.embedded.checkpoint_folder import FolderSink
from rai.ledger.attest_verify import audit, told
from rai.ledger.checkpoints.publish import Publisher
from rai.ledger.key import Anchor, load_key
from rai.ledger.store import SqlLedger
from tests.e2e.ledger_work import canary
from tests.e2e.processes import ROOT, address_of, environment_of, settings_over, started
from tests.knowledge_base import take_in
from tests.postgres.ledger import keys_in, made
from tests.postgres.server import own_schema, running, table_files

OLDER = ROOT / "tests" / "rai" / "ledger" / "form1"
KINDS = ("write", "write", "erase", "erase", "upgrade")
CLIENTS, CALLERS = 6, 4
KILLS_A_LEDGER = 15
"""After as many a new ledger is begun: the checks read all of it each time."""
LONGEST_SHARED_S = 3.0
"""Seconds after which a writer in PostgreSQL is killed at the latest: to connect takes it some tenths."""
PATIENCE_S = 120.0
"""Seconds in which the first reply must have come."""
QUESTIONS = ("What does the Wren X2 cost in the United Kingdom?", "How many devices can connect to a Wren X1?")


@dataclass
class Place:
    """One ledger, where its checkpoints go, and what of it was acknowledged so far. `names`: of the canaries in the entries; `database`: the URL of the PostgreSQL that it lies in, and then not in `store`."""

    store: Path
    key: Path
    checkpoints: Path
    entries: set[str] = field(default_factory=set)
    erased: set[str] = field(default_factory=set)
    sizes: set[int] = field(default_factory=set)
    names: dict[str, str] = field(default_factory=dict)
    database: str | None = None

    @staticmethod
    def under(folder: Path, database: str | None = None) -> Place:
        made = Place(folder / "home" / "ledger.db", folder / "keys" / "ledger.key", folder / "checkpoints")
        made.checkpoints.mkdir(parents=True)
        if database is not None:
            made.database = database
            keys_in(folder)
        return made

    def opened(self, *, read_only: bool = False) -> SqlLedger:
        where = self.store if self.database is None else Postgres(self.database)
        return SqlLedger(where, self.key, read_only=read_only)

    @property
    def is_begun(self) -> bool:
        """False while nobody has made the tables, which come with the first entry, behind the keys."""
        if self.database is not None or not self.store.exists():
            return self.database is not None
        with closing(sqlite3.connect(self.store)) as db:
            return self.key.exists() and bool(db.execute("SELECT 1 FROM sqlite_master").fetchall())

    @property
    def anchor(self) -> Anchor:
        if self.database is None:
            return Anchor(load_key(self.key), self.key, self.store)
        with closing(psycopg.connect(self.database)) as db:
            name, schema = db.execute("SELECT current_database(), current_schema()").fetchone() or ("", "")
        return Anchor(load_key(self.key), self.key, f"postgresql/{name}/{schema}")

    def older(self) -> Place:
        """The ledger of a program before ids and salts."""
        secret = bytes(range(32))
        for path in (self.store, self.key):
            path.parent.mkdir()
        self.key.write_text(secret.hex())
        self.key.chmod(0o600)
        shutil.copy(OLDER / "anchor.json", Anchor(secret, self.key, self.store).path)
        with closing(sqlite3.connect(self.store)) as connection:
            connection.executescript((OLDER / "ledger.sql").read_text("utf-8"))
        return self

    def hear(self, said: list[str]) -> None:
        """Takes down what was acknowledged; of the last line only a part may have come."""
        for line in said:
            what, _, of = line.partition(" ")
            if what == "signed":
                self.sizes.add(int(of))
            elif len(entry_id := of.partition(" ")[0]) == 26:
                (self.erased if what == "erased" else self.entries).add(entry_id)
                self.names.setdefault(entry_id, of.partition(" ")[2])


async def check(place: Place) -> None:
    """Everything that must hold after a kill, in the order in which somebody meets it. Raises AssertionError."""
    if place.is_begun:  # as the kill has left it
        found = await _verified(place)
        assert found.ok, found.why
    ledger = place.opened()
    try:
        if place.database is None:
            _assert_erased_is_gone(place)
        else:
            _assert_erased_left_the_tables(place, place.database)
        there = {entry.entry_id: entry async for entry in ledger.entries()}
        lost = place.entries - there.keys()
        assert not lost, f"{len(lost)} acknowledged entries are not there: {sorted(lost)[:3]}"
        back = {name for name in place.erased if there[name].body != {"erased": True}}
        assert not back, f"erased entries are there again: {sorted(back)[:3]}"
        stored = (await ledger.verify()).entries  # contents among them, which no list shows
        assert (await ledger.append("turn", {"reply": {"answer": "the next one"}})).seq == stored + 1
        published = await Publisher(ledger, FolderSink(place.checkpoints)).publish()
        assert published is not None
        assert published.size == stored + 1
        assert (await ledger.verify()).ok
        mark = place.anchor.read()
        assert mark is not None
        assert mark.count == stored + 1
        await _audit(ledger, place)
    finally:
        await ledger.close()


async def _verified(place: Place) -> Any:
    ledger = place.opened(read_only=True)
    try:
        return await ledger.verify()
    finally:
        await ledger.close()


async def _audit(ledger: SqlLedger, place: Place) -> None:
    """Whoever has the public key and all checkpoints finds that they and the export agree."""
    export, key = place.checkpoints.with_name("export.jsonl"), await ledger.verifier_key()
    assert key is not None
    export.write_text("".join([f"{line}\n" async for line in ledger.export()]), "utf-8")
    notes = sorted(path for path in place.checkpoints.iterdir() if not path.name.startswith("."))
    report = audit(export, notes, [key])
    assert not report.breaks, told(report)
    assert report.covered == report.entries
    gone = place.sizes - {int(path.stem.rpartition("-")[2]) for path in notes}
    assert not gone, f"checkpoints that were published are not there: {sorted(gone)}"


def _assert_erased_is_gone(place: Place) -> None:
    """No text of an entry whose erasure is recorded, acknowledged or not, is in a byte of store or log."""
    held = b"".join(path.read_bytes() for path in place.store.parent.glob(f"{place.store.name}*"))
    with closing(sqlite3.connect(place.store)) as db:
        whole = [str(row[0]) for row in db.execute("SELECT body FROM entries WHERE kind = 'turn' AND body IS NOT NULL")]
    kept = {_canary_in(body.encode()) for body in whole}
    for found in _canaries(held):
        assert found in kept or not found, f"{found} was erased, or never written, and is in the store's files"


def _assert_erased_left_the_tables(place: Place, url: str) -> None:
    """What a killed writer did not commit PostgreSQL keeps in a page until that is tidied up or the table written anew, and in its own log; neither is erased on record."""
    held = table_files(url)
    with closing(psycopg.connect(url)) as db:
        gone = {str(row[0]) for row in db.execute("SELECT entry_id FROM entries WHERE kind = 'turn' AND body IS NULL")}
    erased = {place.names[entry_id] for entry_id in gone}
    for found in _canaries(held):
        assert found not in erased, f"{found} was erased and is in the files of the tables"


def _canaries(held: bytes) -> Iterator[str]:
    begin = canary("").split(" ")[0].encode()
    at = held.find(begin)
    while at >= 0:
        yield _canary_in(held[at : at + 80])
        at = held.find(begin, at + 1)


def _canary_in(text: bytes) -> str:
    _, _, rest = text.partition(b"canary ")
    name, sings, _ = rest.partition(b" sings")
    return name.decode("utf-8", "replace") if sings else ""


class Worker:
    """The process whose forks are killed."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def killed(self, place: Place, **job: Any) -> list[str]:
        """What a fork acknowledged before it was killed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        paths = {"store": str(place.store), "key": str(place.key), "checkpoints": str(place.checkpoints)}
        paths |= {"database": place.database} if place.database is not None else {}
        self._process.stdin.write(json.dumps({**paths, "clients": CLIENTS, **job}) + "\n")
        self._process.stdin.flush()
        told_of = json.loads(self._process.stdout.readline())
        assert told_of["code"] == -signal.SIGKILL, "the writer ended by itself"
        return list(told_of["said"])


@contextmanager
def working() -> Iterator[Worker]:
    command = [sys.executable, "-m", "tests.e2e.ledger_work"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Worker(process)
        finally:
            process.kill()


async def kill_writers(
    folder: Path, count: int, seed: int, longest_s: float = 0.6, *, database: str | None = None
) -> Counter[str]:
    """Kills a writer `count` times and checks after each. Half of those that write or erase go on with a ledger that was killed before; all do in a `database`."""
    draw, sums = random.Random(seed), Counter[str]()
    place = Place.under(folder / "0", database)
    with working() as worker:
        for n in range(count):
            kind = draw.choice(KINDS if database is None else KINDS[:-1])
            after_s = draw.uniform(0.0, 0.12 if kind == "upgrade" else longest_s)
            if database is None and (kind == "upgrade" or n % KILLS_A_LEDGER == 0):
                used = Place.under(folder / str(n + 1))
                used, place = (used.older(), place) if kind == "upgrade" else (used, used)
            else:
                used = place
            before = len(used.entries), len(used.erased), len(used.sizes)
            used.hear(worker.killed(used, name=n, erase=kind == "erase", after_s=after_s))
            try:
                await check(used)
            except Exception as error:
                error.add_note(f"seed {seed}, kill {n}: {kind}, after {after_s:.4f} s, in {used.store.parent}")
                raise
            sums.update({"kills": 1, f"kills of {kind}": 1})
            now = len(used.entries), len(used.erased), len(used.sizes)
            for name, was, is_ in zip(("answers", "erasures", "checkpoints"), before, now, strict=True):
                sums[f"acknowledged {name}"] += is_ - was
            sums["kills with an acknowledgement before"] += now != before
    return sums


async def kill_servers(folder: Path, count: int, seed: int, answered: bool = False) -> Counter[str]:
    """Kills `attest serve` `count` times while callers ask over HTTP, each time over the ledger of the times before, and checks after each.

    `answered`: each time behind the first reply; else three times of four, and else at any moment after the start.
    """
    draw, sums = random.Random(seed), Counter[str]()
    home = folder / "served" / "home"
    settings = settings_over(home)
    place_sample_directory(settings)
    await take_in(settings, SAMPLE / "kb")
    place = Place(home / "ledger.db", settings.files.ledger_key, folder / "served" / "checkpoints")
    place.checkpoints.mkdir()
    more = {"ATTEST_LEDGER_CHECKPOINTS": str(place.checkpoints), "ATTEST_RATE_PER_MINUTE": "100000"}
    for n in range(count):
        before, after_s = len(place.entries), draw.uniform(0.0, 1.0)
        first = answered or draw.random() < 0.75
        with started("serve", "--port", "0", "--json", env=environment_of(home) | more, cwd=folder) as process:
            base = await asyncio.to_thread(address_of, process)
            replied = asyncio.Event()
            callers = [asyncio.create_task(_call(base, place, replied)) for _ in range(CALLERS)]
            if first:
                await asyncio.wait_for(replied.wait(), PATIENCE_S)
            await asyncio.sleep(after_s)
            process.kill()
            await asyncio.gather(*callers)
        try:
            await check(place)
        except Exception as error:
            error.add_note(
                f"seed {seed}, kill {n} of a server, {after_s:.4f} s after {'the first reply' if first else 'it was ready'}, in {folder}"
            )
            raise
        got = len(place.entries) - before
        sums.update(
            {"kills": 1, "kills of serve": 1, "acknowledged replies": got, "kills with a reply before": got > 0}
        )
    return sums


async def _call(base: str, place: Place, replied: asyncio.Event) -> None:
    """Asks until nobody answers any more; a reply counts when all of it has arrived."""
    async with ClientSession() as session:
        for n in range(1_000_000):
            try:
                async with session.post(f"{base}/api/ask", json={"question": QUESTIONS[n % 2]}) as response:
                    said = await response.json()
                    assert response.status == 200, said
            except (ClientError, OSError):
                return
            place.entries.add(str(said["entry_id"]))
            replied.set()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.e2e.ledger_kill", description=__doc__)
    parser.add_argument("--kills", type=int, default=200, metavar="N", help="kills in all (default 200)")
    parser.add_argument("--serve", type=int, default=20, metavar="N", help="of them of attest serve (default 20)")
    parser.add_argument("--seed", type=int, default=None, metavar="N", help="what the moments are drawn from")
    parser.add_argument("--postgres", action="store_true", help="of writers alone, in a PostgreSQL of its own")
    given = parser.parse_args()
    seed = random.SystemRandom().randrange(1 << 32) if given.seed is None else given.seed
    sys.stdout.write(f"seed {seed}\n")
    with TemporaryDirectory(prefix="attest-kill-") as name:
        if given.postgres:
            with running() as server, own_schema(server) as url:
                made(url).close()
                sums = asyncio.run(kill_writers(Path(name), given.kills, seed, LONGEST_SHARED_S, database=url))
            return _tell(sums)
        sums = asyncio.run(kill_writers(Path(name), given.kills - given.serve, seed))
        sums += asyncio.run(kill_servers(Path(name), given.serve, seed)) if given.serve else Counter()
    return _tell(sums)


def _tell(sums: Counter[str]) -> None:
    sys.stdout.write("".join(f"{what}: {count}\n" for what, count in sums.items()))


if __name__ == "__main__":
    main()
