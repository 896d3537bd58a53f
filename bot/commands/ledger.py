"""`attest ledger`: the provenance log."""

from __future__ import annotations

import json as jsonlib
from dataclasses import asdict
from typing import Annotated

import typer

from bot.commands import options
from bot.commands.output import console, emit, emit_line, note, plain, table
from bot.commands.startup import run
from bot.commands.wiring import opened
from grounding.errors import InputError
from rai.records import Entry, Verification

app = options.command_app("Read, verify and export the provenance log.")


@app.command("list")
def list_(
    context: typer.Context,
    limit: Annotated[
        int, typer.Option(metavar="N", min=1, max=100_000, help="How many entries at most, newest first.")
    ] = 20,
    json: options.JsonFlag = False,
) -> None:
    """List the newest entries.

    Example:
      attest ledger list --limit 100
    """
    found = run(_newest(context, limit))
    if json:
        emit({"entries": [asdict(entry) for entry in found]})
        return
    if not found:
        note("the ledger is empty; every turn and every change of the knowledge base will be written to it")
        return
    rows = [(e.seq, e.at, e.kind, _outcome(e), e.entry_id) for e in found]
    console().print(table(("seq", "at", "kind", "outcome", "entry"), rows, right=("seq",)))


@app.command()
def show(
    context: typer.Context,
    entry_id: Annotated[str, typer.Argument(metavar="ENTRY", help="Id of the entry, as a reply names it.")],
    json: options.JsonFlag = False,
) -> None:
    """Show one entry with all that was recorded.

    Example:
      attest ledger show 01JD3Z… --json
    """
    entry = run(_entry(context, entry_id))
    if json:
        emit(asdict(entry))
        return
    out = console()
    out.print(f"{entry.kind} · {entry.at} · entry {entry.entry_id} · number {entry.seq}")
    out.print(plain(jsonlib.dumps(entry.body, ensure_ascii=False, indent=2)), soft_wrap=True)
    out.print(f"chained to {entry.prev}\nsealed with {entry.mac}", style="dim")


@app.command()
def verify(context: typer.Context, json: options.JsonFlag = False) -> None:
    """Say whether the chain is intact.

    Walks the whole chain with its key: nothing was changed, removed or put in. Exit code 1 if it does not hold; the
    first broken entry is named.

    Example:
      attest ledger verify && echo intact
    """
    result = run(_verify(context))
    if json:
        emit(asdict(result))
    elif result.ok:
        console().print(f"intact: {result.entries} entries, head {result.head}")
    else:
        console().print(f"NOT INTACT at {result.broken or 'the end'}: {plain(result.why)}", style="bold red")
    for line in () if json else result.notes:
        note(line)
    raise typer.Exit(0 if result.ok else 1)


@app.command()
def export(
    context: typer.Context,
    after: Annotated[int, typer.Option(metavar="N", min=0, help="Only entries with a number above this.")] = 0,
    json: options.JsonFlag = False,
) -> None:
    """Write every entry as a JSON line.

    Oldest first, for an archive or a reviewer's own tools. With --json it is one document instead, which is held in memory.

    Example:
      attest ledger export > ledger-2026-11.jsonl
    """
    run(_export(context, after, as_document=json))


def _outcome(entry: Entry) -> str:
    """How a turn ended; a dash for entries that are no turns."""
    reply = entry.body.get("reply")
    return str(reply.get("outcome") or "–") if isinstance(reply, dict) else "–"


async def _newest(context: typer.Context, limit: int) -> list[Entry]:
    async with opened(context) as system:
        return [entry async for entry in system.ledger.entries(limit=limit, newest_first=True)]


async def _entry(context: typer.Context, entry_id: str) -> Entry:
    async with opened(context) as system:
        entry = await system.ledger.get(entry_id)
    if entry is None:
        raise InputError(f"ENTRY {entry_id!r} is not in the ledger; see `attest ledger list`")
    return entry


async def _verify(context: typer.Context) -> Verification:
    async with opened(context) as system:
        return await system.ledger.verify()


async def _export(context: typer.Context, after: int, *, as_document: bool) -> None:
    async with opened(context) as system:
        entries = system.ledger.entries(after=after)
        if as_document:
            emit({"entries": [asdict(entry) async for entry in entries]})
            return
        async for entry in entries:
            emit_line(asdict(entry))
