"""`attest ingest`: takes files, folders or a corpus into the knowledge base."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import TaskID

from bot.commands.ingest.plan import note_opened, refusals, show_plan
from bot.commands.ingest.planned import check_root, show_runs
from bot.commands.ingest.sample import place_sample_directory
from bot.commands.ingest.watch import Job, follow, print_event, print_event_as_json
from bot.commands.shared import options
from bot.commands.shared.output import console, emit, note, plain, progress
from bot.commands.shared.startup import make_home, run, settings_of
from bot.commands.shared.wiring import opened_ingester
from bot.compose.embedder import spending
from bot.settings.load import SAMPLE
from bot.settings.settings import Settings
from grounding.errors import InputError
from grounding.ingest.chunk_settings import READ_AT_ONCE
from grounding.ingest.sources import is_corpus
from grounding.records import IngestPlan, IngestReport, OnProgress, Progress

app = options.command_app()
_STAGES = {
    "plan": "planning",
    "run": "documents of the run",
    "read": "reading",
    "words": "indexing words",
    "vectors": "indexing meaning",
    "screen": "looking for hidden orders",
    "hyde": "imagining questions",
    "search": "following in Azure AI Search",
}
_Acl = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="YAML, glob of paths to list of groups that may read; first match wins."),
]
_LexicalOnly = Annotated[
    bool, typer.Option("--lexical-only", help="Do not make vectors: search by words only, much faster to build.")
]
_Watch = Annotated[
    bool,
    typer.Option("--watch", help="Keep running and follow every change of the files within seconds; Ctrl-C ends it."),
]
_Rebuild = Annotated[
    bool, typer.Option("--rebuild", help="First make all indexes again from the documents in store; needs no PATH.")
]
_DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Only say what would be done, and what it would cost; nothing changes.")
]
_Root = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Plan a run that others join by the same command, on this machine or another, wherever they have PATH.",
    ),
]


@app.command()
def ingest(
    context: typer.Context,
    *,
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="PATH…", help="Files, folders, or a .jsonl corpus.")
    ] = None,
    acl: _Acl = None,
    sample: Annotated[bool, typer.Option("--sample", help="The knowledge base that comes with the product.")] = False,
    lexical_only: _LexicalOnly = False,
    watch: _Watch = False,
    rebuild: _Rebuild = False,
    dry_run: _DryRun = False,
    root: _Root = None,
    runs: Annotated[bool, typer.Option("--runs", help="Say how far the runs of --root are; takes no PATH.")] = False,
    end: Annotated[bool, typer.Option("--end", help="End the run of --root as it stands; takes no PATH.")] = False,
    json: options.JsonFlag = False,
) -> None:
    """Take documents into the knowledge base; run it again after a change and only the change costs work.

    What is gone from a folder or corpus given here is taken out; what came from elsewhere stays. The command returns
    when everything is searchable by words and by meaning.

    A line of a .jsonl corpus is {"doc_id", "title", "text", "url"?, "groups"?, "product"?, "internal"?, "updated"?, "trust"?}.
    Exit code 2 if a line of a corpus, or every document, was refused. With --watch each change is one line on stdout
    (with --json a JSON object), and Ctrl-C ends it with 130.

    With --root the documents belong to that name and not to a folder of this machine. The first command plans, the others
    join, each takes what nobody has in hand, and what was killed is gone on with; all end with the same report.

    Examples:
      attest ingest --sample
      attest ingest handbook/ prices.xlsx --acl readers.yaml
      attest ingest corpus.jsonl --lexical-only --json
      attest ingest handbook/ --dry-run
      attest ingest handbook/ --watch
      attest ingest --rebuild
      attest ingest /mnt/handbook --root handbook
      attest ingest --runs
    """
    check_root(paths, root, runs=runs, end=end, alone=sample or rebuild or watch)
    if runs or end:
        show_runs(settings_of(), root, end=end, json=json)
        return
    _one_of(paths, sample=sample, rebuild=rebuild, watch=watch, dry_run=dry_run)
    settings = settings_of()
    job = Job(_given(settings, paths, sample=sample), acl, lexical_only, root)
    if dry_run:
        planned = run(_plan(context, settings, job))
        raise typer.Exit(show_plan(planned, settings, spent=spending(settings).today(), json=json))
    if watch:
        run(_watch(context, settings, job, rebuild=rebuild, json=json))
        return
    raise typer.Exit(_told(run(_ingest(context, settings, job, rebuild=rebuild)), job, json=json))


def _given(settings: Settings, paths: list[Path] | None, *, sample: bool) -> list[Path]:
    """The folders and files to ingest. The sample's people come with the sample alone: a group of theirs may be one of yours."""
    if not sample:
        return _existing(paths or [])
    make_home(settings)
    place_sample_directory(settings)
    return [SAMPLE / "kb"]


def _told(report: IngestReport | None, job: Job, *, json: bool) -> int:
    """Show what was done; the exit code."""
    if json:
        emit({"rebuilt": True} if report is None else asdict(report))
    elif report is not None:
        _show(report)
    return 0 if report is None else _exit_code(report, job.paths)


def _one_of(paths: list[Path] | None, *, sample: bool, rebuild: bool, watch: bool, dry_run: bool) -> None:
    if (paths and sample) or not (paths or sample or rebuild):
        raise InputError("ingest takes either PATH… or --sample")
    if watch and not paths:
        raise InputError("ingest --watch takes PATH…")
    if dry_run and (watch or rebuild):
        raise InputError("ingest --dry-run goes with neither --watch nor --rebuild")


async def _ingest(context: typer.Context, settings: Settings, job: Job, *, rebuild: bool) -> IngestReport | None:
    """The report of an ingest; None if there was nothing to do but to rebuild."""
    async with opened_ingester(context, settings) as ingester:
        with bars() as on_progress:
            if rebuild:
                await ingester.rebuild(on_progress)
                note("all indexes were made again from the documents in store")
            if not job.paths:
                return None
            given: Any = {"acl": job.acl, "lexical_only": job.lexical_only, "on_progress": on_progress}
            if job.root is not None:
                return await ingester.take_part(job.root, job.paths[0], **given)
            return await ingester.run(job.paths, **given)


async def _plan(context: typer.Context, settings: Settings, job: Job) -> IngestPlan:
    async with opened_ingester(context, settings) as ingester:
        with bars() as on_progress:
            return await ingester.plan(
                job.paths, acl=job.acl, lexical_only=job.lexical_only, on_progress=on_progress, root=job.root
            )


async def _watch(context: typer.Context, settings: Settings, job: Job, *, rebuild: bool, json: bool) -> None:
    async with opened_ingester(context, settings) as ingester:
        if rebuild:
            with bars() as on_progress:
                await ingester.rebuild(on_progress)
        tell = print_event_as_json if json else print_event
        await follow(ingester, job, tell, lambda report: None if json else _show(report), bars)


@contextmanager
def bars() -> Iterator[OnProgress]:
    """Draw a bar for each stage of an ingest on stderr; yields what is to be told of progress. Silent where no person looks on."""
    tasks: dict[str, TaskID] = {}
    with progress() as shown:

        def on_progress(at: Progress) -> None:
            if at.stage not in tasks:
                tasks[at.stage] = shown.add_task(_STAGES.get(at.stage, at.stage), total=at.total)
            shown.update(tasks[at.stage], completed=at.done, total=at.total)

        yield on_progress


def _existing(paths: Sequence[Path]) -> list[Path]:
    for path in paths:
        if not path.exists():
            raise InputError(f"PATH {path}: no such file or directory", code="no_file")
    return list(paths)


def _exit_code(report: IngestReport, paths: Sequence[Path]) -> int:
    if report.waiting:
        note(f"attest: {report.waiting}; everything is found by words, run attest ingest again to go on with vectors")
        return 3
    if not report.refused:
        return 0
    nothing = not (report.added or report.changed or report.unchanged)
    if nothing or any(is_corpus(path.resolve()) for path in paths):
        note(f"{len(report.refused)} refused; the reasons stand in the output")
        return 2
    return 0


def _show(report: IngestReport) -> None:
    out = console()
    if report.refused:
        out.print(refusals(report.refused))
    note_opened(report.opened)
    for way, count in report.rechunked.items():
        note(f"{count} unchanged document(s) cut anew: by {report.chunking}, before by {way}")
    if report.reembedded:
        note(f"{report.reembedded} unchanged passage(s) embedded anew: their vectors were another embedding model's")
    if report.long_chunks:
        note(
            f"{report.long_chunks} new chunk(s) hold more than {READ_AT_ONCE} tokens: the embedding model reads them in parts"
            " and their meaning is the mean of these; ATTEST_CHUNK_SIZE makes them smaller"
        )
    if report.held_index:
        note(
            f"{report.held_index} is whole and held beside the index in use: attest eval turns --index {report.held_index} --data DIR asks it,"
            f" attest index use {report.held_index} takes it into use"
        )
    names = ("added", "changed", "unchanged", "deleted")
    counts = " · ".join(f"{name} {getattr(report, name)}" for name in names)
    out.print(f"{counts} · refused {len(report.refused)}")
    out.print(
        plain(
            f"{report.chunks} chunks, {report.embedded} newly embedded, knowledge base {report.kb_version},"
            f" {report.seconds:.1f} s"
        ),
        style="dim",
    )
