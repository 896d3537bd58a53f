"""Benchmark of whole turns: milliseconds over the sample knowledge base with the embedded engine, in this process, by stage."""

from __future__ import annotations

from collections import defaultdict

from bot.compose.system import compose
from tests.bench.figures import Figure, spread
from tests.bench.place import Place, answering, golden_asks
from tests.bench.timing import each_ms, timed

TURNS = 300


async def bench_turns(place: Place) -> list[Figure]:
    """p50, p90 and p99 of a warm turn, ledger included, and the p50 of each stage. The first pass over all questions warms."""
    system = await compose(place.settings)
    asks = golden_asks()
    try:
        cold = await each_ms(answering(system), asks)
        taken: list[float] = []
        stages: dict[str, list[float]] = defaultdict(list)
        for number in range(TURNS):
            ms, reply = await timed(system.answer(asks[number % len(asks)], None))
            taken.append(ms)
            for stage, ms in reply.record.timings_ms.items():
                stages[stage].append(ms)
    finally:
        await system.close()
    out = spread("warm turn", taken, "ms", targets={50: "<= 60", 99: "<= 200"})
    out += spread("first time a question is asked", cold, "ms", at=(50,))
    return out + [figure for name, ms in stages.items() for figure in spread(f"stage {name}", ms, "ms", at=(50,))]
