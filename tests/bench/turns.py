"""Whole turns over the sample knowledge base with the embedded engine, in this process."""

from __future__ import annotations

import time
from collections import defaultdict

from bot.compose.system import compose
from bot.records import Answer, Ask
from tests.bench.figures import Figure, percentile, spread
from tests.bench.place import Place, golden_asks

TURNS = 300


async def bench_turns(place: Place) -> list[Figure]:
    """p50, p90 and p99 of a warm turn, ledger included, and the p50 of each stage. The first pass over all questions warms."""
    system = await compose(place.settings)
    asks = golden_asks()
    try:
        cold = [await _timed(system.answer, ask) for ask in asks]
        taken: list[float] = []
        stages: dict[str, list[float]] = defaultdict(list)
        for number in range(TURNS):
            began = time.perf_counter()
            reply = await system.answer(asks[number % len(asks)], None)
            taken.append((time.perf_counter() - began) * 1000)
            for stage, ms in reply.record.timings_ms.items():
                stages[stage].append(ms)
    finally:
        await system.close()
    out = spread("warm turn", taken, "ms", targets={50: "<= 60", 99: "<= 200"})
    out.append(Figure("first time a question is asked, p50", percentile(cold, 0.5), "ms", len(cold)))
    return out + [Figure(f"stage {name}, p50", percentile(ms, 0.5), "ms", len(ms)) for name, ms in stages.items()]


async def _timed(answer: Answer, ask: Ask) -> float:
    began = time.perf_counter()
    await answer(ask, None)
    return (time.perf_counter() - began) * 1000
