"""Benchmark of traces: processor time of a turn of this process, with traces off and with traces sent to a collector in another."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import fmean

from bot.compose.system import compose
from bot.settings.settings import Settings
from tests.bench.figures import Figure, spread
from tests.bench.place import Place, answering, golden_asks
from tests.bench.timing import each_ms, warm

TURNS = 30
_COLLECTOR = (
    "import sys\nfrom tests.fakes.otlp_server import OtlpServer\n"
    "with OtlpServer() as collector:\n    print(collector.endpoint, flush=True)\n    sys.stdin.read()\n"
)


async def bench_telemetry(place: Place) -> list[Figure]:
    """The two ways in turn, over the same questions, the exporter's own thread included; each question was asked before."""
    with _collector() as endpoint:
        sent = place.settings.changed(traces="otlp", traces_endpoint=endpoint)
        taken = {"off": await _processor_ms(place.settings), "otlp": await _processor_ms(sent)}
        again = {"off": await _processor_ms(place.settings), "otlp": await _processor_ms(sent)}
    both = {name: taken[name] + again[name] for name in taken}
    out = []
    for name, ms in both.items():
        told = f"processor time of a warm turn, traces {name}"
        out += spread(told, ms, "ms", at=(50,))
        out.append(Figure(f"{told}, mean", fmean(ms), "ms", len(ms)))
    return out


async def _processor_ms(settings: Settings) -> list[float]:
    system = await compose(settings)
    asks = golden_asks()[:TURNS]
    try:
        await warm(answering(system), asks)
        return await each_ms(answering(system), asks, clock=time.process_time)
    finally:
        await system.close()


@contextmanager
def _collector() -> Iterator[str]:
    command = [sys.executable, "-c", _COLLECTOR]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        yield running.stdout.readline().strip()
        running.terminate()
