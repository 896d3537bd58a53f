"""Benchmark of where a turn is kept: milliseconds of one over files of the home, over PostgreSQL at its socket, and over PostgreSQL behind a door of 1 ms each way."""

from __future__ import annotations

from contextlib import AsyncExitStack

from bot.records import Ask
from tests.bench.chain import AWAY_S, DURABLE, reached
from tests.bench.figures import Figure, percentile
from tests.bench.place import Place
from tests.bench.timing import timed
from tests.e2e.processes import settings_over
from tests.knowledge_base import running, take_in_page
from tests.postgres.server import VERSION, own_schema
from tests.postgres.server import running as server_running
from tests.postgres.shared import made, server_over

TURNS = 200
WARM = 10
QUESTION = "What does Watch Plus cost a month?"
FILES, SOCKET = "in files", "in PostgreSQL at its socket"


async def bench_kept(place: Place) -> list[Figure]:
    """The same question of three systems in turn, search by words: the median of each, and what PostgreSQL adds to it."""
    away = f"in PostgreSQL, {AWAY_S * 1000:.0f} ms away each way"
    folder = place.scratch / "kept"
    folder.mkdir()
    taken: dict[str, list[float]] = {FILES: [], SOCKET: [], away: []}
    async with AsyncExitStack() as stack:
        server = stack.enter_context(server_running(settings=DURABLE))
        of = {FILES: settings_over(folder / "files")}
        for name, seconds in ((SOCKET, 0.0), (away, AWAY_S)):
            url = stack.enter_context(own_schema(server))
            made(url, own := folder / f"keys-{seconds}")
            of[name] = server_over(stack.enter_context(reached(url, seconds)), folder / f"home-{seconds}", own)
        systems = {}
        for name, settings in of.items():
            await take_in_page(settings, folder / "kb", lexical_only=True)
            systems[name] = await stack.enter_async_context(running(settings))
        for turn in range(WARM + TURNS):
            for name, system in systems.items():
                ms, reply = await timed(system.answer(Ask(QUESTION), None))
                assert "9.99" in reply.answer
                if turn >= WARM:
                    taken[name].append(ms)
    medians = {name: percentile(ms, 0.5) for name, ms in taken.items()}
    note = f"PostgreSQL {VERSION} with fsync, one turn at a time, search by words"
    return [
        *(Figure(f"a turn kept {name}, p50", ms, "ms", TURNS, note=note) for name, ms in medians.items()),
        Figure(f"a turn kept {SOCKET}, beyond one in files", medians[SOCKET] - medians[FILES], "ms", TURNS, "<= 8"),
    ]
