"""`attest doctor`: settings and reachability of every service that is switched on, one line each, with the fix."""

from __future__ import annotations

import asyncio
import os
import socket
import stat
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

import typer
from rich.text import Text

from bot.commands import options
from bot.commands.doctor_models import models, unusable
from bot.commands.doctor_page import Diagnosis, fix_of
from bot.commands.doctor_services import services
from bot.commands.output import console, emit, table
from bot.commands.startup import run, settings_of, warn_of_unknown_names
from bot.commands.wiring import opened
from bot.compose.owned import Resources
from bot.compose.services import learned
from bot.settings.settings import Settings
from bot.settings.terms import terms
from bot.system import System
from grounding.errors import AttestError, BudgetSpent, InputError, ServiceError
from rai.account import Account
from rai.screening.off_policy import load

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
    here = [f for f in _local(settings) if f.name not in failing]
    findings = [Diagnosis("settings", "ok", "every value is allowed"), *here, *remote]
    if json:
        emit({"checks": [asdict(finding) for finding in findings], "ok": all(f.status != "fail" for f in findings)})
    else:
        rows = [
            (Text(f.status, style=_STYLES[f.status]), f.name, f.detail, f"→ {f.fix}" if f.fix else "") for f in findings
        ]
        console().print(table(("", "part", "state", "fix"), rows))
    failed = [finding for finding in findings if finding.status == "fail"]
    local = any(not finding.service for finding in failed)
    raise typer.Exit(0 if not failed else 2 if local else 3)


def _local(settings: Settings) -> Iterator[Diagnosis]:
    yield _home(settings.files.home)
    yield from models(settings)
    yield _off_policy(settings)
    yield _ledger_key(settings.files.ledger_key)
    yield _port(settings)
    yield _mode(settings)
    yield _bot(settings)
    yield _screens(settings)
    yield from _budget(settings)


def _home(home: Path) -> Diagnosis:
    existing = next(path for path in (home, *home.parents) if path.exists())
    if existing.is_dir() and os.access(existing, os.W_OK | os.X_OK):
        return Diagnosis("home", "ok", str(home) if home.exists() else f"{home} (will be made)")
    return Diagnosis("home", "fail", f"{home} cannot be written", "set ATTEST_HOME to a folder that you may write to")


def _off_policy(settings: Settings) -> Diagnosis:
    path = settings.files.off_policy_path
    if not path.exists():
        return Diagnosis("excluded subjects", "ok", f"none; a list may stand in {path}")
    try:
        subjects = load(path)
    except InputError as error:
        return Diagnosis("excluded subjects", "fail", str(error), f"mend {path}")
    return Diagnosis("excluded subjects", "ok", f"{len(subjects)} in {path}")


def _ledger_key(path: Path) -> Diagnosis:
    if not path.exists():
        return Diagnosis("ledger key", "ok", f"{path} (made with the first entry)")
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        return Diagnosis("ledger key", "fail", f"{path} has mode {mode:04o}: others may read it", f"chmod 600 {path}")
    return Diagnosis("ledger key", "ok", f"{path}, mode {mode:04o}")


def _port(settings: Settings) -> Diagnosis:
    name = f"port {settings.serving.host}:{settings.serving.port}"
    family = socket.AF_INET6 if ":" in settings.serving.host else socket.AF_INET
    with closing(socket.socket(family, socket.SOCK_STREAM)) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.serving.host, settings.serving.port))
        except OSError as error:
            reason = (error.strerror or "cannot be used").lower()
            return Diagnosis(name, "note", reason, "stop what runs there, or attest serve --port N")
    return Diagnosis(name, "ok", "free")


def _bot(settings: Settings) -> Diagnosis:
    if settings.bot.app_id:
        return Diagnosis("bot", "ok", _registration(settings))
    if settings.local_mode:
        return Diagnosis("bot", "ok", "anonymous, for Bot Framework Emulator or Agents Playground on this machine")
    fix = "set ATTEST_BOT_APP_ID, ATTEST_BOT_APP_PASSWORD and ATTEST_BOT_TENANT_ID"
    if settings.serving.on_loopback or settings.serving.api_keys:
        return Diagnosis("bot", "note", "shut: an anonymous bot is for local mode alone", fix)
    fix = f"{fix}, or ATTEST_API_KEYS, or ATTEST_HOST=127.0.0.1"
    return Diagnosis("bot", "fail", f"anonymous on {settings.serving.host}: serve will refuse to start", fix)


def _mode(settings: Settings) -> Diagnosis:
    """Whom the server takes for local, and why."""
    if settings.local_mode:
        detail = "on: whoever reaches the port may read everything and ask as anyone; nothing tells a reverse proxy from a person"
        return Diagnosis(
            "local mode", "ok", detail, "before you put a proxy in front: ATTEST_PUBLIC_URL or ATTEST_LOCAL=off"
        )
    why = " and ".join(settings.serves_others) or "ATTEST_LOCAL=off"
    if settings.serving.api_keys or settings.bot.app_id is not None:
        return Diagnosis("local mode", "ok", f"off, by {why}; attest review-link opens the reviewers' pages")
    detail = f"off, by {why}: nobody can ask anything, for there are no keys and no bot"
    return Diagnosis("local mode", "note", detail, "set ATTEST_API_KEYS or ATTEST_BOT_APP_ID")


def _registration(settings: Settings) -> str:
    if settings.bot.app_type == "MultiTenant":
        return "registered, MultiTenant: goes on, but no new one can be made since 31 July 2025"
    return f"registered, {settings.bot.app_type}, tenant {settings.bot.tenant_id}"


def _screens(settings: Settings) -> Diagnosis:
    if settings.screen.kind == "embedded":
        return Diagnosis("prompt screen", "ok", "embedded alone: what it is in doubt about is allowed and noted")
    judged = "all that it allows" if settings.screen.when == "always" else "what it is in doubt about"
    return Diagnosis("prompt screen", "ok", f"embedded, then {settings.screen.kind} for {judged}")


def _budget(settings: Settings) -> Iterator[Diagnosis]:
    """What a turn may take, if that is bounded, and whether it leaves room for more than the draft."""
    allowed = terms(settings, learned(settings, Resources()).room())
    if not allowed.bounded:
        return
    account = Account(allowed, prompt_tokens=settings.files.policies[settings.answering.policy].prompt_tokens)
    try:
        with account.holding("grade", 0, 1):
            yield Diagnosis("turn's budget", "ok", "leaves room for a draft and for more")
    except BudgetSpent as error:
        fix = f"raise ATTEST_TURN_TOKENS or ATTEST_TURN_COST: a draft alone may take {account.room.tokens} tokens"
        yield Diagnosis("turn's budget", "note", str(error), fix)


async def _remote(context: typer.Context, settings: Settings) -> list[Diagnosis]:
    findings = await services(settings)
    try:
        async with opened(context, settings) as system:
            inside = [
                await _index(system),
                await _chunks(system),
                await _directory(system),
                await _ledger(system),
                *unusable(system),
            ]
            told = {finding.name for finding in [*inside, *findings] if finding in inside or finding.status == "fail"}
            inside += await _waiting(system, told)
    except AttestError as error:
        inside = [Diagnosis("system", "fail", str(error), "see the lines above, and attest settings")]
    return [*inside, *findings]


async def _waiting(system: System, told: set[str]) -> list[Diagnosis]:
    """Parts that are not ready, beside those that were told already."""
    waiting = await system.ready()
    return [Diagnosis(part, "note", reason) for part, reason in waiting.items() if part not in told]


async def _index(system: System) -> Diagnosis:
    documents = await system.library.documents()
    if not documents:
        fix = "attest ingest --sample, or attest ingest PATH"
        return Diagnosis("knowledge base", "note", "empty: every question will be insufficient", fix)
    recall = await asyncio.to_thread(system.recall)
    search = "" if recall is None else f"; approximate vectors find {recall:.1%} of the exact best 50"
    chunks = sum(d.chunks for d in documents)
    bare, other = await asyncio.to_thread(system.chunks_without_vector)
    if bare:
        why = f", {other} have those of another" if other else ""
        detail = f"{bare} of {chunks} passages have no vectors of the embedding model in use{why}: found by words only"
        return Diagnosis("knowledge base", "note", detail, "attest ingest PATH embeds them")
    return Diagnosis("knowledge base", "ok", f"{len(documents)} documents, {chunks} chunks{search}")


async def _chunks(system: System) -> Diagnosis:
    """Which way the index was cut, and whether the settings ask for another."""
    asked = str(system.settings.chunks.chunking)
    ways = Counter(d.chunking for d in await system.library.documents() if d.chunking)
    if set(ways) <= {asked}:
        return Diagnosis("chunks", "ok", asked)
    there = ", ".join(f"{count} documents by {way}" for way, count in ways.most_common())
    return Diagnosis("chunks", "note", f"{there}; the settings ask for {asked}", "attest ingest PATH cuts them anew")


async def _directory(system: System) -> Diagnosis:
    if system.settings.directory.kind == "graph":
        return await _graph(system)
    path = system.settings.directory_path
    try:
        await system.directory.groups("")
    except ServiceError as error:
        return Diagnosis("directory", "fail", str(error), f"correct {path}; until then everyone is a stranger")
    if path.is_file():
        return Diagnosis("directory", "ok", str(path))
    fix = f"write users: {{NAME: [GROUP, …]}} to {path}"
    return Diagnosis("directory", "note", "no directory file: everyone sees only what is for everyone", fix)


async def _graph(system: System) -> Diagnosis:
    """Microsoft Graph, asked for a person who does not exist."""
    try:
        await system.directory.groups("00000000-0000-0000-0000-000000000000")
    except ServiceError as error:
        granting = "give this machine's identity the application permission GroupMember.Read.All, with admin consent"
        fix = (
            f"{fix_of(error, granting, 'check that Microsoft Graph can be reached')}; until then everyone is a stranger"
        )
        return Diagnosis("directory", "fail", str(error).removeprefix("directory: "), fix, service=True)
    return Diagnosis("directory", "ok", "Microsoft Graph answers", service=True)


async def _ledger(system: System) -> Diagnosis:
    found = await system.ledger.verify()
    if found.ok:
        return Diagnosis("ledger", "ok", f"{found.entries} entries, chain intact")
    return Diagnosis(
        "ledger", "fail", f"chain broken at {found.broken or 'the end'}: {found.why}", "attest ledger verify"
    )
