"""`attest refusals`: lists refusals that people report as wrong, and takes reports and decisions."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from bot.commands.shared import options
from bot.commands.shared.output import console, emit, note, plain, table
from bot.commands.shared.startup import run
from bot.commands.shared.wiring import opened
from bot.operator import operator
from bot.records import Actor
from bot.turn.entries.disputes import Decision, Queue, Reporter
from bot.turn.entries.disputes import decide as decide_on
from bot.turn.entries.disputes import queue as read_queue
from bot.turn.entries.disputes import report as report_one
from rai.records import Entry

app = options.command_app("See and decide the refusals that people report as wrong.")
ENTRY = Annotated[str, typer.Argument(metavar="ENTRY", help="Id of the refused turn, as its reply names it.")]


class ShownRefusal(StrEnum):
    """Which reports are listed."""

    OPEN = "open"
    WRONG = "wrong"
    RIGHT = "right"
    ALL = "all"


@app.command("list")
def list_(
    context: typer.Context,
    state: Annotated[ShownRefusal, typer.Option(help="Which reports to list.")] = ShownRefusal.OPEN,
    json: options.JsonFlag = False,
) -> None:
    """List reported refusals, the newest report first.

    With --json each has the question (personal data masked), category, rule, score and threshold: material for tuning the screen.

    Examples:
      attest refusals list
      attest refusals list --state wrong --json
    """
    found = run(_queue(context))
    shown = [d for d in found.disputes if state in (ShownRefusal.ALL, d.state)]
    if json:
        emit({"refusals": [d.as_json() for d in shown], "cut": found.cut})
        return
    if found.cut:
        note("only the newest entries of the ledger were looked at; older reports are not listed")
    if not shown:
        note("no report matches")
        return
    rows = [(d.state, _policy(d.screening), plain(d.question or "(erased)"), d.entry_id) for d in shown]
    console().print(table(("state", "policy and rule", "question", "entry"), rows))


@app.command()
def report(
    context: typer.Context,
    entry_id: ENTRY,
    *,
    comment: Annotated[str, typer.Option(metavar="TEXT", help="What you wanted to know.")] = "",
    user: options.AsUser = None,
    json: options.JsonFlag = False,
) -> None:
    """Report the refusal of your own question as wrong.

    Example:
      attest refusals report 01JD3Z… --comment "I meant a process on my computer"
    """
    entry, new = run(_report(context, entry_id, Reporter(user, "cli", actor=Actor(user, "cli")), comment))
    if json:
        emit({"entry_id": entry_id, "report": entry.entry_id, "new": new})
        return
    console().print("reported; a person will look at it" if new else "was reported before")


@app.command()
def decide(
    context: typer.Context,
    entry_id: ENTRY,
    decision: Annotated[
        str, typer.Argument(metavar="right|wrong", help="Whether the question was rightly or wrongly refused.")
    ],
    *,
    remark: Annotated[str, typer.Option("--note", metavar="TEXT", help="Why.")] = "",
    json: options.JsonFlag = False,
) -> None:
    """Record whether a reported question was rightly or wrongly refused; the newest decision counts.

    Example:
      attest refusals decide 01JD3Z… wrong --note "an honest question about a process"
    """
    entry = run(_decide(context, entry_id, _decision(decision), remark))
    if json:
        emit({"entry_id": entry_id, "decision": decision, "record": entry.entry_id})
        return
    console().print(f"recorded: {decision}ly refused")


def _decision(given: str) -> Decision:
    if given == "right":
        return "right"
    if given == "wrong":
        return "wrong"
    raise typer.BadParameter(f"{given!r} is not allowed; allowed: right, wrong", param_hint="right|wrong")


def _policy(screening: dict[str, Any]) -> str:
    if not screening:
        return "–"
    return f"{screening.get('category') or '–'} {screening.get('rule') or ''} {screening.get('score') or 0:.2f}"


async def _queue(context: typer.Context) -> Queue:
    async with opened(context) as system:
        return await read_queue(system.ledger)


async def _report(context: typer.Context, entry_id: str, who: Reporter, comment: str) -> tuple[Entry, bool]:
    async with opened(context) as system:
        return await report_one(system.ledger, entry_id, who, comment)


async def _decide(context: typer.Context, entry_id: str, decision: Decision, remark: str) -> Entry:
    async with opened(context) as system:
        return await decide_on(system.ledger, entry_id, decision, remark, channel="cli", by=operator())
