"""`attest eval`: measure the system on labelled data."""

from __future__ import annotations

import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from bot.commands.evaluated import show, tell_notes, write_page
from bot.commands.ingest.ingest import bars
from bot.commands.ingest.sample import place_sample_directory
from bot.commands.shared import options
from bot.commands.shared.html_file import HtmlFile
from bot.commands.shared.output import emit, note, progress
from bot.commands.shared.startup import run, settings_of
from bot.commands.shared.wiring import opened, wiring_of
from bot.evaluate.bench import Bench, Company
from bot.evaluate.compare import over_earlier, read_earlier
from bot.evaluate.gate import failures, read_gate
from bot.evaluate.results import SuiteResult
from bot.evaluate.rows import T
from bot.evaluate.suites.registry import SUITES
from bot.settings.load import SAMPLE
from bot.settings.settings import Settings
from bot.system import System
from grounding.errors import InputError
from grounding.policies.files import policy_named

app = options.command_app()
SuiteName = StrEnum("SuiteName", {name.upper(): name for name in (*SUITES, "all")})  # type: ignore[misc]
ByCategory = Annotated[
    bool,
    typer.Option("--by-category", help="screen, provenance: a line per category, origin and kind of value as well."),
]
ByRule = Annotated[
    bool, typer.Option("--by-rule", help="answers: how often each rule that condemned a claim was right.")
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
Grades = Annotated[
    bool,
    typer.Option(
        "--grades",
        help="retrieval: also grade what was found: how often it would be answered though nothing is there, and refused though something is.",
    ),
]
Html = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="Also write a page to read: figures, plots, the worst questions first; - is stdout."
    ),
]
Baseline = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="What --json of an earlier run wrote: each question is compared with itself."),
]


Data = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Folder with provenance/, answers/, retrieval/, query/, screen/, injection/, planted/, questions.jsonl, golden.jsonl; turns: of a company, or of several.",
    ),
]
Sample = Annotated[
    bool, typer.Option("--sample", help="golden and turns: the product's own questions over its own knowledge base.")
]
Gate = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help='Exit with 1 below these figures: {suite: {set: {metric: min or {"max": x}}}}.'),
]
Limit = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="At most this many rows of each file, evenly spread.")
]


Kinds = Annotated[
    list[str] | None,
    typer.Option("--kind", metavar="KIND", help="turns: rows of this kind alone; may be given more than once."),
]
Keep = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="turns: leave the temporary home of each company here as DIR/NAME, to look at with ATTEST_HOME.",
    ),
]
Index = Annotated[
    str | None,
    typer.Option(
        "--index",
        metavar="NAME",
        help="turns: ask the knowledge base that is here, as this index of Azure AI Search finds it, before it is taken into use.",
    ),
]
Policies = Annotated[
    str | None,
    typer.Option(
        "--policy",
        metavar="NAME",
        help="golden: under this policy, several with commas, or all side by side; the first is compared with each other.",
    ),
]


@app.command()
def evaluate(
    context: typer.Context,
    *,
    suite: Annotated[SuiteName, typer.Argument(metavar="SUITE", help=f"What to measure: {', '.join(SUITES)}, or all.")],
    data: Data = None,
    sample: Sample = False,
    gate: Gate = None,
    limit: Limit = None,
    by_category: ByCategory = False,
    by_rule: ByRule = False,
    mutations: Mutations = 2000,
    errors: Errors = None,
    grades: Grades = False,
    policy: Policies = None,
    kind: Kinds = None,
    keep: Keep = None,
    index: Index = None,
    baseline: Baseline = None,
    html: Html = None,
    json: options.JsonFlag = False,
) -> None:
    """Measure the system on labelled data; nothing of it stays in the knowledge base.

    provenance also gives `relevance`: answers to the question against answers to another, at random and of the same subject (hard).
    retrieval builds a temporary knowledge base for each corpus; questions.jsonl and golden ask the knowledge base that is
    there, or the sample's with --sample. turns asks a company's own questions (kb/, turns.jsonl, readers.yaml, directory.yaml), or the sample's, over its own
    documents, in a temporary home, and says of each that was lost which stage lost it. `all` runs every suite that the folder has data for. Shares and scores are in [0, 1].

    Examples:
      attest eval golden --sample --policy all --html golden.html
      attest eval turns --sample --html turns.html
      attest eval retrieval --data ./mine --html retrieval.html --baseline before.json
      attest eval turns --data ./company --index attest-3f9a01c2
      attest eval answers --data ./desk --by-rule
      attest eval provenance --data ./data --errors wrong.jsonl
      attest eval all --data ./data --gate gate.yaml --json
    """
    bounds = read_gate(gate) if gate else ()
    earlier = read_earlier(baseline) if baseline else None
    page = _page(html, (gate, baseline), json=json)
    began = time.monotonic()
    names, folder = _chosen(suite.value, data, sample=sample), SAMPLE if sample else data or Path()
    settings = _over_index(settings_of(), index, suite.value, sample=sample, keep=keep)
    set_up = partial(
        Bench,
        policies=_policies(policy, settings),
        limit=limit,
        by_category=by_category,
        by_rule=by_rule,
        mutations=mutations,
        errors=errors,
        grades=grades,
        details=bool(page),
        kinds=tuple(kind or ()),
    )
    measured = run(_measure(context, settings, names, folder, set_up, keep=keep, sample=sample, here=index is not None))
    results = over_earlier(measured, earlier) if earlier else measured
    below = failures(bounds, results, partial=suite.value != "all")
    _tell(results, time.monotonic() - began, below, page=page, json=json, name=folder.resolve().name)
    raise typer.Exit(1 if below else 0)


def _tell(
    results: Sequence[SuiteResult],
    seconds: float,
    below: Sequence[str],
    *,
    page: HtmlFile | None,
    json: bool,
    name: str,
) -> None:
    """What was measured, and in how many seconds: notes on stderr, the page to its file, tables or one JSON document on stdout, and what the gate refused."""
    seconds = round(seconds, 3)
    tell_notes(results)
    if page:
        write_page(page, results, name, below)
    if json:
        emit({"suites": [result.as_json() for result in results], "seconds": seconds, "below_gate": below})
    elif not (page and page.on_stdout):
        show(results, seconds)
    for line in below:
        note(f"gate: {line}")


def _page(html: str | None, inputs: Sequence[Path | None], *, json: bool) -> HtmlFile | None:
    if html is None:
        return None
    if json and html == "-":
        raise InputError("--json and --html - both write to stdout; allowed: --html with a file")
    return HtmlFile.of(html, inputs=[str(file) for file in inputs if file is not None])


def _policies(given: str | None, settings: Settings) -> tuple[str, ...]:
    """The policies that golden runs under; the one that counts comes first of all."""
    if given is None:
        return ()
    if given == "all":
        return tuple(dict.fromkeys((settings.answering.policy, *settings.files.policies)))
    return tuple(policy_named(name.strip(), settings.files.policies).name for name in given.split(","))


def _chosen(suite: str, data: Path | None, *, sample: bool) -> list[str]:
    if sample:
        if suite not in ("golden", "turns") or data is not None:
            raise InputError("--sample goes with the suites golden and turns, and without --data")
        return [suite]
    if data is None:
        raise InputError(
            "--data DIR is missing; it holds the labelled rows (golden and turns may take --sample instead)"
        )
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
    keep: Path | None,
    sample: bool,
    here: bool,
) -> list[SuiteResult]:
    @asynccontextmanager
    async def fresh(path: Path) -> AsyncIterator[System]:
        async with temporary(context, settings, path) as system:
            yield system

    @asynccontextmanager
    async def open_company(company: Company) -> AsyncIterator[System]:
        with _home(keep / company.name if keep else None) as home:
            own = _own_settings(settings, home, directory=company.directory or home / "directory.yaml")
            async with _filled(context, own, company.kb, acl=company.readers) as system:
                yield system
            if keep:
                note(f"{home}: ATTEST_HOME={home} ATTEST_LEDGER_KEY_FILE={own.files.ledger_key} attest ask …")

    whole = fresh(SAMPLE / "kb") if sample and names == ["golden"] else opened(context, settings)
    async with whole as system:

        @asynccontextmanager
        async def as_it_is(_: Company) -> AsyncIterator[System]:
            yield system

        bench = set_up(system, data, fresh, as_it_is if here else open_company, _track)
        return [await SUITES[name].run(bench) for name in names]


def _over_index(settings: Settings, index: str | None, suite: str, *, sample: bool, keep: Path | None) -> Settings:
    """The settings, or of a run with --index those of a server that searches this index alone. Raises InputError."""
    if index is None:
        return settings
    if suite != "turns" or sample or keep is not None:
        raise InputError("--index goes with the suite turns and --data, and without --keep")
    if settings.search.kind != "azure":
        raise InputError("--index needs ATTEST_SEARCH=azure")
    return settings.changed(search_index=index, search_alias="off", search_agentic="off")


@asynccontextmanager
async def temporary(context: typer.Context, settings: Settings, path: Path) -> AsyncIterator[System]:
    """A system over a temporary knowledge base made of `path`; home, ledger and key are temporary as well."""
    with _home(None) as home:
        sample = path == SAMPLE / "kb"
        own = _own_settings(settings, home, directory=None if sample else settings.directory_path)
        if sample:
            place_sample_directory(own)
        async with _filled(context, own, path) as system:
            yield system


@contextmanager
def _home(kept: Path | None) -> Iterator[Path]:
    """A home that is removed at the end, or `kept`. Raises InputError."""
    if kept is None:
        with tempfile.TemporaryDirectory(prefix="attest-eval-") as name:
            yield Path(name)
        return
    try:
        kept.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"--keep {kept.parent}: {(error.strerror or 'cannot be made').lower()}", code="bad_file"
        ) from None
    yield kept


@asynccontextmanager
async def _filled(context: typer.Context, own: Settings, path: Path, acl: Path | None = None) -> AsyncIterator[System]:
    """A system over the home of `own`, once the documents of `path` are in it."""
    ingester = await wiring_of(context).open_ingester(own)
    try:
        with bars() as on_progress:
            report = await ingester.run([path], acl=acl, lexical_only=False, on_progress=on_progress)
    finally:
        await ingester.close()
    if report.refused:
        first = report.refused[0]
        note(f"{path}: {len(report.refused)} refused, the first is {first.doc}: {first.reason}")
    async with opened(context, own) as system:
        yield system


def _own_settings(settings: Settings, home: Path, *, directory: Path | None) -> Settings:
    """The settings of the installation in a home of their own. `directory`: who is in which group; None: HOME/directory.yaml."""
    settings.files.policies  # noqa: B018  # read before the home changes: the company's own policies are measured too
    as_before = directory == settings.directory_path
    return settings.changed(
        home=home,
        ledger_key_file=home / "ledger.key",
        model_file=settings.files.model_path,
        directory=settings.directory.kind if as_before else "file",
        directory_file=directory,
    )


def _track(name: str, rows: Sequence[T], /) -> Iterator[T]:
    with progress() as shown:
        yield from shown.track(rows, description=name)
