"""`attest doctor`: checks settings, files and every service that is switched on; one line each, with the fix."""

from __future__ import annotations

import asyncio
from dataclasses import asdict

import typer
from rich.text import Text

from bot.commands.doctor.built_system import check_system
from bot.commands.doctor.database import check_database
from bot.commands.doctor.diagnosis import Diagnosis
from bot.commands.doctor.machine import check_machine
from bot.commands.doctor.services import check_services
from bot.commands.shared import options
from bot.commands.shared.output import console, emit, table
from bot.commands.shared.startup import run, settings_of, warn_of_unknown_names
from bot.commands.shared.wiring import opened, opened_record
from bot.settings.settings import Settings
from bot.system import System
from grounding.errors import AttestError
from rai.records import Verification

app = options.command_app()
_STYLES = {"ok": "green", "note": "yellow", "fail": "bold red"}


@app.command()
def doctor(context: typer.Context, json: options.JsonFlag = False) -> None:
    """Check settings, files and every service that is switched on: one line each, with the fix.

    Exit code 0 if answers can be given, 2 if a setting or file stands in the way, 3 if a service does not answer.
    A `note` is worth knowing and stops nothing.

    Example:
      attest doctor
    """
    settings = settings_of()
    warn_of_unknown_names()
    remote = run(_remote(context, settings))
    failing = {
        f.name for f in remote if f.status == "fail"
    }  # a model file that is there and cannot be used is told once
    here = [f for f in check_machine(settings) if f.name not in failing]
    findings = [Diagnosis("settings", "ok", "every value is allowed"), *here, *remote]
    if json:
        emit({"checks": [asdict(finding) for finding in findings], "ok": all(f.status != "fail" for f in findings)})
    else:
        rows = [
            (Text(f.status, style=_STYLES[f.status]), f.name, f.detail, f"→ {f.fix}" if f.fix else "") for f in findings
        ]
        console().print(table(("", "part", "state", "fix"), rows))
    failed = [finding for finding in findings if finding.status == "fail"]
    of_ours = any(not finding.service for finding in failed)
    raise typer.Exit(0 if not failed else 2 if of_ours else 3)


async def _remote(context: typer.Context, settings: Settings) -> list[Diagnosis]:
    findings = [*await asyncio.to_thread(check_database, settings), *await check_services(settings)]
    record = await _record(context)
    try:
        async with opened(context, settings) as system:
            found = await check_system(system, record)
            told = {finding.name for finding in [*found, *findings] if finding in found or finding.status == "fail"}
            found += await _waiting(system, told)
    except AttestError as error:
        found = [Diagnosis("system", "fail", str(error), "see the lines above, and attest settings")]
    return [*found, *findings]


async def _record(context: typer.Context) -> Verification | None:
    """What verifying the ledger as it stands comes to; None if it cannot be opened at all, which building the system tells."""
    try:
        async with opened_record(context) as ledger:
            return await ledger.verify()
    except AttestError:
        return None


async def _waiting(system: System, told: set[str]) -> list[Diagnosis]:
    """Parts that are not ready, beside those that were told already."""
    waiting = await system.ready()
    return [Diagnosis(part, "note", reason) for part, reason in waiting.items() if part not in told]
