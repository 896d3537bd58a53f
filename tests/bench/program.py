"""Benchmark of the program as a person starts it: seconds of cold commands and of a server's start, its memory, turns over HTTP."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import partial

import psutil
from aiohttp import ClientSession

from tests.bench.figures import Figure, spread
from tests.bench.place import Place, plain_asks
from tests.bench.timing import each_ms, ms_of
from tests.e2e.processes import started

COLD = 5
TURNS = 200
MIB = 2**20


async def bench_cold(place: Place) -> list[Figure]:
    """Seconds of `attest --help` and of `attest ask`, each in a process of its own; medians."""
    question = plain_asks()[0].question
    return [
        Figure("attest --help, cold, median", _median(place, ["--help"]), "s", COLD),
        Figure("attest ask, cold, median", _median(place, ["ask", question, "--json"]), "s", COLD, "<= 2.5"),
    ]


async def bench_server(place: Place) -> list[Figure]:
    """Seconds to the three lines of `attest serve` over a filled home; its memory and times over HTTP."""
    began = time.perf_counter()
    with started("serve", "--port", "0", env=place.environment, cwd=place.scratch) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(3)]
        start = time.perf_counter() - began
        base = lines[0].partition(": ")[2].strip().removesuffix("/chat")
        taken = await _ask_over_http(base)
        resident = psutil.Process(process.pid).memory_info().rss / MIB
    return [
        Figure("attest serve, process start to its three lines", start, "s", 1),
        Figure(f"resident memory of serve after {TURNS} turns", resident, "MiB", 1, "<= 450"),
        *spread("turn over HTTP", taken, "ms"),
    ]


async def _ask_over_http(base: str) -> list[float]:
    questions = [ask.question for ask in plain_asks()]
    async with ClientSession() as session:

        async def ask(question: str) -> None:
            async with session.post(f"{base}/api/ask", json={"question": question}) as response:
                await response.json()
                assert response.status == 200, response.status

        return await each_ms(ask, [questions[number % len(questions)] for number in range(TURNS)])


def _median(place: Place, arguments: Sequence[str]) -> float:
    command = [sys.executable, "-m", "bot", *arguments]
    run = partial(subprocess.run, command, env=place.environment, cwd=place.scratch, capture_output=True, check=True)
    return statistics.median(ms_of(run) / 1000 for _ in range(COLD))
