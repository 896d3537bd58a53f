"""`attest database`: makes the tables of a database that several servers share, and says what it is like."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from bot.commands.shared import options
from bot.commands.shared.output import console, emit, note, table
from bot.commands.shared.startup import settings_of
from bot.compose.database import DatabaseStatus, database_status, upgraded

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
    is one transaction: it is done in whole or not at all, and doing it again changes nothing.

    Examples:
      attest database upgrade
      attest database upgrade --worker attest
    """
    brought = upgraded(settings_of(), worker)
    if json:
        emit({"upgraded": {name: {"from": before, "to": now} for name, (before, now) in brought.items()}})
        return
    for name, (before, now) in brought.items():
        note(f"{name}: {f'brought from schema {before} to {now}' if before else f'made, schema {now}'}")
    if not brought:
        note("every table is as this program needs it")
    if worker is not None:
        note(f"role {worker} has the rights of a server")


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
