"""`attest eval`: measure the system on labelled data."""

from __future__ import annotations

import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from bot.commands import options
from bot.commands.ingest import bars
from bot.commands.output import console, emit, note, progress, table
from bot.commands.sample import place_sample_directory
from bot.commands.startup import run, settings_of
from bot.commands.wiring import opened, wiring_of
from bot.evaluate.bench import Bench, SuiteResult, T
from bot.evaluate.gate import failures, read_gate
from bot.evaluate.suites import SUITES
from bot.settings import SAMPLE, Settings
from bot.system import System
from grounding.errors import InputError

app = options.command_app()
SuiteName = StrEnum("SuiteName", {name.upper(): name for name in (*SUITES, "all")})  # type: ignore[misc]
ByCategory = Annotated[
    bool,
    typer.Option("--by-category", help="screen, provenance: a line per category, origin and kind of value as well."),
]
Mutations = Annotated[
    int, typer.Option(metavar="N", min=0, help="provenance: this many changed answers of each kind; 0 makes none.")
]
Errors = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="provenance: write what was missed and what was falsely flagged, worst first, as JSON lines. "
        "A third of the documents is kept aside and never written.",
    ),
]


@app.command()
def evaluate(
    context: typer.Context,
    *,
    suite: Annotated[SuiteName, typer.Argument(metavar="SUITE", help=f"What to measure: {', '.join(SUITES)}, or all.")],
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder with provenance/, retrieval/, query/, screen/, injection/, golden.jsonl."
        ),
    ] = None,
    sample: Annotated[
        bool, typer.Option("--sample", help="golden only: the product's own questions over its own knowledge base.")
    ] = False,
    gate: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help='Exit with 1 below these figures: {suite: {set: {metric: min or {"max": x}}}}.'
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="At most this many rows of each file, evenly spread.")
    ] = None,
    by_category: ByCategory = False,
    mutations: Mutations = 2000,
    errors: Errors = None,
    json: options.JsonFlag = False,
) -> None:
    """Measure the system on labelled data; nothing of it leaves this machine or stays in the knowledge base.

    provenance also gives `relevance`: answers to the question against answers to another, at random and of the same subject (hard).
    retrieval builds a temporary knowledge base for each corpus; golden asks the knowledge base that is there, or the
    sample's with --sample. `all` runs every suite that the folder has data for. Shares and scores are in [0, 1].

    Examples:
      attest eval golden --sample
      attest eval provenance --data ./data --errors wrong.jsonl
      attest eval all --data ./data --gate gate.yaml --json
    """
    bounds = read_gate(gate) if gate else ()
    began = time.monotonic()
    names = _chosen(suite.value, data, sample=sample)
    settings = settings_of()
    folder = SAMPLE if sample else data or Path()
    set_up = partial(Bench, limit=limit, by_category=by_category, mutations=mutations, errors=errors)
    results = run(_measure(context, settings, names, folder, set_up, sample=sample))
    seconds = round(time.monotonic() - began, 3)
    below = failures(bounds, results, partial=suite.value != "all")
    if json:
        emit({"suites": [_suite_json(result) for result in results], "seconds": seconds, "below_gate": below})
    else:
        _show(results, seconds)
    for line in below:
        note(f"gate: {line}")
    raise typer.Exit(1 if below else 0)


def _chosen(suite: str, data: Path | None, *, sample: bool) -> list[str]:
    if sample:
        if suite != "golden" or data is not None:
            raise InputError("--sample goes with the suite golden and without --data")
        return ["golden"]
    if data is None:
        raise InputError("--data DIR is missing; it holds the labelled rows (golden may take --sample instead)")
    if not data.is_dir():
        raise InputError(f"--data {data}: no such folder", code="no_file")
    wanted = list(SUITES) if suite == "all" else [suite]
    present = [name for name in wanted if SUITES[name].has_data(data)]
    for name in wanted:
        if name not in present and suite == "all":
            note(f"{name}: skipped, {data / SUITES[name].needs} is not there")
    if not present:
        needed = SUITES[suite].needs if suite != "all" else "any suite's files"
        raise InputError(f"--data {data}: nothing to measure; needed: {needed}", code="no_file")
    return present


async def _measure(
    context: typer.Context,
    settings: Settings,
    names: Sequence[str],
    data: Path,
    set_up: Callable[..., Bench],
    *,
    sample: bool,
) -> list[SuiteResult]:
    @asynccontextmanager
    async def fresh(path: Path) -> AsyncIterator[System]:
        async with temporary(context, settings, path) as system:
            yield system

    whole = fresh(SAMPLE / "kb") if sample else opened(context, settings)
    async with whole as system:
        bench = set_up(system, data, fresh, _track)
        return [await SUITES[name].run(bench) for name in names]


@asynccontextmanager
async def temporary(context: typer.Context, settings: Settings, path: Path) -> AsyncIterator[System]:
    """A system over a temporary knowledge base made of `path`; home, ledger and key are temporary as well."""
    with tempfile.TemporaryDirectory(prefix="attest-eval-") as name:
        own = _own_settings(settings, Path(name), sample=path == SAMPLE / "kb")
        ingester = await wiring_of(context).open_ingester(own)
        try:
            with bars() as on_progress:
                report = await ingester.run([path], acl=None, lexical_only=False, on_progress=on_progress)
        finally:
            await ingester.close()
        if report.refused:
            first = report.refused[0]
            note(f"{path}: {len(report.refused)} refused, the first is {first.doc}: {first.reason}")
        async with opened(context, own) as system:
            yield system


def _own_settings(settings: Settings, home: Path, *, sample: bool) -> Settings:
    own = settings.model_copy(
        update={
            "home": home,
            "ledger_key_file": home / "ledger.key",
            "model_file": settings.model_path,
            "directory_file": None if sample else settings.directory_path,
        }
    )
    if sample:
        place_sample_directory(own)
    return own


def _track(name: str, rows: Sequence[T], /) -> Iterator[T]:
    with progress() as shown:
        yield from shown.track(rows, description=name)


def _suite_json(result: SuiteResult) -> dict[str, Any]:
    value = asdict(result)
    if not result.wrong:
        del value["wrong"]
    return value


def _show(results: Sequence[SuiteResult], seconds: float) -> None:
    out = console()
    for result in results:
        if result.wrong:
            out.print(Text(f"{result.suite}: wrong rows", style="bold red"))
            rows = [(row.id, row.set, row.outcome, "; ".join(row.why)) for row in result.wrong]
            out.print(table(("row", "set", "outcome", "why"), rows))
            out.print()
        names = list(dict.fromkeys(metric for part in result.sets for metric in part.metrics))
        rows_of_figures = [
            (part.name, part.n, *(_figure(name, part.metrics.get(name)) for name in names)) for part in result.sets
        ]
        out.print(table((result.suite, "n", *names), rows_of_figures, right=("n", *names)))
        out.print()
    out.print(f"{seconds:.1f} s", style="dim")


def _figure(name: str, value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.0f}" if name in ("without_relevant", "elsewhere_n") else f"{value:.3f}"
