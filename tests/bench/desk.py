"""Benchmark of the reviewers' desk: how fast its index is made, and how long its pages and searches take over a ledger of the size that is asked for."""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from aiohttp.test_utils import TestClient, TestServer

from bot.compose.system import compose
from bot.desk.index import NAME, Desk
from bot.desk.search import DeskSearch
from bot.server.app import build_app
from bot.settings.settings import Settings
from rai.ledger import sql
from rai.ledger.chain import canonical, link, new_entry_id
from rai.ledger.databases import sqlite
from rai.ledger.key import load_key
from rai.ledger.store import SqlLedger
from tests.bench.figures import Figure, percentile, spread
from tests.bench.place import Place, golden_asks
from tests.bench.timing import timed
from tests.e2e.processes import settings_over

PEOPLE, DAYS, BATCH = 500, 365, 5_000
BEGAN = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
"""The day of the first turn: tomorrow, since the entry before it is of today, and days lead to a turn only as long as the clock was not set back."""
TIMES = 20
"""Times that each page is opened."""
PAGES = {
    "the newest": "",
    "the hundredth page": "before={middle}",
    "a word of every turn": "words=hello",
    "a word of few turns": "words=case17x",
    "a phrase": "words=%22case17x%20again%22",
    "a document": "document={document}",
    "a person in a week": "user=person-17&since={week}&until={week_end}",
    "what was struck": "struck=yes",
    "unsupported amounts": "claim=money&status=unsupported",
    "an outcome in a week": "outcome=repaired&since={week}&until={week_end}",
}


async def bench_desk(place: Place) -> list[Figure]:
    """For each --size so many turns that repeat those of the golden set, with other words, people and days, each stored whole without its passages and prompt; and the
    golden turns themselves as they are stored.
    """
    figures = await _as_stored(place)
    bodies = await _golden(place)
    for size in place.sizes:
        figures += await _over(place, bodies, size)
    return figures


async def _golden(place: Place) -> list[dict[str, Any]]:
    """The turns of the golden set, without what only takes room."""
    system = await compose(place.settings)
    try:
        found = []
        for ask in golden_asks():
            reply = await system.answer(ask, None)
            entry = await system.ledger.get(reply.entry_id)
            assert entry is not None
            found.append(_light(entry.body))
        return found
    finally:
        await system.close()


def _light(body: dict[str, Any]) -> dict[str, Any]:
    """Without passages, prompt and policy, and under no schema, so that it is stored as it is."""
    reply = {name: body["reply"][name] for name in ("outcome", "code", "answer", "citations", "draft")}
    claims = [{n: c.get(n) for n in ("kind", "status", "rule", "text")} for c in body["reply"]["claims"]]
    evidence = [{n: e.get(n) for n in ("chunk_id", "doc_id", "version", "origin")} for e in body["evidence"]]
    kept = {name: body[name] for name in ("ask", "actor", "screenings", "delivery")}
    return {**kept, "reply": {**reply, "claims": claims}, "evidence": evidence}


async def _as_stored(place: Place) -> list[Figure]:
    """The index made of turns as the program stores them, which are put together to be read."""
    system = await compose(place.settings)
    try:
        for ask in golden_asks():
            await system.answer(ask, None)
        desk = Desk(place.scratch / "as-stored" / NAME)
        ms, reach = await timed(desk.follow(system.ledger))
        count = (await desk.count(DeskSearch(kind="all"))).total
        await desk.close()
    finally:
        await system.close()
    assert reach.is_whole
    return [Figure("desk, index made of turns as they are stored, entries a second", count / ms * 1000, "1/s", count)]


async def _over(place: Place, bodies: Sequence[dict[str, Any]], size: int) -> list[Figure]:
    home = place.scratch / f"desk-{size}"
    settings = settings_over(home, place.model, rate_per_minute=100_000)
    await _filled(settings, bodies, size)
    desk = Desk(home / NAME)
    ledger = SqlLedger(home / "ledger.db", settings.files.ledger_key)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ms, reach = await timed(desk.follow(ledger))
    assert reach.is_whole
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    await ledger.close()
    await desk.close()
    sized = (home / NAME).stat().st_size / size
    made = [
        Figure(f"desk, index made of {size} turns, entries a second", size / ms * 1000, "1/s", size, ">= 5000"),
        Figure("desk, memory that making it took more", grown, "MB", size),
        Figure("desk, review.db, for each turn", sized, "bytes", size),
    ]
    return [*made, *await _pages(settings, bodies, size)]


async def _pages(settings: Settings, bodies: Sequence[dict[str, Any]], size: int) -> list[Figure]:
    """Each page by HTTP, as a browser asks for it: of a year of turns, the third month's first week where it is one of a week."""
    document = next(e["doc_id"] for body in bodies for e in body["evidence"])
    week = BEGAN + timedelta(days=90)
    places = {
        "middle": max(26, size - 2_500),
        "document": document,
        "week": week.date().isoformat(),
        "week_end": (week + timedelta(days=6)).date().isoformat(),
    }
    system = await compose(settings)
    figures, every = list[Figure](), list[float]()
    try:
        async with TestClient(TestServer(build_app(system, review_token="once"))) as client:
            assert (await client.get("/review?token=once")).status == 200
            for name, query in PAGES.items():
                taken = []
                address = "/review?" + query.format_map(places)
                for _ in range(TIMES):
                    began = time.perf_counter()
                    response = await client.get(address)
                    text = await response.text()
                    taken.append((time.perf_counter() - began) * 1000)
                    assert response.status == 200, text[:200]
                every += taken
                target = "<= 500" if "word" in name or "phrase" in name else "<= 300"
                figures.append(Figure(f"desk, {size} turns, {name}, p95", percentile(taken, 0.95), "ms", TIMES, target))
    finally:
        await system.close()
    return [*figures, *spread(f"desk, {size} turns, every page", every, "ms", at=(50, 95))]


async def _filled(settings: Settings, bodies: Sequence[dict[str, Any]], size: int) -> None:
    """A ledger of so many turns, written in one go: how they got there makes no difference to who reads them."""
    path, key_file = settings.files.home / "ledger.db", settings.files.ledger_key
    path.parent.mkdir(parents=True, exist_ok=True)
    ledger = SqlLedger(path, key_file, signing_key_file=settings.files.signing_key_path)
    ledger_id = str(ledger.ledger_id)
    await ledger.close()
    await asyncio.to_thread(_write, path, key_file, ledger_id, _turns(bodies, size))
    ledger = SqlLedger(path, key_file, signing_key_file=settings.files.signing_key_path)
    await ledger.append("start", {"schema": 2, "program": "bench"})  # moves the anchor to the end
    await ledger.close()


def _turns(bodies: Sequence[dict[str, Any]], size: int) -> Iterator[tuple[str, str]]:
    """Time and body of each turn."""
    texts = [json.dumps(body) for body in bodies]
    for n in range(size):
        body = json.loads(texts[n % len(texts)])
        body["ask"]["question"] = f"Hello, case{n % (size // 10 or 1)}x again: {body['ask']['question']}"
        body["actor"]["user"] = f"person-{n % PEOPLE}"
        at = (BEGAN + timedelta(days=DAYS) * (n / size)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        yield at, canonical(body)


def _write(store: Path, key_file: Path, ledger_id: str, turns: Iterator[tuple[str, str]]) -> None:
    engine, key = sqlite.engine_for(store), load_key(key_file)
    last, written = None, 0
    for part in iter(lambda: [found for _, found in zip(range(BATCH), turns, strict=False)], []):
        with engine.begin() as connection:
            last = last or sql.Reader().last(connection)
            assert last is not None
            for at, body in part:
                entry_id = new_entry_id(int(time.time() * 1000), last.entry_id)
                last = link(
                    key, ledger_id, seq=last.seq + 1, entry_id=entry_id, at=at, kind="turn", body=body, prev=last.mac
                )
                sql.insert_row(connection, last)
        written += len(part)
        sys.stderr.write(f"bench: {written} turns written\n")
    engine.dispose()
