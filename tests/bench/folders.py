"""Looking through a large folder in which nothing has changed."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

from bot.compose import open_ingester
from grounding.sources import find, look
from tests.bench.figures import Figure
from tests.bench.place import Place
from tests.e2e.processes import environment_of, settings_over

FILES, FOLDERS, RUNS = 10_000, 100, 3


async def bench_folder(place: Place) -> list[Figure]:
    """Seconds to see that a folder of many files is unchanged: in this process, as a command, and one look of a watch."""
    folder, home = _folder(place.scratch / "large"), place.scratch / "large-home"
    ingester = await open_ingester(settings_over(home))
    taken = []
    try:
        await ingester.run([folder], acl=None, lexical_only=True, on_progress=lambda _: None)
        for _ in range(RUNS):
            began = time.perf_counter()
            report = await ingester.run([folder], acl=None, lexical_only=True, on_progress=lambda _: None)
            taken.append(time.perf_counter() - began)
            assert report.unchanged == FILES
    finally:
        await ingester.close()
    return [
        Figure("unchanged folder checked, in process, median", statistics.median(taken), "s", FILES, "<= 2"),
        Figure("unchanged folder checked, attest ingest, median", _command(folder, home), "s", FILES, "<= 2"),
        Figure("a look of ingest --watch at it, median", _median_of_looks(folder), "s", FILES),
        Figure("its stamps taken, median", _median_of_stamps(folder), "s", FILES),
    ]


def _folder(folder: Path) -> Path:
    for number in range(FILES):
        file = folder / f"part{number % FOLDERS}" / f"note{number}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# Note {number}\n\nIt costs €{number}.50.\n", "utf-8")
    rules = "documents:\n- match: part1/*\n  groups: [hr]\n- match: 'part2*/*'\n  product: Wren\n"
    (folder / "attest.yaml").write_text(rules, "utf-8")
    return folder


def _command(folder: Path, home: Path) -> float:
    command = [sys.executable, "-m", "bot", "ingest", str(folder), "--lexical-only", "--json"]
    taken = []
    for _ in range(RUNS):
        began = time.perf_counter()
        subprocess.run(command, env=environment_of(home), cwd=home.parent, capture_output=True, check=True)
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def _median_of_looks(folder: Path) -> float:
    taken = []
    for _ in range(RUNS):
        began = time.perf_counter()
        look([folder])
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def _median_of_stamps(folder: Path) -> float:
    taken = []
    for _ in range(RUNS):
        began = time.perf_counter()
        for _item in find([folder]):
            pass
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)
