"""Benchmark of the ledger: entries a second beside a plain insert of SQLite, and what opening, verifying, watching and signing cost."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from rai.ledger import sql
from rai.ledger.attest_verify import audit, told
from rai.ledger.chain import canonical, link, new_entry_id
from rai.ledger.databases import sqlite
from rai.ledger.key import load_key
from rai.ledger.store import SqlLedger
from rai.personal.redact import redact_entry
from tests.bench.figures import Figure, percentile, spread
from tests.bench.place import Place
from tests.bench.timing import each_ms, ms_of, timed

SINGLY, AT_ONCE, WRITERS = 500, 800, 8
ENTRIES, BODY_BYTES, MORE = 10_000, 3_000, 10
OPENED = 5
WORDS = "opening hours of the branch "


async def bench_ledger(place: Place) -> list[Figure]:
    """Entries of 3 KB: one after another, each beside a plain insert of the same text into another store, then from 8 clients; then over 10,000 of them what reads."""
    ledger = SqlLedger(place.scratch / "recording.db", place.scratch / "recording" / "ledger.key")
    written = [*await _singly(ledger, place.scratch / "plain.db"), *await _at_once(ledger)]
    await ledger.close()
    _fill(place.scratch / "recording.db", place.scratch / "recording" / "ledger.key", str(ledger.ledger_id))
    return [*written, *await _read(place.scratch)]


def body_of(n: int) -> dict[str, Any]:
    """What an entry says; each says something else."""
    return {"ask": {"question": (WORDS * (BODY_BYTES // len(WORDS)))[: BODY_BYTES - 40]}, "n": n}


async def _singly(ledger: SqlLedger, beside: Path) -> list[Figure]:
    taken: list[float] = []
    plain: list[float] = []
    masking: list[float] = []
    with closing(sqlite3.connect(beside, isolation_level=None, check_same_thread=False)) as other:
        for statement in (
            "PRAGMA journal_mode=WAL",
            "PRAGMA synchronous=FULL",
            "CREATE TABLE t (n INTEGER, body TEXT)",
        ):
            other.execute(statement)
        for n in range(SINGLY):  # in turn, so that both meet the same disk
            taken += await each_ms(lambda m: ledger.append("turn", body_of(m)), [n])
            masking.append(ms_of(lambda m=n: redact_entry(body_of(m), "turn")))  # type: ignore[misc]
            text = canonical(body_of(n))
            plain.append(ms_of(lambda t=text, m=n: other.execute("INSERT INTO t VALUES (?, ?)", (m, t))))  # type: ignore[misc]
    ratio = percentile(taken, 0.5) / percentile(plain, 0.5)
    return [
        *spread("ledger, an entry of 3 KB", taken, "ms", at=(50, 95)),
        *spread("of it the search for personal data", masking, "ms", at=(50, 95)),
        *spread("plain insert of SQLite, synchronous=FULL", plain, "ms", at=(50, 95)),
        Figure("ledger, an entry against a plain insert, p50", ratio, "times", SINGLY),
        Figure("ledger, entries a second singly", SINGLY / sum(taken) * 1000, "1/s", SINGLY),
        Figure("plain inserts a second", SINGLY / sum(plain) * 1000, "1/s", SINGLY),
    ]


async def _at_once(ledger: SqlLedger) -> list[Figure]:
    async def writer(first: int) -> list[float]:
        return await each_ms(lambda n: ledger.append("turn", body_of(n)), range(first, AT_ONCE, WRITERS))

    ms, taken = await timed(asyncio.gather(*(writer(n) for n in range(WRITERS))))
    each = [one for of_writer in taken for one in of_writer]
    name = f"ledger, {WRITERS} clients at once"
    return [
        Figure(f"{name}, entries a second", AT_ONCE / ms * 1000, "1/s", AT_ONCE),
        *spread(name, each, "ms", at=(50, 95)),
    ]


def _fill(store: Path, key_file: Path, ledger_id: str) -> None:
    """Brings a store to `ENTRIES` in one transaction: how they got there makes no difference to who reads them."""
    engine, key = sqlite.engine_for(store), load_key(key_file)
    with engine.begin() as connection:
        last = sql.Reader().last(connection)
        assert last is not None
        for seq in range(last.seq + 1, ENTRIES + 1):
            entry_id, body = new_entry_id(int(time.time() * 1000), last.entry_id), canonical(body_of(seq))
            at = "2026-11-25T12:00:00.000Z"
            last = link(key, ledger_id, seq=seq, entry_id=entry_id, at=at, kind="turn", body=body, prev=last.mac)
            sql.insert_row(connection, last)
    engine.dispose()


async def _read(folder: Path) -> list[Figure]:
    store, key_file = folder / "recording.db", folder / "recording" / "ledger.key"
    opening = [await _opened_ms(store, key_file) for _ in range(OPENED)]
    ledger = SqlLedger(store, key_file)
    megabytes = store.stat().st_size / 1e6
    verifying, found = await timed(ledger.verify())
    assert (found.ok, found.entries) == (True, ENTRIES)
    looking, seen = await timed(ledger.look(600.0))
    assert (seen.ok, seen.entries) == (True, ENTRIES)
    exporting, export = await timed(_exported(ledger, folder / "recording.jsonl"))
    first, note_of_all = await timed(ledger.checkpoint())
    for n in range(MORE):
        await ledger.append("turn", body_of(n))
    following, _ = await timed(ledger.checkpoint())
    named = await ledger.verifier_key()
    await ledger.close()
    assert named is not None
    signed = folder / "recording.txt"
    signed.write_text(note_of_all, "utf-8")
    began = time.perf_counter()
    report = audit(export, [signed], [named])
    auditing = (time.perf_counter() - began) * 1000
    assert not report.breaks, told(report)
    assert report.covered == ENTRIES
    note = f"{store.stat().st_size / ENTRIES:.0f} bytes of the store an entry, {export.stat().st_size / ENTRIES:.0f} of the export"
    return [
        Figure(f"ledger, opened with {ENTRIES} entries, median", percentile(opening, 0.5), "ms", OPENED),
        *_rates("verify", verifying, megabytes, note),
        *_rates("the watch, a whole round", looking, megabytes, note),
        *_rates("attest-verify", auditing, export.stat().st_size / 1e6, note),
        *_rates("export", exporting, export.stat().st_size / 1e6, note),
        Figure("ledger, first checkpoint", first, "ms", ENTRIES),
        Figure(f"ledger, checkpoint after {MORE} more", following, "ms", 1),
    ]


def _rates(what: str, ms: float, megabytes: float, note: str) -> list[Figure]:
    return [
        Figure(f"ledger, {what}, entries a second", ENTRIES / ms * 1000, "1/s", ENTRIES, note=note),
        Figure(f"ledger, {what}", megabytes / ms * 1000, "MB/s", ENTRIES, note=note),
    ]


async def _opened_ms(store: Path, key_file: Path) -> float:
    began = time.perf_counter()
    ledger = SqlLedger(store, key_file)
    taken = (time.perf_counter() - began) * 1000
    await ledger.close()
    return taken


async def _exported(ledger: SqlLedger, to: Path) -> Path:
    with to.open("w", encoding="ascii") as file:
        async for line in ledger.export():
            file.write(f"{line}\n")
    return to
