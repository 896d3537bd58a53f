"""`attest ledger replay`: a recorded turn run again, side by side with what was recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

import typer

from bot.commands.ledger.search import Before, OfDocument, Outcome, Since, Until, brought_up
from bot.commands.shared import options
from bot.commands.shared.output import console, emit, note, plain, progress, table
from bot.commands.shared.startup import run, settings_of
from bot.commands.shared.wiring import opened
from bot.desk.index import Desk
from bot.desk.search import CHOICES, DeskSearch, is_day
from bot.places import places_of
from bot.replay.affected import require_document
from bot.replay.compare import Compartment
from bot.replay.replay import Replayed
from bot.replay.replay import replay as replayed
from bot.replay.today import TURN, todays
from grounding.errors import InputError

_LIMIT = 50
_QUESTION = 80
"""Characters of a question in a table."""


def replay(
    context: typer.Context,
    entry_id: Annotated[str, typer.Argument(metavar="ENTRY", help="Id of the turn, as a reply names it.")] = "",
    *,
    since: Since = "",
    until: Until = "",
    document: OfDocument = "",
    outcome: Outcome = "",
    limit: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=10_000, help=f"Turns replayed, the newest first; {_LIMIT} if not given."),
    ] = None,
    before: Before = 0,
    whole: Annotated[bool, typer.Option("--all", help="Show what is as it was, too.")] = False,
    ask_model: Annotated[
        bool,
        typer.Option(
            "--ask-model", help="Ask the models that the settings name once more: they draft, grade and judge."
        ),
    ] = False,
    json: options.JsonFlag = False,
) -> None:
    """Replay a turn, or all of a time: search, grades, decision, prompt and check again, beside what was recorded.

    The recorded conversation runs through today's program, policy and knowledge base, with the rights that the turn had. The
    recorded draft is checked again, on the recorded evidence and on today's; no model is asked and no web searched. Nothing is
    written. Exit code 1 if the answer, how the turn ended, or what is found of a claim is not as it was.

    Examples:
      attest ledger replay 01JD3Z…
      attest ledger replay 01JD3Z… --all
      attest ledger replay 01JD3Z… --json
      attest ledger replay --since 2026-11-01 --limit 200
      attest ledger replay --outcome insufficient
    """
    wanted = DeskSearch(since=since, until=until, document=document, outcome=outcome, before=before)
    if not entry_id:
        _refuse(wanted, ask_model=ask_model, whole=whole)
        _many(*run(_todays(context, wanted, limit or _LIMIT)), json=json)
        return
    if wanted.is_narrowed or wanted.before or limit is not None:
        raise InputError("ENTRY and a search are two things: allowed is one of them")
    found = run(_replayed(context, entry_id, asks_model=ask_model))
    if json:
        emit(found.as_json())
        raise typer.Exit(0 if found.is_same else 1)
    out = console()
    out.print(plain(f"entry {found.entry.entry_id} of {found.entry.at}"))
    for stage in found.stages:
        if stage.differs or whole:
            _print(stage, whole=whole)
    same = [stage.title for stage in found.stages if not stage.differs]
    if same and not whole:
        out.print(plain(f"\nas it was: {', '.join(same)}"))
    for line in found.notes:
        note(line)
    out.print("the answer is as it was" if found.is_same else "the answer is NOT as it was", style="bold")
    raise typer.Exit(0 if found.is_same else 1)


def _print(stage: Compartment, *, whole: bool) -> None:
    out = console()
    out.print(f"\n{stage.title}", style="bold")
    if stage.told:
        out.print(plain(stage.told), style="dim")
    rows = [row for row in stage.rows if row.differs or whole]
    out.print(table(("what", "then", "now"), [(row.what, row.then, row.now) for row in rows]))
    for row in rows:
        for line in row.lines:
            out.print(plain(f"  {line}"))


def _refuse(wanted: DeskSearch, *, ask_model: bool, whole: bool) -> None:
    """Raise InputError for a search that says nothing, or what none knows."""
    if not wanted.is_narrowed:
        raise InputError(
            "nothing is named: allowed are ENTRY, --since DAY, --until DAY, --document DOC, --outcome OUTCOME"
        )
    if ask_model:
        raise InputError("--ask-model is for one ENTRY: what many turns cost is not asked for by a search")
    if whole:
        raise InputError("--all is for one ENTRY: of a search those that differ are shown, and --json has all")
    for name in ("since", "until"):
        if (value := getattr(wanted, name)) and not is_day(value):
            raise InputError(f"--{name} {value!r} is no day: allowed is one as 2026-11-25")
    if wanted.since and wanted.until and wanted.since > wanted.until:
        raise InputError(f"nothing lies between {wanted.since} and {wanted.until}: the first day is after the last")
    if wanted.outcome and wanted.outcome not in CHOICES["outcome"]:
        raise InputError(f"--outcome {wanted.outcome!r} is not known: allowed are {', '.join(CHOICES['outcome'])}")


def _many(turns: Sequence[Mapping[str, Any]], before: int | None, *, json: bool) -> None:
    """What became of the turns of a search; ends with 1 if one would end otherwise."""
    differing = [turn for turn in turns if turn["same"] is False]
    if json:
        emit({"entries": list(turns), "differing": len(differing), "before": before})
        raise typer.Exit(1 if differing else 0)
    shown = [
        (t["at"][:19], t["then"], t["now"], ", ".join(t["differing"]), t["question"][:_QUESTION], t["entry_id"])
        for t in differing
    ]
    if shown:
        console().print(table(("at", "then", "now", "differs", "question", "entry"), shown, whole=("entry",)))
    left = [turn for turn in turns if turn["error"]]
    for turn in left:
        note(f"not replayed: {turn['error']}")
    if not turns:
        note("no turn matches")
        return
    note(f"{len(differing)} of {len(turns) - len(left)} turns would be different today")
    if before is not None:
        note(f"more turns: --before {before}")
    raise typer.Exit(1 if differing else 0)


async def _todays(context: typer.Context, wanted: DeskSearch, limit: int) -> tuple[list[Mapping[str, Any]], int | None]:
    """The turns of a search as JSON has them, without what each replay holds, and where the next begin; None if there are none."""
    desk, found, before = Desk(places_of(settings_of()).desk), list[Mapping[str, Any]](), None
    try:
        async with opened(context) as system:
            await brought_up(desk, system.ledger)
            if wanted.document:  # that no turn matches would be an all-clear for an id that nobody has
                await require_document(system, desk, wanted.document)
            with progress() as shown:
                known = (await desk.count(replace(wanted, kind=TURN))).total
                task = shown.add_task("replaying", total=min(limit, known))
                async for turn in todays(system, desk, wanted, limit):
                    found.append(turn.as_json())
                    before = turn.entry.seq if turn.older else None
                    shown.advance(task)
    finally:
        await desk.close()
    return found, before


async def _replayed(context: typer.Context, entry_id: str, *, asks_model: bool) -> Replayed:
    async with opened(context) as system:
        entry = await system.ledger.get(entry_id)
        if entry is None:
            raise InputError(f"entry {entry_id!r} is not in the ledger; see `attest ledger search`")
        return await replayed(system, entry, asks_model=asks_model)
