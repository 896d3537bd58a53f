"""`attest privacy`: erases what people wrote, holds it against erasure, applies retention, and hands out what is known of a person."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import typer

from bot.commands.shared import options
from bot.commands.shared.output import console, emit, emit_line, note, plain, table
from bot.commands.shared.startup import run, settings_of
from bot.compose.privacy import open_stores, terms_of
from bot.events.copies import Exported, record_export
from bot.events.digests import Digests
from bot.operator import operator
from bot.privacy import erasure, hold
from bot.privacy.conversations import Kept
from bot.privacy.erasure import Plan, Stores, refuse_held
from bot.privacy.export import FORMAT, about_person
from bot.privacy.facts import Facts, person_key
from bot.privacy.gathering import coverage
from bot.privacy.hold import Hold, On, holds_in, reason_of
from bot.privacy.retention import Retained
from bot.privacy.retention import retain as apply_terms
from bot.privacy.selection import Selection
from bot.records import Actor
from grounding.errors import InputError, StoreError, UserError
from rai.records import Entry

app = options.command_app("Erase, hold, retain and hand out what people wrote.")
_SHOWN = 20
"""Entries that are printed; the JSON form has them all."""
Reason = Annotated[
    str, typer.Option(metavar="TEXT", help="Why, for the record; it stays, so it must not say what is erased.")
]
Why = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why, for the record.")]
Dry = Annotated[bool, typer.Option("--dry-run", help="Show what would go, and change nothing.")]
OneEntry = Annotated[str | None, typer.Option("--entry", metavar="ID", help="An entry of the ledger.")]
Conversation = Annotated[
    str | None, typer.Option(metavar="ID", help="A conversation, as `ask.conversation` of its turns has it.")
]
Person = Annotated[
    str | None, typer.Option(metavar="ID", help="A person, as `actor.user` or `ask.user` of their turns has it.")
]


@app.command()
def erase(
    *,
    reason: Reason,
    entry: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="An entry of the ledger; several times for several.")
    ] = None,
    conversation: Conversation = None,
    person: Person = None,
    search: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="Text in what people wrote or were told, whatever its case; it is not recorded. - reads it from stdin, so that no shell keeps it.",
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    dry_run: Dry = False,
    json: options.JsonFlag = False,
) -> None:
    """Erase turns with all that refers to them, here and in the conversations that the server keeps.

    Where several are given, all must match. It shows what would go and asks. Feedback, reports and decisions go with their turn, the rows of its
    conversation in state.db too. The chain stays whole; an entry says what was erased, when and why, and none of its text.
    Later turns whose history quotes one of these go with it. A legal hold refuses it. Exports and copies made before are not reached.

    Examples:
      attest privacy erase --person 3f2504e0-… --reason "request of 24 November" --dry-run
      attest privacy erase --conversation 19:abc --search "41 Elm Road" --reason "wrong customer" --yes
      attest privacy erase --entry 01JD3Z… --entry 01JD40… --reason "test data" --yes --json
    """
    text = sys.stdin.readline().strip() if search == "-" else search
    wanted = Selection(tuple(entry or ()), conversation, person, text).checked()
    if dry_run:
        reason_of(reason)
        _show_plan(run(_planned(wanted)), json=json, dry=True)
        return
    if not yes:
        found = run(_planned(wanted))
        refuse_held(found)
        if not found.is_empty:
            _print_plan(found, "would go")
            if not _is_sure():
                note("nothing was erased")
                raise typer.Exit(1)
    found, records = run(_erased(wanted, reason))
    _show_plan(found, json=json, records=[record.entry_id for record in records])
    if not (json or found.is_empty):
        _note_what_stays()


@app.command("hold")
def hold_(
    *,
    reason: Why,
    entry: OneEntry = None,
    conversation: Conversation = None,
    person: Person = None,
    json: options.JsonFlag = False,
) -> None:
    """Place a legal hold on an entry, a conversation or a person: nothing of it is erased until it is released.

    It keeps from erasure and from retention what is there and what is still to come, and says how many entries it covers now. The entry tells which account placed it.

    Examples:
      attest privacy hold --person 3f2504e0-… --reason "claim 2026-118"
      attest privacy hold --entry 01JD3Z… --reason "claim 2026-118"
    """
    on, target = _target(entry, conversation, person)
    placed, new, covered = run(_placed(on, target, reason, operator()))
    name = placed.entry_id if isinstance(placed, Entry) else placed.hold_id
    if json:
        emit({"hold": name, "on": on, "target": target, "new": new, "entries": covered})
        return
    kept = f"{covered} entr{'y' if covered == 1 else 'ies'}"
    console().print(plain(f"{'held' if new else 'was held before'}: {on} {target} · {kept} · hold {name}"))
    if not covered:
        note("it covers no entry yet: is this the id as the ledger has it?")


@app.command()
def release(
    hold_id: Annotated[str, typer.Argument(metavar="HOLD", help="Id of the hold, as the list names it.")],
    *,
    reason: Why,
    json: options.JsonFlag = False,
) -> None:
    """Release a legal hold. What it held may be erased from now on, and is when its time is over.

    Example:
      attest privacy release 01JD3Z… --reason "claim 2026-118 settled"
    """
    held, record = run(_released(hold_id, reason, operator()))
    if json:
        emit({"hold": held.hold_id, "on": held.on, "target": held.target, "record": record.entry_id})
        return
    console().print(plain(f"released: {held.on} {held.target}"))


@app.command()
def holds(json: options.JsonFlag = False) -> None:
    """List the legal holds in force.

    Example:
      attest privacy holds --json
    """
    found, covered = run(_holds())
    if json:
        emit({"holds": [{**h.as_json(), "entries": covered[h.hold_id]} for h in found]})
        return
    if not found:
        note("nothing is held")
        return
    rows = [(h.hold_id, h.on, h.target, covered[h.hold_id], h.at, h.user or "–", h.reason) for h in found]
    console().print(table(("hold", "on", "target", "entries", "since", "by", "reason"), rows, right=("entries",)))


@app.command()
def retain(*, dry_run: Dry = False, json: options.JsonFlag = False) -> None:
    """Erase what has been kept for as long as ATTEST_RETENTION_DAYS, ATTEST_RETENTION_KINDS and ATTEST_STATE_DAYS say.

    A server does so once a day. What is held stays and is named.

    Examples:
      attest privacy retain --dry-run
      ATTEST_RETENTION_DAYS=400 attest privacy retain --json
    """
    done = run(_retained(dry=dry_run))
    if json:
        emit(_retained_json(done, dry=dry_run))
        return
    if not (done.entries or done.kept.rows):
        note("nothing is due")
    else:
        _print_what(done.entries, done.kept, 0, "would go" if dry_run else "erased")
        if not dry_run:
            _note_what_stays()
    for name, by in done.held.items():
        note(f"{name} is due and stays: hold {by.told()}")


@app.command()
def export(
    person: Annotated[
        str, typer.Option(metavar="ID", help="The person, as `actor.user` or `ask.user` of their turns has it.")
    ],
) -> None:
    """Write everything about a person as JSON lines: their turns with what refers to them, what they did, and their kept conversations.

    A heading, a line for each entry of the ledger and each row of state.db, and a last line with their numbers. Afterwards the
    ledger gets an entry of who exported how much; it names the person by a keyed digest.

    Example:
      attest privacy export --person 3f2504e0-… > person.jsonl
    """
    run(_exported(person))


def _target(entry: str | None, conversation: str | None, person: str | None) -> tuple[On, str]:
    given: list[tuple[On, str]] = [
        ("entry", entry or ""),
        ("conversation", conversation or ""),
        ("person", person or ""),
    ]
    named = [(on, target.strip()) for on, target in given if target.strip()]
    if len(named) != 1:
        raise InputError("name one thing to hold: --entry ID, --conversation ID or --person ID")
    return named[0]


def _is_sure() -> bool:
    """What somebody answers. Raises InputError where nobody can."""
    try:
        return typer.confirm("Erase this? It cannot be brought back", err=True)
    except typer.Abort:
        if sys.stdin.isatty():
            raise
        raise InputError("nothing was erased: nobody can be asked here; --yes does not ask") from None


@asynccontextmanager
async def _opened(*, read_only: bool = False) -> AsyncIterator[Stores]:
    async with open_stores(settings_of(), read_only=read_only) as stores:
        yield stores


async def _planned(wanted: Selection) -> Plan:
    async with _opened(read_only=True) as stores:
        return await erasure.plan(stores, wanted)


async def _erased(wanted: Selection, reason: str) -> tuple[Plan, tuple[Entry, ...]]:
    async with _opened() as stores:
        return await erasure.erase(stores, wanted, reason, operator())


async def _placed(on: On, target: str, reason: str, who: Actor) -> tuple[Entry | Hold, bool, int]:
    async with _opened() as stores:
        placed, new = await hold.place(stores.ledger, on, target, reason, who)
        name = placed.entry_id if isinstance(placed, Entry) else placed.hold_id
        return placed, new, (await coverage(stores.ledger))[name]


async def _released(hold_id: str, reason: str, who: Actor) -> tuple[Hold, Entry]:
    async with _opened() as stores:
        return await hold.release(stores.ledger, hold_id, reason, who)


async def _holds() -> tuple[tuple[Hold, ...], dict[str, int]]:
    async with _opened(read_only=True) as stores:
        return await holds_in(stores.ledger), await coverage(stores.ledger)


async def _retained(*, dry: bool) -> Retained:
    settings = settings_of()
    async with open_stores(settings, read_only=dry) as stores:
        return await apply_terms(stores, terms_of(settings), datetime.now(UTC), operator(), dry=dry)


async def _exported(person: str) -> None:
    left, begun, complete = 0, False, False
    try:
        async with _opened(read_only=True) as stores:
            async for line in about_person(stores, person):
                emit_line(line)
                begun = True
                left += line.get("from") == "ledger"
                complete = "end" in line
    finally:
        if begun:
            await _record_export(Exported(FORMAT, left, None, complete), person)


async def _record_export(what: Exported, person: str) -> None:
    """What was handed out stands in the ledger; where that cannot be written, a line says so. Whom it is about is a keyed digest, which outlasts their erasure."""
    try:
        async with _opened() as stores:
            digest = Digests(settings_of().files.ledger_key).of(person_key(person))
            await record_export(stores.ledger, replace(what, person=digest))
    except (StoreError, UserError) as error:
        note(f"attest: the export is not recorded in the ledger: {error}")


def _show_plan(found: Plan, *, json: bool, dry: bool = False, records: Sequence[str] = ()) -> None:
    if json:
        emit({"dry_run": dry, **found.as_json(), "records": list(records), **_stays()})
        return
    for name, by in found.before.items():
        note(f"entry {name} was erased before; entry {by} says so")
    if found.is_empty:
        note("nothing to erase" if found.before else "nothing to erase: nothing matches, or it was erased before")
        return
    _print_plan(found, "would go" if dry else "erased")
    for told in sorted({by.told() for by in found.held.values()}):
        note(f"this would be refused: hold {told}")
    if records:
        console().print(f"recorded in entry {', '.join(records)}")


def _print_plan(found: Plan, word: str) -> None:
    _print_what(found.entries, found.kept, len(found.notes), word)
    if found.quoting:
        one = found.quoting == 1
        note(
            f"{found.quoting} of these {'is a later turn whose history quotes' if one else 'are later turns whose histories quote'} what is erased"
        )


def _print_what(entries: Sequence[Facts], kept: Kept, notes: int, word: str) -> None:
    out = console()
    if entries:
        out.print(table(("at", "kind", "entry"), [(f.at, f.kind, f.entry_id) for f in entries[:_SHOWN]]))
    if len(entries) > _SHOWN:
        out.print(f"… and {len(entries) - _SHOWN} more entries; --json names them")
    parts = [
        f"{n} {one if n == 1 else many}"
        for n, one, many in (
            (len(entries), "entry", "entries"),
            (kept.turns, "kept turn", "kept turns"),
            (kept.inbox, "message", "messages"),
            (kept.sent, "note of a sent answer", "notes of sent answers"),
            (notes, "note on a passage", "notes on passages"),
        )
        if n
    ]
    out.print(f"{word}: {', '.join(parts)}")


def _retained_json(done: Retained, *, dry: bool) -> Mapping[str, Any]:
    kept = done.kept
    return {
        "dry_run": dry,
        "entries": [{"entry_id": f.entry_id, "kind": f.kind, "at": f.at} for f in done.entries],
        "state": {"turns": kept.turns, "inbox": kept.inbox, "sent": kept.sent},
        "held": {name: by.hold_id for name, by in done.held.items()},
        "records": list(done.records),
        **_stays(),
    }


def _stays() -> dict[str, object]:
    """Until when, as a day, what a database keeps beside its tables may hold what is erased now; None where nobody says; nothing for files of a home."""
    database = settings_of().database
    if database.url is None:
        return {}
    return {"database_backups_until": None if database.backup_days is None else _last_day(database.backup_days)}


def _last_day(days: int) -> str:
    return (datetime.now(UTC) + timedelta(days=days)).date().isoformat()


def _note_what_stays() -> None:
    """What an erasure does not reach in a database, and until when."""
    for until in _stays().values():
        if until is None:
            note(
                "backups, replicas and the log (WAL) of the database may hold it still; until when is not known here: ATTEST_DATABASE_BACKUP_DAYS says for how many days they are kept"
            )
        else:
            note(
                f"backups, replicas and the log (WAL) of the database may hold it until {until} (ATTEST_DATABASE_BACKUP_DAYS)"
            )
