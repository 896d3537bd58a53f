"""Benchmark of overhead: our own time in whole turns whose every seam is a service that takes 50 ms, and a model that takes 500."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from bot.compose.system import compose
from bot.records import Ask
from bot.system import System
from tests.bench.figures import Figure, percentile, spread
from tests.bench.place import Place, answering, plain_asks
from tests.bench.timing import warm
from tests.e2e.processes import settings_over

TURNS, AT_ONCE = 60, 100
Span = tuple[str, float, float]


@dataclass(frozen=True, slots=True)
class _Turn:
    """Seconds of one turn: by the clock, of the processor in this process, with at least one service at work, and calls."""

    wall: float
    own: float
    waited: float
    calls: int


async def bench_azure(place: Place) -> list[Figure]:
    """Own processor time and overhead of a warm turn, and of 100 at once on one worker."""
    with _stand_ins(place) as told:
        settings = settings_over(Path(told["home"]), place.model, **{**told["options"], "web": "off"})
        system = await compose(settings)
        asks = plain_asks()[:TURNS]
        async with aiohttp.ClientSession(f"http://127.0.0.1:{told['timeline']}") as control:
            try:
                await warm(answering(system), asks)
                turns = [await _timed(system, ask, control) for ask in asks]
                together = await _at_once(system, asks)
            finally:
                await system.close()
    return _figures(turns, together)


def _figures(turns: Sequence[_Turn], together: tuple[float, float]) -> list[Figure]:
    own, wall = [t.own * 1000 for t in turns], [t.wall * 1000 for t in turns]
    over = [(t.wall - t.waited) * 1000 for t in turns]
    bound = percentile([t.wall for t in turns], 0.5) + AT_ONCE * percentile([t.own for t in turns], 0.5)
    note = "services answer in 50 ms, the model in 500, from a process of their own on the same machine"
    return [
        *spread("turn on services", wall, "ms", at=(50,), note=note),
        *spread("turn on services: calls", [float(t.calls) for t in turns], "calls", at=(50,)),
        *spread("turn on services: own processor time", own, "ms", at=(50, 90), targets={50: "15"}),
        *spread("turn on services: over the services' time", over, "ms", at=(50, 90), targets={50: "<= 30"}),
        Figure(f"{AT_ONCE} turns at once", together[0], "s", AT_ONCE, f"<= {bound:.2f}"),
        Figure(f"{AT_ONCE} turns at once: own processor time of each", together[1] * 1000 / AT_ONCE, "ms", AT_ONCE),
    ]


async def _timed(system: System, ask: Ask, control: aiohttp.ClientSession) -> _Turn:
    await _timeline(control)
    began, own = time.monotonic(), time.process_time()
    await system.answer(ask, None)
    ended, spent = time.monotonic(), time.process_time() - own
    spans = await _timeline(control)
    return _Turn(ended - began, spent, _union(spans), len(spans))


async def _at_once(system: System, asks: Sequence[Ask]) -> tuple[float, float]:
    """Seconds by the clock and of the processor for all of them."""
    began, own = time.monotonic(), time.process_time()
    replies = await asyncio.gather(*(system.answer(asks[n % len(asks)], None) for n in range(AT_ONCE)))
    assert all(reply.entry_id for reply in replies)
    return time.monotonic() - began, time.process_time() - own


async def _timeline(control: aiohttp.ClientSession) -> list[Span]:
    async with control.get("/") as reply:
        return [(name, start, end) for name, start, end in await reply.json()]


def _union(spans: Sequence[Span]) -> float:
    """Seconds in which at least one of `spans` goes on."""
    total, until = 0.0, 0.0
    for _, start, end in sorted(spans, key=lambda span: span[1]):
        total += max(0.0, end - max(start, until))
        until = max(until, end)
    return total


@contextmanager
def _stand_ins(place: Place) -> Iterator[dict[str, Any]]:
    command = [
        sys.executable,
        "-m",
        "tests.bench.stand_ins",
        str(place.home),
        str(place.model),
        str(place.scratch / "services"),
    ]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        line = process.stdout.readline()
        if not line:
            raise AssertionError("the stand-ins did not start")
        told = json.loads(line)
        os.environ.update(told["identity"])
        try:
            yield told
        finally:
            process.stdin.close()
            for name in told["identity"]:
                del os.environ[name]
