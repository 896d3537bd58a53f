"""`attest ledger search`: finds entries as the reviewers' desk does."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import fields
from typing import Annotated, Any, Literal, cast

import typer

from bot.commands.shared import options
from bot.commands.shared.output import console, emit, note, plain, table
from bot.commands.shared.startup import run, settings_of
from bot.commands.shared.wiring import opened_record
from bot.desk import table as files
from bot.desk.index import NAME, SAMPLED, STRATA, Counts, Desk, DownloadRow
from bot.desk.search import CHOICES, IN_EVIDENCE, LONGEST, UNDELIVERED, YES, DeskSearch, is_day
from grounding.errors import InputError

_OPTIONS = {
    "claim": "--claim",
    "status": "--status",
    "outcome": "--outcome",
    "kind": "--kind",
    "feedback": "--feedback",
}
Form = Literal["table", "csv", "jsonl"]


def search(
    context: typer.Context,
    words: Annotated[
        str, typer.Argument(metavar="WORDS", help='Words that all must stand there, "phrases", begin*.')
    ] = "",
    *,
    since: Annotated[str, typer.Option(metavar="DAY", help="From this day on (UTC), as 2026-11-25.")] = "",
    until: Annotated[str, typer.Option(metavar="DAY", help="Up to this day, included.")] = "",
    user: Annotated[str, typer.Option(metavar="ID", help="Who asked, as `actor.user` has it.")] = "",
    channel: Annotated[str, typer.Option(metavar="NAME", help="The channel: http, msteams, cli …")] = "",
    product: Annotated[str, typer.Option(metavar="NAME", help="The product that was asked about.")] = "",
    outcome: Annotated[str, typer.Option(metavar="OUTCOME", help="How the turn ended.")] = "",
    kind: Annotated[str, typer.Option(metavar="KIND", help="Entries of this kind, or `all`.")] = "",
    document: Annotated[str, typer.Option(metavar="DOC", help="A document that the answer quotes.")] = "",
    version: Annotated[str, typer.Option(metavar="ID", help="This version of it.")] = "",
    in_evidence: Annotated[
        bool, typer.Option("--in-evidence", help="The document need not be quoted, if it could have been.")
    ] = False,
    claim: Annotated[str, typer.Option(metavar="KIND", help="A claim of this kind, or `screen` for refusals.")] = "",
    status: Annotated[str, typer.Option(metavar="STATUS", help="A claim with this status, or `unsupported`.")] = "",
    rule: Annotated[str, typer.Option(metavar="NAME", help="A claim that this rule decided.")] = "",
    struck: Annotated[bool, typer.Option("--struck", help="Something was not delivered.")] = False,
    feedback: Annotated[
        str, typer.Option(metavar="SAID", help="like, dislike, reported (a refusal, undecided), wrong or right.")
    ] = "",
    undelivered: Annotated[
        bool, typer.Option("--undelivered", help="Turns whose reply is not known to have arrived.")
    ] = False,
    limit: Annotated[int, typer.Option(metavar="N", min=1, max=10_000, help="Rows of the table at most.")] = 25,
    before: Annotated[int, typer.Option(metavar="SEQ", min=0, help="Only entries before this number.")] = 0,
    sample: Annotated[
        int, typer.Option(metavar="N", min=0, max=SAMPLED, help="So many of each stratum, picked by chance.")
    ] = 0,
    by: Annotated[
        str, typer.Option(metavar="WHAT", help=f"Strata of a sample: {', '.join(STRATA)}; without it all together.")
    ] = "",
    seed: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Of the chance: the same picks the same again.")
    ] = None,
    form: Annotated[
        str, typer.Option("--format", metavar="FORM", help="table, or all that is found as csv or jsonl.")
    ] = "table",
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
      attest ledger search --kind turn --since 2026-11-17 --sample 5 --by outcome
    """
    given = {k: v for k, v in locals().items() if k in {f.name for f in fields(DeskSearch)} and isinstance(v, str)}
    wanted = DeskSearch(
        **given,
        use=IN_EVIDENCE if in_evidence else "",
        struck=YES if struck else "",
        arrived=UNDELIVERED if undelivered else "",
        before=before,
    )
    _refuse(wanted, by, form)
    drawn = secrets.randbelow(1_000_000) if seed is None else seed
    if form != "table":
        run(_written(context, wanted, cast("files.Form", form)))
        return
    rows, counts, more = run(_found(context, wanted, limit, (sample, by, drawn)))
    if json:
        emit(_document(rows, counts, more, (sample, drawn)))
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
    picked = f"; {len(rows)} of them picked by chance, --seed {drawn}" if sample else ""
    note(plain(f"{total} found{f' ({how})' if how else ''}{picked}"))


def _refuse(wanted: DeskSearch, by: str, form: str) -> None:
    """Raise InputError for a value that no search knows."""
    for name, option in _OPTIONS.items():
        if (value := getattr(wanted, name)) and value not in CHOICES[name]:
            raise InputError(f"{option} {value!r} is not known: allowed are {', '.join(CHOICES[name])}")
    for name in ("since", "until"):
        if (value := getattr(wanted, name)) and not is_day(value):
            raise InputError(f"--{name} {value!r} is no day: allowed is one as 2026-11-25")
    if by and by not in STRATA:
        raise InputError(f"--by {by!r} is not known: allowed are {', '.join(STRATA)}")
    if form not in ("table", *files.TYPES):
        raise InputError(f"--format {form!r} is not known: allowed are table, {', '.join(files.TYPES)}")
    long = next((n for n, v in wanted.conditions.items() if len(v) > LONGEST), None)
    if long:
        raise InputError(f"{long} is longer than the {LONGEST} characters that are allowed")


def _document(rows: list[DownloadRow], counts: Counts, more: bool, drawn: tuple[int, int]) -> dict[str, Any]:
    sample, seed = drawn
    return {
        "entries": [row.as_json() for row in rows],
        "counts": {name or "other": number for name, number in counts.by_outcome.items()},
        "total": counts.total,
        "more_than_counted": counts.more,
        "before": rows[-1].row.seq if more and rows else None,
        "seed": seed if sample else None,
    }


@asynccontextmanager
async def opened_desk(context: typer.Context) -> AsyncIterator[Desk]:
    """The index, brought up to the last entry of the ledger, and closed at the end. Raises InputError where there is no ledger, StoreError."""
    home = settings_of().files.home
    if not (home / "ledger.db").is_file():
        raise InputError("there is no ledger yet: its first entry makes it")
    desk = Desk(home / NAME)
    try:
        async with opened_record(context) as ledger:
            await desk.follow(ledger)
            yield desk
    finally:
        await desk.close()


async def _found(
    context: typer.Context, wanted: DeskSearch, limit: int, drawn: tuple[int, str, int]
) -> tuple[list[DownloadRow], Counts, bool]:
    sample, by, seed = drawn
    async with opened_desk(context) as desk:
        if sample:
            rows, older = await desk.sample(wanted, sample, by, seed), False
        else:
            found = await desk.find(wanted, limit)
            rows, older = found.rows, found.older
        return list(await desk.downloads(rows)), await desk.count(wanted), older


async def _written(context: typer.Context, wanted: DeskSearch, form: files.Form) -> None:
    async with opened_desk(context) as desk:
        typer.echo(files.heading(form), nl=False)
        async for row in desk.rows(wanted):
            typer.echo(files.line(row, form), nl=False)
