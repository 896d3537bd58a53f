"""The checks of `attest doctor` that need nothing built: settings, and the files and ports of this machine."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from bot.commands.doctor.diagnosis import Diagnosis
from bot.compose.resources import Resources
from bot.compose.services import thinking_room
from bot.settings.settings import Settings
from bot.settings.terms import terms
from bot.teams.transports.chosen import INSTALL, is_installed
from grounding.errors import BudgetSpent, InputError
from rai.account import Account
from rai.model_files import EMBEDDING
from rai.screening.off_policy import load

BOT, BUDGET = "bot", "turn's budget"
MODEL, CLASSIFIER, READER = "model file", "screen's classifier", "reader"
WORDS, RULES = "search is by words only", "prompts are screened by rules alone"
UNREAD = "quotes are chosen by words alone"


def check_machine(settings: Settings) -> Iterator[Diagnosis]:
    """Check settings, files and ports; the findings come in the order in which they are shown."""
    yield _home(settings.files.home)
    yield from check_model_files(settings)
    yield _off_policy(settings)
    yield _ledger_key(settings)
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


def check_model_files(settings: Settings) -> Iterator[Diagnosis]:
    """Check whether the files of the models are there, and whether an older home keeps some that nothing uses."""
    yield _file(settings, MODEL, settings.files.model_path, WORDS)
    yield _file(settings, CLASSIFIER, settings.files.screen_model_path, RULES)
    yield _file(settings, READER, settings.files.reader_paths[0], UNREAD)
    old = settings.files.home / "model"
    if (old / EMBEDDING).is_file() and settings.files.model_path.parent != old:
        detail = f"{old} is used by nothing: models belong to the installation, not to the data"
        yield Diagnosis("older models", "note", detail, f"delete {old}")


def _file(settings: Settings, name: str, path: Path, without: str) -> Diagnosis:
    named = ", named by ATTEST_MODEL_FILE" if settings.files.model else ""
    if path.is_file():
        return Diagnosis(name, "ok", f"{path} ({path.stat().st_size / 2**20:.0f} MB){named}")
    fix = "correct ATTEST_MODEL_FILE, or leave it out: this installation has models of its own"
    return Diagnosis(name, "note", f"{path} is not there{named}: {without}", fix if named else "run make setup")


def _off_policy(settings: Settings) -> Diagnosis:
    path = settings.files.off_policy_path
    if not path.exists():
        return Diagnosis("excluded subjects", "ok", f"none; a list may stand in {path}")
    try:
        subjects = load(path)
    except InputError as error:
        return Diagnosis("excluded subjects", "fail", str(error), f"mend {path}")
    return Diagnosis("excluded subjects", "ok", f"{len(subjects)} in {path}")


def _ledger_key(settings: Settings) -> Diagnosis:
    path = settings.files.ledger_key
    if not path.exists() and settings.database.url is not None:
        fix = "put the key there that every server of this database has"
        return Diagnosis("ledger key", "fail", f"{path} is not there, and none is made for a shared database", fix)
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
    over = ", over the Microsoft 365 Agents SDK" if settings.bot.sdk == "agents" else ""
    if not is_installed(settings.bot.sdk):
        return Diagnosis(BOT, "fail", "ATTEST_BOT_SDK=agents, and its extra is not installed", INSTALL)
    if settings.bot.app_id:
        return Diagnosis(BOT, "ok", f"{_registration(settings)}{over}")
    if settings.local_mode:
        who = "anonymous, for Bot Framework Emulator or Agents Playground on this machine"
        return Diagnosis(BOT, "ok", f"{who}{over}")
    fix = "set ATTEST_BOT_APP_ID, ATTEST_BOT_APP_PASSWORD and ATTEST_BOT_TENANT_ID"
    if settings.serving.on_loopback or settings.serving.api_keys:
        return Diagnosis(BOT, "note", "shut: an anonymous bot is for local mode alone", fix)
    fix = f"{fix}, or ATTEST_API_KEYS, or ATTEST_HOST=127.0.0.1"
    return Diagnosis(BOT, "fail", f"anonymous on {settings.serving.host}: serve will refuse to start", fix)


def _mode(settings: Settings) -> Diagnosis:
    """Whom the server takes for local, and why."""
    if settings.local_mode:
        detail = "on: whoever reaches the port may read everything and ask as anyone; nothing tells a reverse proxy from a person"
        return Diagnosis(
            "local mode", "ok", detail, "before you put a proxy in front: ATTEST_PUBLIC_URL or ATTEST_LOCAL=off"
        )
    why = " and ".join(settings.serves_others) or "ATTEST_LOCAL=off"
    if settings.serving.api_keys or settings.bot.app_id is not None:
        way = "attest review-link opens" if settings.review_links else "signing in at /review opens"
        return Diagnosis("local mode", "ok", f"off, by {why}; {way} the reviewers' pages")
    detail = f"off, by {why}: nobody can ask anything, for there are no keys and no bot"
    return Diagnosis("local mode", "note", detail, "set ATTEST_API_KEYS or ATTEST_BOT_APP_ID")


def _registration(settings: Settings) -> str:
    if settings.bot.app_type == "MultiTenant":
        return "registered, MultiTenant: goes on, but no new one can be made since 31 July 2025"
    return f"registered, {settings.bot.app_type}, tenant {settings.bot.tenant_id}"


def _screens(settings: Settings) -> Diagnosis:
    if settings.screen.kind == "embedded":
        return Diagnosis("prompt screen", "ok", "embedded alone: what it is in doubt about is allowed and noted")
    judged = "all that it allows" if settings.screen.asked == "always" else "what it is in doubt about"
    return Diagnosis("prompt screen", "ok", f"embedded, then {settings.screen.kind} for {judged}")


def _budget(settings: Settings) -> Iterator[Diagnosis]:
    """What a turn may take, if that is bounded, and whether it leaves room for more than the draft."""
    allowed = terms(settings, thinking_room(settings, Resources())())
    if not allowed.bounded:
        return
    account = Account(allowed, prompt_tokens=settings.files.policies[settings.answering.policy].prompt_tokens)
    try:
        with account.holding("grade", 0, 1):
            yield Diagnosis(BUDGET, "ok", "leaves room for a draft and for more")
    except BudgetSpent as error:
        fix = f"raise ATTEST_TURN_TOKENS or ATTEST_TURN_COST: a draft alone may take {account.room.tokens} tokens"
        yield Diagnosis(BUDGET, "note", str(error), fix)
