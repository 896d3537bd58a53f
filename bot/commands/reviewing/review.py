"""`attest review`: what waits for reviewers, verdicts on turns, unanswered questions, and corrections as a test."""

from __future__ import annotations

import json as jsonlib
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
import yaml

from bot.commands.ledger.search import Since, Until, opened_desk
from bot.commands.shared import options
from bot.commands.shared.output import console, emit, note, plain, table
from bot.commands.shared.startup import run, settings_of
from bot.commands.shared.wiring import opened, opened_record
from bot.desk.index import Desk
from bot.desk.search import REASONS, DeskSearch, is_day
from bot.desk.sql import FoundEntry
from bot.judging.corrections import CorrectedTurn, corrected
from bot.judging.figures import Figures, Span, figures
from bot.judging.unanswered import UnansweredList, as_csv
from bot.judging.unanswered import unanswered as read_unanswered
from bot.judging.verdict import Assessment
from bot.judging.verdict import judge as judge_turn
from bot.operator import operator
from bot.places import places_of
from bot.wording.reviewing.verdicts import REASON_WORDS, VERDICT_WORDS, VERDICTS
from grounding.errors import InputError
from rai.records import Entry

app = options.command_app("See what waits for review, judge turns, list unanswered questions, export corrections.")
Reason = Annotated[str, typer.Argument(metavar="REASON", help=f"One of {', '.join(REASONS)}; without it the counts.")]
Every = Annotated[bool, typer.Option("--all", help="Also those that somebody has judged.")]
Format = Annotated[str, typer.Option("--format", metavar="FORM", help="table or csv.")]


@app.command()
def queue(
    context: typer.Context,
    reason: Reason = "",
    *,
    limit: Annotated[int, typer.Option(metavar="N", min=1, max=10_000, help="Turns at most.")] = 25,
    json: options.JsonFlag = False,
) -> None:
    """List the turns that wait for a reviewer, for one reason, or how many wait for each.

    A turn leaves every list when it is judged.

    Examples:
      attest review queue
      attest review queue struck
    """
    if reason and reason not in REASONS:
        raise InputError(f"REASON {reason!r} is not known: allowed are {', '.join(REASONS)}")
    counts, rows = run(_queue(context, reason, limit))
    if json:
        found = [{"entry_id": r.entry_id, "seq": r.seq, "at": r.at, "question": r.title} for r in rows]
        emit({"waiting": counts, **({"entries": found} if reason else {})})
    elif not reason:
        lines = [(name, REASON_WORDS[name], number) for name, number in counts.items()]
        console().print(table(("reason", "means", "turns"), lines, right=("turns",)))
    elif rows:
        shown = [(r.seq, r.at[:19], r.outcome, r.title, r.entry_id) for r in rows]
        console().print(table(("seq", "at", "outcome", "question", "entry"), shown, right=("seq",), whole=("entry",)))
    else:
        note("nothing waits for that reason")


@app.command()
def judge(
    context: typer.Context,
    entry_id: Annotated[str, typer.Argument(metavar="ENTRY", help="Id of the turn, as its reply names it.")],
    verdict: Annotated[str, typer.Argument(metavar="VERDICT", help=f"One of {', '.join(VERDICTS)}.")],
    *,
    comment: Annotated[str, typer.Option(metavar="TEXT", help="Why.")] = "",
    answer: Annotated[str, typer.Option(metavar="TEXT", help="The answer as it should have been.")] = "",
    facts: Annotated[
        list[str] | None,
        typer.Option("--fact", metavar="TEXT", help='A right answer says this; "30 days|thirty days" for spellings.'),
    ] = None,
    wrong: Annotated[
        list[str] | None, typer.Option("--wrong", metavar="TEXT", help="Only a wrong answer says this.")
    ] = None,
    documents: Annotated[
        list[str] | None, typer.Option("--document", metavar="DOC", help="Id of a document that answers it.")
    ] = None,
    json: options.JsonFlag = False,
) -> None:
    """Record what you say of a turn. The newest verdict counts, and all stay on record.

    right: what was done should have been done. partly: something is missing or beside the question. wrong: it says what is not so.
    should_refuse: it should not have been answered. wrongly_refused: it should have been.

    Examples:
      attest review judge 01JD3Z… right
      attest review judge 01JD3Z… wrong --comment "last year's fee" --answer "It costs €4.90." --wrong "€5.90"
    """
    lines = {"facts": facts, "wrong": wrong, "documents": documents}
    said = Assessment.of(verdict, comment, answer, **{name: "\n".join(given or ()) for name, given in lines.items()})
    entry = run(_judge(context, entry_id, said))
    if json:
        emit(asdict(entry))
        return
    console().print(plain(f"recorded: {VERDICT_WORDS[said.verdict].lower()}, entry {entry.entry_id}"))


@app.command()
def unanswered(
    context: typer.Context,
    *,
    since: Since = "",
    until: Until = "",
    product: options.Product = None,
    every: Every = False,
    form: Format = "table",
    json: options.JsonFlag = False,
) -> None:
    """List the questions that the documents do not answer, near-equal ones together: for the owners of the knowledge base.

    Examples:
      attest review unanswered --since 2026-11-01
      attest review unanswered --format csv > unanswered.csv
    """
    if form not in ("table", "csv"):
        raise InputError(f"--format {form!r} is not known: allowed are table, csv")
    found = run(_unanswered(context, _wanted(since, until, product=product or "", queue="" if every else "unanswered")))
    if json:
        emit({"subjects": [s.as_json() for s in found.subjects], "turns": found.turns, "cut": found.cut})
        return
    if form == "csv":
        typer.echo(as_csv(found.subjects), nl=False)
        return
    if not found.subjects:
        note("no question is unanswered")
        return
    rows = [(s.times, s.last[:10], s.first[:10], s.question, s.entry_id) for s in found.subjects]
    console().print(table(("times", "last", "first", "question", "newest entry"), rows, right=("times",)))
    if found.cut:
        note(f"only the newest {found.turns} turns were read: narrow it by --since and --until")


@app.command()
def corrections(
    context: typer.Context,
    *,
    since: Since = "",
    until: Until = "",
    to: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write turns.jsonl and directory.yaml into it; default: rows on stdout."),
    ] = None,
) -> None:
    """Export judged turns as rows that `attest eval turns` asks again.

    Those with a corrected answer or facts, and those that should not have been answered. Who asked is not among it: a turn that read with
    rights names a reader, whose groups stand in directory.yaml. The days are those of the turns.

    Examples:
      attest review corrections > turns.jsonl
      attest review corrections --to company && attest eval turns --data company
    """
    found = run(_corrections(context, _wanted(since, until)))
    rows = [each.row for each in found if each.row is not None]
    text = "".join(jsonlib.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    if to is None:
        typer.echo(text, nl=False)
    else:
        _write(to, text, {str(e.row["as"]): e.groups for e in found if e.row is not None and e.row["as"]})
        note(f"{len(rows)} rows in {to / 'turns.jsonl'}; the documents belong into {to / 'kb'}")
    for each in found:
        if each.row is None:
            note(f"left out: {each.entry_id}: {each.why}")


@app.command("figures")
def show_figures(
    context: typer.Context,
    *,
    since: Since = "",
    until: Until = "",
    by: Annotated[
        str, typer.Option("--by", metavar="STEP", help="day or week; more than 92 days are shown by week.")
    ] = "day",
    json: options.JsonFlag = False,
) -> None:
    """Show figures over time: outcomes, times, struck values by rule, refusals, unanswered questions, feedback, verdicts.

    Without days the last 30. The same as charts is /review/dashboard.

    Examples:
      attest review figures --by week --since 2026-09-01
      attest review figures --json
    """
    if by not in ("day", "week"):
        raise InputError(f"--by {by!r} is not known: allowed are day, week")
    _wanted(since, until)
    found = run(_figures(context, Span.of(since, until, by)))
    if json:
        emit(found.as_json())
        return
    console().print(plain(f"{found.span.since} to {found.span.until}"))
    for chart in found.charts:
        rows = [(s.name, s.total, s.highest) for s in chart.series if s.highest]
        if rows:
            unit = f" ({chart.unit})" if chart.unit else ""
            highest = f"highest {found.span.by}"
            console().print(table((f"{chart.heading.title}{unit}", "all", highest), rows, right=("all", highest)))


def _write(folder: Path, rows: str, readers: dict[str, tuple[str, ...]]) -> None:
    """Both files. Raises InputError where they cannot be written, or one would be written over."""
    files = {"turns.jsonl": rows}
    if readers:
        users = {"users": {name: list(groups) for name, groups in readers.items()}}
        files["directory.yaml"] = yaml.safe_dump(users, allow_unicode=True)
    there = next((name for name in files if (folder / name).exists()), None)
    if there is not None:
        raise InputError(f"--to {folder}: {there} is there already; name another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(text, "utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"--to {folder}: {(error.strerror or 'cannot be written').lower()}") from None


def _wanted(since: str, until: str, product: str = "", queue: str = "") -> DeskSearch:
    for name, value in (("since", since), ("until", until)):
        if value and not is_day(value):
            raise InputError(f"--{name} {value!r} is no day: allowed is one as 2026-11-25")
    if since and until and since > until:
        raise InputError(f"nothing lies between {since} and {until}: the first day is after the last")
    return DeskSearch(since=since, until=until, product=product, queue=queue)


async def _queue(context: typer.Context, reason: str, limit: int) -> tuple[dict[str, int], tuple[FoundEntry, ...]]:
    async with opened_desk(context) as desk:
        rows = (await desk.find(DeskSearch(queue=reason), limit)).rows if reason else ()
        return await desk.waiting(), rows


async def _judge(context: typer.Context, entry_id: str, said: Assessment) -> Entry:
    desk = Desk(places_of(settings_of()).desk)
    try:
        async with opened(context) as system:
            return await judge_turn(system.ledger, desk, system.library, entry_id, said, channel="cli", by=operator())
    finally:
        await desk.close()


async def _unanswered(context: typer.Context, wanted: DeskSearch) -> UnansweredList:
    async with opened_desk(context) as desk:
        return await read_unanswered(desk, wanted)


async def _figures(context: typer.Context, span: Span) -> Figures:
    async with opened_desk(context) as desk:
        return await figures(desk, span)


async def _corrections(context: typer.Context, wanted: DeskSearch) -> list[CorrectedTurn]:
    async with opened_desk(context) as desk, opened_record(context) as ledger:
        return [each async for each in corrected(ledger, desk, wanted)]
