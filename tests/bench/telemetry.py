"""What traces cost: processor time of a turn of this process, with traces off and with traces sent to a collector in another."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import fmean

from bot.compose.system import compose
from bot.settings.settings import Settings
from tests.bench.figures import Figure, percentile
from tests.bench.place import Place, golden_asks

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
        out.append(Figure(f"{told}, p50", percentile(ms, 0.5), "ms", len(ms)))
        out.append(Figure(f"{told}, mean", fmean(ms), "ms", len(ms)))
    return out


async def _processor_ms(settings: Settings) -> list[float]:
    system = await compose(settings)
    asks = golden_asks()[:TURNS]
    try:
        for ask in asks:
            await system.answer(ask, None)
        out = []
        for ask in asks:
            began = time.process_time()
            await system.answer(ask, None)
            out.append((time.process_time() - began) * 1000)
    finally:
        await system.close()
    return out


@contextmanager
def _collector() -> Iterator[str]:
    command = [sys.executable, "-c", _COLLECTOR]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        yield running.stdout.readline().strip()
        running.terminate()
