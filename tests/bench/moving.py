"""Benchmark of `attest database copy`: entries a second from a home into a PostgreSQL that flushes each commit, and back into another home."""

from __future__ import annotations

import time
from pathlib import Path

from bot.compose.moving import copied
from bot.compose.record import open_record
from bot.settings.load import load_settings
from bot.settings.settings import Settings
from grounding.records import Progress
from tests.bench.chain import DURABLE
from tests.bench.figures import Figure
from tests.bench.place import Place
from tests.bench.recording import body_of
from tests.many_entries import grown
from tests.postgres.server import VERSION, own_schema, running

ENTRIES = 100_000


async def bench_moving(place: Place) -> list[Figure]:
    """A home with that many made-up entries of 3 KB: what taking rows along takes by itself, and the whole command with the chain verified at both ends."""
    folder = place.scratch / "moving"
    keys = folder / "keys" / "ledger.key"
    home = _over(folder / "one", keys)
    home.files.home.mkdir(parents=True)
    await grown(home.files.home / "ledger.db", keys, ENTRIES, body_of(0))
    with running(settings=DURABLE) as server, own_schema(server) as url:
        figures = await _moved(home, url, f"from a file into PostgreSQL {VERSION}")
        figures += await _moved(
            _over(folder / "two", keys, url), f"sqlite:{folder / 'three'}", "from there into a file"
        )
    return figures


def _over(home: Path, keys: Path, url: str | None = None) -> Settings:
    more = {} if url is None else {"database_url": url}
    return load_settings(home=home, ledger_key_file=keys, model_file=home / "none.onnx", **more)


async def _moved(source: Settings, to: str, name: str) -> list[Figure]:
    at: list[float] = []

    def note(now: Progress) -> None:
        if now.stage == "entries":
            at.append(time.perf_counter())

    began = time.perf_counter()
    done = await copied(source, to, None, note)
    whole, rows = time.perf_counter() - began, done.rows["entries"]
    began = time.perf_counter()
    async with open_record(source) as record:
        assert (await record.verify()).ok
    verified = time.perf_counter() - began
    return [
        Figure(f"copy of entries {name}", rows / (at[-1] - at[0]), "1/s", rows, target=">= 5,000"),
        Figure(f"the whole copy {name}, the chain verified at both ends", rows / whole, "1/s", rows),
        Figure(f"verifying the chain {name}, once", rows / verified, "1/s", rows),
    ]
