"""`attest ledger`: reads, verifies and exports the provenance log."""

from __future__ import annotations

import json as jsonlib
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Annotated, TextIO

import typer

from bot.commands.shared import options
from bot.commands.shared.output import console, emit, note, plain, table
from bot.commands.shared.startup import run, settings_of
from bot.commands.shared.wiring import opened_record
from bot.view.decisions import decided
from grounding.errors import AttestError, InputError
from rai.ledger.chain import GENESIS, key_id
from rai.ledger.export import FORMAT, FORMAT_1, lenient_json, verify_export
from rai.ledger.key import load_key
from rai.records import Break, Entry, Verification

app = options.command_app("Read, verify and export the provenance log.")
_SHOWN = 20
"""Breaks that are printed; the JSON form has them all."""


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
    for line in decided_in(entry):
        out.print(plain(line))
    out.print(plain(jsonlib.dumps(entry.body, ensure_ascii=False, indent=2)), soft_wrap=True)
    out.print(f"chained to {entry.prev}\nsealed with {entry.mac}", style="dim")


@app.command()
def verify(
    context: typer.Context,
    *,
    export: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Check what `ledger export` wrote, instead of the store.")
    ] = None,
    json: options.JsonFlag = False,
) -> None:
    """Say whether the chain is intact.

    Walks the whole chain with its key: nothing was changed, removed or put in. Exit code 1 if it does not hold; the
    every break is named, with the entries around it. Nothing is written. An exported file needs nothing but the key in
    ATTEST_LEDGER_KEY_FILE; where there is a ledger here, it must be an export of that one.

    Examples:
      attest ledger verify && echo intact
      attest ledger verify --export ledger-2026-11.jsonl
    """
    if export is None:
        result = run(_verify(context))
    else:
        result = verify_file(export, settings_of().files.ledger_key, run(_ledger_here(context)))
    if json:
        emit(asdict(result))
    elif result.ok:
        of = f" of ledger {result.ledger_id}" if result.ledger_id else ""
        console().print(f"intact: {result.entries} entries{of}, head {result.head}")
    else:
        said = f"NOT INTACT at {result.broken or 'the end'}: {result.why}"
        console().print(plain(said), style="bold red")
        for line in _around(result.breaks):
            console().print(plain(line))
    for line in () if json else result.notes:
        note(line)
    raise typer.Exit(0 if result.ok else 1)


@app.command()
def export(context: typer.Context, json: options.JsonFlag = False) -> None:
    """Write the whole ledger as JSON lines that can be verified elsewhere.

    A heading, every entry, oldest first, and a sealed last line; `ledger verify --export` checks them. With --json it is
    one document instead, which is held in memory and is for reading alone.

    Example:
      attest ledger export > ledger-2026-11.jsonl
    """
    run(_export(context, as_document=json))


def _around(breaks: tuple[Break, ...]) -> list[str]:
    """A line for each of the first breaks: where, why, and what lies before and after it."""
    lines = []
    for b in breaks[:_SHOWN]:
        where = f"entry {b.at}" if b.at is not None else "the whole"
        lies = f" ({b.before} entries before it and {b.after} after it hold)" if b.at is not None else ""
        lines.append(f"  {where}: {b.why}{lies}")
    if len(breaks) > _SHOWN:
        lines.append(f"  … and {len(breaks) - _SHOWN} more breaks; --json names them")
    return lines


def _outcome(entry: Entry) -> str:
    """How a turn ended; a dash for entries that are no turns."""
    reply = entry.body.get("reply")
    return str(reply.get("outcome") or "–") if isinstance(reply, dict) else "–"


def decided_in(entry: Entry) -> list[str]:
    """The lines that say what a turn decided on its passages; none for an entry that does not tell."""
    reply = entry.body.get("reply")
    return decided(reply).lines() if isinstance(reply, dict) else []


async def _newest(context: typer.Context, limit: int) -> list[Entry]:
    async with opened_record(context) as ledger:
        return [entry async for entry in ledger.entries(limit=limit, newest_first=True)]


async def _entry(context: typer.Context, entry_id: str) -> Entry:
    async with opened_record(context) as ledger:
        entry = await ledger.get(entry_id)
    if entry is None:
        raise InputError(f"ENTRY {entry_id!r} is not in the ledger; see `attest ledger list`")
    return entry


async def _verify(context: typer.Context) -> Verification:
    async with opened_record(context) as ledger:
        return await ledger.verify()


async def _ledger_here(context: typer.Context) -> str | None:
    """The id of the ledger under ATTEST_HOME; None if there is none, or it cannot be read or is of an older program."""
    try:
        async with opened_record(context) as ledger:
            return ledger.ledger_id
    except AttestError:
        return None


def verify_file(path: Path, key_file: Path, ledger_id: str | None = None) -> Verification:
    """Check an exported ledger with the key in `key_file`; it is to be `ledger_id` if that is given. Raises InputError for a file that is no export."""
    key = load_key(key_file, make=False)
    try:
        with path.open(encoding="utf-8", errors="surrogateescape") as stream:
            return _verified(stream, key, path, ledger_id)
    except OSError as error:
        raise InputError(f"{path}: {(error.strerror or 'cannot be read').lower()}", code="no_file") from None


def _verified(stream: TextIO, key: bytes, path: Path, ledger_id: str | None) -> Verification:
    heading = stream.readline()
    said = lenient_json(heading)
    if said.get("format") not in (FORMAT, FORMAT_1):
        raise InputError(f"{path}: not an exported ledger; allowed is what `attest ledger export` wrote")
    if said.get("key_id") != key_id(key):
        return _changed("the key file, or the first line of the export: they do not belong together")
    return verify_export(chain([heading], stream), key, ledger_id)


def _changed(what: str) -> Verification:
    return Verification(False, 0, GENESIS, None, f"changed: {what}")


async def _export(context: typer.Context, *, as_document: bool) -> None:
    async with opened_record(context) as ledger:
        if not as_document:
            async for line in ledger.export():
                typer.echo(line)
            return
        heading, *entries, end = [jsonlib.loads(line) async for line in ledger.export()]
    emit({**heading, "entries": entries, **end})
