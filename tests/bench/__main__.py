"""`python -m tests.bench [--data DIR] [--json] [--only NAME…]`: figures with n, on this machine, now.

Nothing is asserted: a figure is to be read together with the machine and its load. Without --data the benches that need
the public sets are skipped and say so.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.bench.against_bm25s import bench_bm25s
from tests.bench.azure_golden import bench_azure_golden
from tests.bench.chain import bench_chain
from tests.bench.channel import bench_channel, bench_channel_memory
from tests.bench.checking import bench_provenance, bench_rows, bench_slow
from tests.bench.costing import bench_cost
from tests.bench.desk import bench_desk
from tests.bench.entries import bench_entries
from tests.bench.figures import Figure, Machine, Skipped, machine
from tests.bench.grading import bench_grading
from tests.bench.ingesting import bench_files, bench_unchanged, bench_vectors, bench_words
from tests.bench.kept import bench_kept
from tests.bench.killed import bench_killed, bench_killed_many
from tests.bench.moving import bench_moving
from tests.bench.on_azure import bench_azure
from tests.bench.parts import bench_check, bench_search
from tests.bench.place import Place, fill, prepared
from tests.bench.planned import bench_planned
from tests.bench.program import bench_cold, bench_server
from tests.bench.proving import bench_proof
from tests.bench.recording import bench_ledger
from tests.bench.scale import bench_scale
from tests.bench.screens import bench_screen
from tests.bench.telemetry import bench_telemetry
from tests.bench.turns import bench_turns
from tests.bench.uploading import bench_upload

Bench = Callable[[Place], Awaitable[list[Figure] | Skipped]]
BENCHES: dict[str, Bench] = {
    "turns": bench_turns,
    "cold": bench_cold,
    "server": bench_server,
    "channel": bench_channel,
    "channel-memory": bench_channel_memory,
    "words": bench_words,
    "files": bench_files,
    "vectors": bench_vectors,
    "check": bench_check,
    "provenance": bench_provenance,
    "rows": bench_rows,
    "slow": bench_slow,
    "screen": bench_screen,
    "grading": bench_grading,
    "search": bench_search,
    "unchanged": bench_unchanged,
    "scale": bench_scale,
    "bm25s": bench_bm25s,
    "upload": bench_upload,
    "planned": bench_planned,
    "azure": bench_azure,
    "golden": bench_azure_golden,
    "telemetry": bench_telemetry,
    "ledger": bench_ledger,
    "chain": bench_chain,
    "killed": bench_killed,
    "killed-many": bench_killed_many,
    "kept": bench_kept,
    "moving": bench_moving,
    "proof": bench_proof,
    "cost": bench_cost,
    "entries": bench_entries,
    "desk": bench_desk,
}
"""In the order in which they run; "search" uses the index that "words" makes."""
ON_REQUEST = (
    "channel-memory",
    "chain",
    "killed",
    "killed-many",
    "kept",
    "moving",
    "scale",
    "bm25s",
    "upload",
    "planned",
    "golden",
    "cost",
    "entries",
    "desk",
)
"""They take minutes, or a package that nothing else needs: run only when they are named."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benches and print what they measured."""
    given = _parser().parse_args(arguments)
    data = given.data.resolve() if given.data else None
    if data is not None and not data.is_dir():
        sys.stderr.write(f"bench: --data {data}: no such folder\n")
        return 2
    here = machine()
    results = asyncio.run(_run(given, data))
    if given.json:
        sys.stdout.write(
            json.dumps({"machine": asdict(here), "results": [asdict(r) for r in results]}, indent=2, ensure_ascii=False)
            + "\n"
        )
    else:
        _show(here, results)
    return 0


async def _run(given: argparse.Namespace, data: Path | None) -> list[Figure | Skipped]:
    out: list[Figure | Skipped] = []
    names = given.only or [name for name in BENCHES if name not in ON_REQUEST]
    with prepared(data, given.work and given.work.resolve(), tuple(given.size)) as place:
        await fill(place)
        for name in names:
            sys.stderr.write(f"bench: {name}\n")
            found = await BENCHES[name](place)
            out += found if isinstance(found, list) else [found]
    return out


def _show(here: Machine, results: Sequence[Figure | Skipped]) -> None:
    out = Console(width=110, highlight=False)
    out.print(
        f"{here.cpu}, {here.cores} cores, {here.memory_gb} GB, {here.system}, Python {here.python}, load {here.load}"
    )
    table = Table("what", "value", "unit", "n", "target", box=None, pad_edge=False)
    for figure in (r for r in results if isinstance(r, Figure)):
        table.add_row(figure.name, f"{figure.value:.2f}", figure.unit, str(figure.n), figure.target)
    out.print(table)
    for note in dict.fromkeys(r.note for r in results if isinstance(r, Figure) and r.note):
        out.print(f"note: {note}")
    for skipped in (r for r in results if isinstance(r, Skipped)):
        out.print(f"skipped: {skipped.name}, {skipped.why}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of the public sets (docs/evaluation.md)")
    parser.add_argument("--json", action="store_true", help="JSON instead of a table")
    parser.add_argument("--only", nargs="+", choices=list(BENCHES), help="these benches, in this order")
    parser.add_argument(
        "--size",
        nargs="+",
        type=int,
        default=[100_000],
        metavar="N",
        help="chunks of the stores of --only scale, documents of --only upload, turns of --only desk",
    )
    parser.add_argument(
        "--work", type=Path, metavar="DIR", help="keep the stores of --only scale there, and use them again"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
