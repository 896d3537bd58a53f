"""`attest database`: makes the tables of a database that several servers share, says what it is like, and moves what is kept there or back."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from bot.commands.shared import options
from bot.commands.shared.following import followed
from bot.commands.shared.output import console, emit, note, plain, table
from bot.commands.shared.startup import run, settings_of
from bot.compose.database import CheckedDatabase, DatabaseStatus, checked, database_status, upgraded
from bot.compose.moving import copied, reopened
from bot.compose.restoring import Restored, restored
from bot.privacy.hold import reason_of

app = options.command_app("Make and look at the database that several servers share (ATTEST_DATABASE_URL).")


@app.command()
def upgrade(
    *,
    worker: Annotated[
        str | None,
        typer.Option(
            metavar="ROLE", help="A role of the database that gets the rights of a server, and no more than these."
        ),
    ] = None,
    json: options.JsonFlag = False,
) -> None:
    """Make the tables, or bring them up to what this program needs, as their owner.

    The user of ATTEST_DATABASE_URL becomes or is the owner; servers run as another role, which --worker names. All of it
    is one transaction: it is done in whole or not at all, and doing it again changes nothing. Then it looks whether the triggers, functions and rights that
    guard the record stand, and verifies the record, where its key is. Exit code 1 if something of that is not as it should be.

    Examples:
      attest database upgrade
      attest database upgrade --worker attest
    """
    settings = settings_of()
    brought = upgraded(settings, worker)
    with followed() as on_progress:
        found = run(checked(settings, worker, on_progress))
    if json:
        numbers = {name: {"from": before, "to": now} for name, (before, now) in brought.items()}
        emit({"upgraded": numbers, "checked": asdict(found) | {"ok": found.ok}})
        raise typer.Exit(0 if found.ok else 1)
    for name, (before, now) in brought.items():
        note(f"{name}: {f'brought from schema {before} to {now}' if before else f'made, schema {now}'}")
    if not brought:
        note("every table is as this program needs it")
    if worker is not None:
        note(f"role {worker} has the rights of a server")
    _note_checked(found)
    raise typer.Exit(0 if found.ok else 1)


@app.command()
def status(json: options.JsonFlag = False) -> None:
    """Say which server it is, and whether its tables are as this program needs them.

    Exit code 0 if this program can use it, 3 if not, or if it cannot be reached.

    Example:
      attest database status
    """
    settings = settings_of()
    found = database_status(settings)
    if json:
        emit(_document(found))
    elif found is None:
        note(f"no database: everything is kept in files of {settings.files.home}")
    else:
        _show(found)
    raise typer.Exit(3 if found is not None and found.why else 0)


@app.command()
def copy(
    *,
    to: Annotated[str, typer.Option(metavar="PLACE", help="postgresql://user@host/database, or sqlite:HOME.")],
    password_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File with the password for --to postgresql://…, and nothing else."),
    ] = None,
    json: options.JsonFlag = False,
) -> None:
    """Move everything that is kept to another place, which has to be empty: from a home into a database, or back.

    Documents with their versions and vectors, the record, conversations, sessions and all that was decided. The record ends here with an entry that says where
    it went, and whoever is at work here is refused from then on. Row by row all is taken along, counted and the whole chain verified; only then can
    the new place be used. Whoever was stopped gives the same command again. Keys, policies and the directory are files of yours and stay.

    Examples:
      attest database copy --to postgresql://owner@db.example/attest --password-file secret
      ATTEST_DATABASE_URL=postgresql://owner@db.example/attest attest database copy --to sqlite:/srv/attest
    """
    began = time.monotonic()
    with followed() as on_progress:
        done = run(copied(settings_of(), to, password_file, on_progress))
    if json:
        emit(asdict(done) | {"seconds": round(time.monotonic() - began, 1)})
        return
    if done.entry_id is None:
        note(f"all of it is at {done.to} already, and in use there")
        return
    rows = [(name, f"{count:,}") for name, count in done.rows.items() if count]
    console().print(table(("table", "rows"), rows, right=("rows",)))
    console().print(
        plain(
            f"moved to {done.to} in {time.monotonic() - began:.0f} s; the chain is whole there, entry {done.entry_id} opens it"
        ),
        soft_wrap=True,
    )


@app.command()
def reopen(
    *,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why; it is kept in the entry.")],
    json: options.JsonFlag = False,
) -> None:
    """Open this place again whose data was moved elsewhere by attest database copy.

    Only for a copy that nobody uses: what was written where it went does not come back, and both places would go on with one record in two ways. An
    entry says that it was opened again, when and why.

    Example:
      attest database reopen --reason "the new database was given up"
    """
    entry_id = run(reopened(settings_of(), reason_of(reason)))
    if json:
        emit({"entry_id": entry_id})
    else:
        note(f"open again, by entry {entry_id}" if entry_id else "open again; the record had not been ended yet")


@app.command("restored")
def restored_(
    *,
    reason: Annotated[
        str, typer.Option(metavar="TEXT", help="Why it was put back, and to when; it is kept in the entry.")
    ],
    erasures: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="List of erasures of another machine; several times for several."),
    ] = None,
    json: options.JsonFlag = False,
) -> None:
    """Go on with a database that was put back to an older state, from a dump or a backup. Stop every server first.

    Answers that waited then, messages that were worked on and sessions are dropped and counted. Search indexes are made anew at the next start. The
    record's chain is verified, and an entry says which entries are known to be missing, by the anchor of this machine and by the newest published checkpoint. What
    was erased since is erased again, by the list outside of the database (ATTEST_DATABASE_ERASURES_FILE).

    Examples:
      attest database restored --reason "disk failed, dump of 29 November 03:00"
      attest database restored --reason "dump of 03:00" --erasures two/ledger-erasures.jsonl
    """
    done = run(restored(settings_of(), reason_of(reason), erasures or []))
    if json:
        emit(_restored_json(done))
        return
    body, again = done.entry.body, done.repeated
    lost = (
        "no entry is known to be missing"
        if done.missing is None
        else f"entries {done.missing[0]} to {done.missing[1]} are missing"
    )
    out = console()
    out.print(plain(f"anchored after {body['count']} entries, by entry {done.entry.entry_id}; {lost}"), soft_wrap=True)
    dropped = done.dropped
    out.print(
        f"dropped: {dropped['answers']} unsent answers, {dropped['messages']} messages in hand, {dropped['sessions']} sessions and links"
    )
    out.print(
        f"erased again: {again.entries} entries, {again.rows} rows of conversations, {again.notes} notes, by {again.erasures} noted erasures; {again.gone} entries of these are not here"
    )
    for line in again.torn:
        out.print(
            plain(f"{line} breaks off, as whoever is stopped while it is written leaves it; it was left out"),
            soft_wrap=True,
        )


def _restored_json(done: Restored) -> dict[str, object]:
    missing = None if done.missing is None else {"first": done.missing[0], "last": done.missing[1]}
    return {
        "entry_id": done.entry.entry_id,
        "missing": missing,
        "dropped": done.dropped,
        "repeated": asdict(done.repeated),
    }


def _note_checked(found: CheckedDatabase) -> None:
    for fault in found.faults:
        note(f"attest: {fault}")
    if not found.faults:
        note("triggers, functions and rights that guard the record stand")
    if found.why is not None:
        note(f"attest: the record does not hold: {found.why}; see attest ledger verify")
    elif found.unread is not None:
        held = f"{found.entries} entries hold; " if found.entries else ""
        note(f"the record is not verified to its end here: {held}{found.unread}")
    else:
        note(f"the record holds: {found.entries} entries")


def _document(found: DatabaseStatus | None) -> dict[str, object]:
    if found is None:
        return {"database": None}
    server = asdict(found.server) | {"address": found.address}
    return {"database": server, "parts": [asdict(part) for part in found.parts], "usable": found.why is None}


def _show(found: DatabaseStatus) -> None:
    server = found.server
    console().print(f"{found.address}, PostgreSQL {server.version}, schema {server.schema or 'none'}", soft_wrap=True)
    rows = [
        (part.name, part.number or "none", part.known, "as needed" if part.why is None else part.why)
        for part in found.parts
    ]
    console().print(table(("tables of", "schema", "known", ""), rows, right=("schema", "known")))
