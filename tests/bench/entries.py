"""Benchmark of the ledger's entries: bytes of a turn's entry as it is stored, with the contents that it refers to, and as it is read, by path; what storing once costs in time."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any
from unittest.mock import patch

from bot.compose.system import compose
from bot.records import Actor, Ask
from rai.ledger import store
from rai.ledger.chain import canonical
from rai.ledger.contents import split
from rai.ledger.store import SqlLedger
from tests.bench.figures import Figure, percentile
from tests.bench.place import Place, golden_asks

ROUNDS = ("{}", "Hello, {}", "{} Thank you!", "A customer asks: {}", "{} Please be brief.", "One more thing. {}")
"""How each question of the golden set is put, a form a round."""
_SHOWN = 8
"""Paths that are told, the largest first; the rest together."""


async def bench_entries(place: Place) -> list[Figure]:
    """All questions of the golden set in six forms, each by another person in a conversation of its own, without keys. Bytes of an entry: of all its columns."""
    system = await compose(place.settings)
    read: dict[str, dict[str, Any]] = {}
    try:
        for number, ask in enumerate(_asks()):
            reply = await system.answer(ask, None)
            entry = await system.ledger.get(reply.entry_id)
            assert entry is not None, f"turn {number} left no entry"
            read[entry.entry_id] = entry.body
        rows = [json.loads(line) async for line in system.ledger.export()][1:-1]
    finally:
        await system.close()
    turns = [row for row in rows if row["entry_id"] in read]
    stored = [row["body"] for row in turns]
    contents = [_columns(row) for row in rows if row["kind"] == "content"]
    held = (place.home / "ledger.db").stat().st_size
    n = len(turns)
    bodies = list(read.values())
    return [
        *_spread("entry of a turn, stored", [_columns(row) for row in turns], "<= 4096"),
        *_spread("of it the body", [_size(body) for body in stored]),
        *_spread("body of a turn, as it is read", [_size(body) for body in bodies]),
        Figure("contents, each", sum(contents) / max(1, len(contents)), "bytes", len(contents)),
        Figure("contents, for each turn", sum(contents) / n, "bytes", n),
        Figure("ledger.db, for each turn", held / n, "bytes", n),
        *_by_path("stored", stored),
        *_by_path("as it is read", bodies),
        *await _times(place.scratch, bodies[: n // len(ROUNDS)]),
    ]


async def _times(scratch: Path, bodies: list[dict[str, Any]]) -> list[Figure]:
    """The same bodies, already masked, in a ledger that stores once and in one that stores each whole, by turns, when each was met before."""
    ways = {"once": split, "whole": lambda *_: None}
    ledgers = {
        way: SqlLedger(scratch / f"{way}.db", scratch / f"{way}.key", redact=lambda body, _: body) for way in ways
    }
    spent: dict[str, list[float]] = defaultdict(list)
    ids: dict[str, list[str]] = defaultdict(list)
    for known in (False, True):
        for body in bodies:
            for way, ledger in ledgers.items():
                with patch.object(store, "split", ways[way]):
                    begun = perf_counter()
                    entry = await ledger.append("turn", body)
                    if known:
                        spent[f"append, stored {way}"].append(perf_counter() - begun)
                        ids[way].append(entry.entry_id)
    for pair in zip(*ids.values(), strict=True):
        for (way, ledger), entry_id in zip(ledgers.items(), pair, strict=True):
            begun = perf_counter()
            await ledger.get(entry_id)
            spent[f"get, stored {way}"].append(perf_counter() - begun)
    for way, ledger in ledgers.items():
        begun = perf_counter()
        listed = len([entry async for entry in ledger.entries(newest_first=True)])
        spent[f"entries, each, stored {way}"] = [(perf_counter() - begun) / listed] * listed
        await ledger.close()
    return [_milliseconds(name, taken) for name, taken in spent.items()]


def _milliseconds(name: str, taken: list[float]) -> Figure:
    return Figure(f"{name}, mean", sum(taken) / len(taken) * 1e3, "ms", len(taken))


def _asks() -> list[Ask]:
    golden = golden_asks()
    return [
        replace(
            ask,
            question=form.format(ask.question),
            actor=Actor(f"agent-{number % 40}", "channel"),
            conversation=f"case-{at}-{number}",
        )
        for at, form in enumerate(ROUNDS)
        for number, ask in enumerate(golden)
    ]


def _spread(name: str, sizes: list[int], target: str = "") -> list[Figure]:
    values = [float(size) for size in sizes]
    mean = Figure(f"{name}, mean", sum(values) / len(values), "bytes", len(values), target)
    return [mean, *(Figure(f"{name}, p{p}", percentile(values, p / 100), "bytes", len(values)) for p in (50, 95))]


def _by_path(name: str, bodies: list[dict[str, Any]]) -> list[Figure]:
    """Mean bytes of the parts of a body, its name among them."""
    sizes: dict[str, int] = defaultdict(int)
    for body in bodies:
        for path, value in body.items():
            inner = value if path in ("reply", "prompt", "stored") and isinstance(value, dict) else {}
            for part, held in inner.items():
                sizes[f"{path}.{part}"] += _size({part: held})
            if not inner:
                sizes[path] += _size({path: value})
    ranked = sorted(sizes.items(), key=lambda item: -item[1])
    rest = sum(size for _, size in ranked[_SHOWN:])
    n = len(bodies)
    told = [*ranked[:_SHOWN], ("all else", rest)]
    return [Figure(f"{name}: {path}", size / n, "bytes", n) for path, size in told]


def _columns(row: dict[str, Any]) -> int:
    """Bytes of all columns of an entry."""
    return sum(_size(value) if isinstance(value, dict) else len(str(value)) for value in row.values())


def _size(body: dict[str, Any]) -> int:
    return len(canonical(body))
