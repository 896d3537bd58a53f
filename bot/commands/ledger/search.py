"""`attest ledger search`: finds entries as the reviewers' desk does."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO, Annotated, Any, cast

import typer

from bot.commands.shared import options
from bot.commands.shared.output import console, emit, note, plain, progress, table
from bot.commands.shared.recording import record_or_note
from bot.commands.shared.startup import run, settings_of
from bot.commands.shared.wiring import opened_ledger, opened_record
from bot.desk import table as files
from bot.desk.bundle import FORMAT, write_bundle
from bot.desk.index import SAMPLED, STRATA, Counts, Desk, DownloadRow, Draw
from bot.desk.search import CHOICES, IN_EVIDENCE, LONGEST, NAMED, REASONS, UNDELIVERED, YES, DeskSearch, is_day
from bot.events.copies import Exported, record_export
from bot.places import is_there, places_of
from bot.wording.reviewing.verdicts import VERDICTS
from grounding.errors import AttestError, InputError
from rai.ports import Ledger

BUNDLE = "bundle"
_OPTIONS = {
    "claim": "--claim",
    "status": "--status",
    "outcome": "--outcome",
    "kind": "--kind",
    "feedback": "--feedback",
    "verdict": "--verdict",
    "queue": "--queue",
}


Words = Annotated[str, typer.Argument(metavar="WORDS", help='Words that all must stand there, "phrases", begin*.')]
Since = Annotated[str, typer.Option(metavar="DAY", help="From this day on (UTC), as 2026-11-25.")]
Until = Annotated[str, typer.Option(metavar="DAY", help="Up to this day, included.")]
User = Annotated[str, typer.Option(metavar="ID", help="Who asked, as `actor.user` has it.")]
Channel = Annotated[str, typer.Option(metavar="NAME", help="The channel: http, msteams, cli …")]
Product = Annotated[str, typer.Option(metavar="NAME", help="The product that was asked about.")]
Outcome = Annotated[str, typer.Option(metavar="OUTCOME", help="How the turn ended.")]
OfKind = Annotated[str, typer.Option(metavar="KIND", help="Entries of this kind, or `all`.")]
OfDocument = Annotated[str, typer.Option(metavar="DOC", help="A document that the answer quotes.")]
Version = Annotated[str, typer.Option(metavar="ID", help="This version of it.")]
InEvidence = Annotated[
    bool, typer.Option("--in-evidence", help="The document need not be quoted, if it could have been.")
]
OfClaim = Annotated[str, typer.Option(metavar="KIND", help="A claim of this kind, or `screen` for refusals.")]
Status = Annotated[str, typer.Option(metavar="STATUS", help="A claim with this status, or `unsupported`.")]
Rule = Annotated[str, typer.Option(metavar="NAME", help="A claim that this rule decided.")]
Struck = Annotated[bool, typer.Option("--struck", help="Something was not delivered.")]
OfFeedback = Annotated[
    str, typer.Option(metavar="SAID", help="like, dislike, reported (a refusal, undecided), wrong or right.")
]
OfVerdict = Annotated[
    str, typer.Option(metavar="VERDICT", help=f"What a reviewer said last: {', '.join(VERDICTS)}, any, or none.")
]
Queue = Annotated[str, typer.Option(metavar="REASON", help=f"Turns that wait for review: {', '.join(REASONS)}.")]
Undelivered = Annotated[bool, typer.Option("--undelivered", help="Turns whose reply is not known to have arrived.")]
Limit = Annotated[int, typer.Option(metavar="N", min=1, max=10_000, help="Rows of the table at most.")]
Before = Annotated[int, typer.Option(metavar="SEQ", min=0, help="Only entries before this number.")]
Sample = Annotated[
    int, typer.Option(metavar="N", min=0, max=SAMPLED, help="So many of each stratum, picked by chance.")
]
By = Annotated[
    str, typer.Option(metavar="WHAT", help=f"Strata of a sample: {', '.join(STRATA)}; without it all together.")
]
Seed = Annotated[int | None, typer.Option(metavar="N", min=0, help="Of the chance: the same picks the same again.")]
Format = Annotated[
    str,
    typer.Option("--format", metavar="FORM", help="table, or all that is found as csv, jsonl or bundle (with proofs)."),
]
To = Annotated[Path | None, typer.Option(metavar="FILE", help="Write the bundle to this new file, a zip.")]


def search(
    context: typer.Context,
    words: Words = "",
    *,
    since: Since = "",
    until: Until = "",
    user: User = "",
    channel: Channel = "",
    product: Product = "",
    outcome: Outcome = "",
    kind: OfKind = "",
    document: OfDocument = "",
    version: Version = "",
    in_evidence: InEvidence = False,
    claim: OfClaim = "",
    status: Status = "",
    rule: Rule = "",
    struck: Struck = False,
    feedback: OfFeedback = "",
    verdict: OfVerdict = "",
    queue: Queue = "",
    undelivered: Undelivered = False,
    limit: Limit = 25,
    before: Before = 0,
    sample: Sample = 0,
    by: By = "",
    seed: Seed = None,
    form: Format = "table",
    to: To = None,
    json: options.JsonFlag = False,
) -> None:
    """Find entries of the ledger by what was said, by whom, on which documents, and what was found of it.

    All that is given must hold. The index beside the ledger (review.db) is brought up to date first; it is made of the ledger
    as it is stored, so what was masked or erased is not found.

    Examples:
      attest ledger search "refund days" --since 2026-11-01
      attest ledger search --document returns.md --format csv > returns.csv
      attest ledger search --user 3f2504e0-… --since 2026-11-17 --until 2026-11-23 --json
      attest ledger search --struck --status wrong_role --claim money
      attest ledger search --kind turn --since 2026-11-17 --sample 5 --by outcome --format csv > sample.csv
      attest ledger search --document returns.md --format bundle --to found.zip
    """
    given = {name: value for name, value in locals().items() if name in NAMED and isinstance(value, str)}
    chosen = {"use": IN_EVIDENCE * in_evidence, "struck": YES * struck, "arrived": UNDELIVERED * undelivered}
    wanted = DeskSearch(**(given | chosen), before=before, among=None)
    _refuse(wanted, by, form)
    draw = Draw(sample, by, secrets.randbelow(1_000_000) if seed is None else seed) if sample else None
    if form == BUNDLE:
        _bundle(context, wanted, draw, to)
    elif form != "table":
        run(_written(context, wanted, draw, cast("files.Form", form)))
        if draw is not None:
            note(f"a sample: {draw}")
    else:
        _show(*run(_found(context, wanted, limit, draw)), draw, json=json)


def _show(rows: Sequence[DownloadRow], counts: Counts, before: int | None, draw: Draw | None, *, json: bool) -> None:
    """`before`: where the next rows begin, None if there are none."""
    if json:
        emit(_document(rows, counts, before, draw))
        return
    if not rows:
        note("no entry matches")
        return
    shown = [
        (r.row.seq, r.row.at[:19], r.row.kind, r.row.outcome or "–", r.row.user or "–", r.row.title, r.row.entry_id)
        for r in rows
    ]
    heads = ("seq", "at", "kind", "outcome", "user", "what", "entry")
    console().print(table(heads, shown, right=("seq",), whole=("at", "entry")))
    how = ", ".join(f"{n} {name}" for name, n in sorted(counts.by_outcome.items()) if name)
    total = f"{'more than ' if counts.more else ''}{counts.total}"
    picked = f"; {len(rows)} of them picked by chance, --seed {draw.seed}" if draw else ""
    note(plain(f"{total} found{f' ({how})' if how else ''}{picked}"))


def _refuse(wanted: DeskSearch, by: str, form: str) -> None:
    """Raise InputError for a value that no search knows."""
    for name, option in _OPTIONS.items():
        if (value := getattr(wanted, name)) and value not in CHOICES[name]:
            raise InputError(f"{option} {value!r} is not known: allowed are {', '.join(CHOICES[name])}")
    for name in ("since", "until"):
        if (value := getattr(wanted, name)) and not is_day(value):
            raise InputError(f"--{name} {value!r} is no day: allowed is one as 2026-11-25")
    if not wanted.document and (wanted.version or wanted.use):
        raise InputError(
            f"{'--version' if wanted.version else '--in-evidence'} narrows a document: name it with --document DOC"
        )
    if by and by not in STRATA:
        raise InputError(f"--by {by!r} is not known: allowed are {', '.join(STRATA)}")
    if form not in ("table", *files.TYPES, BUNDLE):
        raise InputError(f"--format {form!r} is not known: allowed are table, {', '.join(files.TYPES)}, {BUNDLE}")
    long = next((n for n, v in wanted.conditions.items() if len(v) > LONGEST), None)
    if long:
        raise InputError(f"{long} is longer than the {LONGEST} characters that are allowed")


def _bundle(context: typer.Context, wanted: DeskSearch, draw: Draw | None, to: Path | None) -> None:
    if to is None:
        raise InputError("--format bundle needs --to FILE, the zip that is to be made")
    left = Exported(FORMAT, run(_found_how_many(context, wanted, draw)), None, complete=True)
    run(
        record_or_note(context, "the bundle", lambda ledger: record_export(ledger, left))
    )  # before it: then it is covered
    try:
        with to.open("xb") as file:
            count = run(_bundled(context, wanted, draw, file))
    except FileExistsError:
        raise InputError(f"--to {to}: is there already; a bundle is never written over") from None
    except OSError as error:
        raise InputError(f"--to {to}: {(error.strerror or 'cannot be written').lower()}") from None
    except AttestError:
        to.unlink(missing_ok=True)
        raise
    console().print(plain(f"{count} entries with their proofs: {to}"))


async def _found_how_many(context: typer.Context, wanted: DeskSearch, draw: Draw | None) -> int:
    async with opened_desk(context) as desk:
        if draw is not None:
            return len(await desk.sample(wanted, draw))
        return (await desk.count(wanted)).total


async def _bundled(context: typer.Context, wanted: DeskSearch, draw: Draw | None, file: IO[bytes]) -> int:
    async with opened_desk(context) as desk, opened_ledger(context) as found:
        return await write_bundle(file, desk, found.ledger, found.ledger.proven, wanted, draw=draw)


def _document(rows: Sequence[DownloadRow], counts: Counts, before: int | None, draw: Draw | None) -> dict[str, Any]:
    return {
        "entries": [row.as_json() for row in rows],
        "counts": {name or "other": number for name, number in counts.by_outcome.items()},
        "total": counts.total,
        "more_than_counted": counts.more,
        "before": before,
        "seed": draw.seed if draw else None,
    }


@asynccontextmanager
async def opened_desk(context: typer.Context) -> AsyncIterator[Desk]:
    """The index, brought up to the last entry of the ledger, and closed at the end. Raises InputError where there is no ledger, StoreError."""
    places = places_of(settings_of())
    if not is_there(places.ledger):
        raise InputError("there is no ledger yet: its first entry makes it")
    desk = Desk(places.desk)
    try:
        async with opened_record(context) as ledger:
            await brought_up(desk, ledger)
            yield desk
    finally:
        await desk.close()


async def brought_up(desk: Desk, ledger: Ledger) -> None:
    """Have the index go on to the last entry of the ledger; a bar is drawn where there are many. Raises StoreError."""
    with progress() as shown:
        task = shown.add_task("indexing the ledger", total=None, visible=False)
        await desk.follow(
            ledger, on_reach=lambda at: shown.update(task, completed=at.seq, total=at.last, visible=not at.is_whole)
        )


async def _found(
    context: typer.Context, wanted: DeskSearch, limit: int, draw: Draw | None
) -> tuple[tuple[DownloadRow, ...], Counts, int | None]:
    async with opened_desk(context) as desk:
        if draw is not None:
            rows, before = await desk.sample(wanted, draw), None
        else:
            found = await desk.find(wanted, limit)
            rows, before = found.rows, found.rows[-1].seq if found.older else None
        return await desk.downloads(rows), await desk.count(wanted), before


async def _written(context: typer.Context, wanted: DeskSearch, draw: Draw | None, form: files.Form) -> None:
    async with opened_desk(context) as desk:
        typer.echo(files.heading(form), nl=False)
        async for row in desk.rows(wanted, draw):
            typer.echo(files.line(row, form), nl=False)
