"""`attest ledger replay`: a recorded turn run again, side by side with what was recorded."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.commands.shared import options
from bot.commands.shared.output import console, emit, note, plain, table
from bot.commands.shared.startup import run
from bot.commands.shared.wiring import opened
from bot.replay.compare import Compartment
from bot.replay.replay import Replayed
from bot.replay.replay import replay as replayed
from grounding.errors import InputError


def replay(
    context: typer.Context,
    entry_id: Annotated[str, typer.Argument(metavar="ENTRY", help="Id of the turn, as a reply names it.")],
    *,
    whole: Annotated[bool, typer.Option("--all", help="Show what is as it was, too.")] = False,
    ask_model: Annotated[
        bool,
        typer.Option(
            "--ask-model", help="Ask the models that the settings name once more: they draft, grade and judge."
        ),
    ] = False,
    json: options.JsonFlag = False,
) -> None:
    """Replay a turn: search, grades, decision, prompt and check again, beside what was recorded.

    The recorded conversation runs through today's program, policy and knowledge base, with the rights that the turn had. The
    recorded draft is checked again, on the recorded evidence and on today's; no model is asked and no web searched. Nothing is
    written. Exit code 1 if the answer, how the turn ended, or what is found of a claim is not as it was.

    Examples:
      attest ledger replay 01JD3Z…
      attest ledger replay 01JD3Z… --all
      attest ledger replay 01JD3Z… --json
    """
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


async def _replayed(context: typer.Context, entry_id: str, *, asks_model: bool) -> Replayed:
    async with opened(context) as system:
        entry = await system.ledger.get(entry_id)
        if entry is None:
            raise InputError(f"entry {entry_id!r} is not in the ledger; see `attest ledger search`")
        return await replayed(system, entry, asks_model=asks_model)
