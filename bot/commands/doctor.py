"""`attest doctor`: settings and reachability of every service that is switched on, one line each, with the fix."""

from __future__ import annotations

import asyncio
import os
import socket
import stat
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal
from urllib.parse import urlencode

import aiohttp
import typer
from pydantic import SecretStr
from rich.text import Text

from bot.commands import options
from bot.commands.output import console, emit, table
from bot.commands.startup import run, settings_of, warn_of_unknown_names
from bot.commands.wiring import opened
from bot.settings import Settings
from bot.system import System
from grounding.errors import AttestError, InputError, ServiceError
from rai.off_policy import load

app = options.command_app()
_WAIT_S = 5.0
_STYLES = {"ok": "green", "note": "yellow", "fail": "bold red"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One line: what was looked at, how it stands, and what to do. `service` marks what lies outside this machine."""

    name: str
    status: Literal["ok", "note", "fail"]
    detail: str
    fix: str = ""
    service: bool = False


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
    findings = [Finding("settings", "ok", "every value is allowed"), *_local(settings)]
    findings += run(_remote(context, settings))
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


def _local(settings: Settings) -> Iterator[Finding]:
    yield _home(settings.home)
    yield _model(settings)
    yield _classifier(settings)
    yield _off_policy(settings)
    yield _ledger_key(settings.ledger_key_file)
    yield _port(settings)
    yield _bot(settings)
    yield _screens(settings)


def _home(home: Path) -> Finding:
    existing = next(path for path in (home, *home.parents) if path.exists())
    if existing.is_dir() and os.access(existing, os.W_OK | os.X_OK):
        return Finding("home", "ok", str(home) if home.exists() else f"{home} (will be made)")
    return Finding("home", "fail", f"{home} cannot be written", "set ATTEST_HOME to a folder that you may write to")


def _model(settings: Settings) -> Finding:
    path = settings.model_path
    if path.is_file():
        return Finding("model file", "ok", f"{path} ({path.stat().st_size / 2**20:.0f} MB)")
    fix = "run make setup, or set ATTEST_MODEL_FILE to a built model"
    return Finding("model file", "note", f"{path} is not there: search is by words only", fix)


def _classifier(settings: Settings) -> Finding:
    path = settings.screen_model_path
    if path.is_file():
        return Finding("screen's classifier", "ok", f"{path} ({path.stat().st_size / 2**20:.0f} MB)")
    return Finding(
        "screen's classifier", "note", f"{path} is not there: prompts are screened by rules alone", "run make setup"
    )


def _off_policy(settings: Settings) -> Finding:
    path = settings.off_policy_path
    if not path.exists():
        return Finding("excluded subjects", "ok", f"none; a list may stand in {path}")
    try:
        subjects = load(path)
    except InputError as error:
        return Finding("excluded subjects", "fail", str(error), f"mend {path}")
    return Finding("excluded subjects", "ok", f"{len(subjects)} in {path}")


def _ledger_key(path: Path) -> Finding:
    if not path.exists():
        return Finding("ledger key", "ok", f"{path} (made with the first entry)")
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        return Finding("ledger key", "fail", f"{path} has mode {mode:04o}: others may read it", f"chmod 600 {path}")
    return Finding("ledger key", "ok", f"{path}, mode {mode:04o}")


def _port(settings: Settings) -> Finding:
    name = f"port {settings.host}:{settings.port}"
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    with closing(socket.socket(family, socket.SOCK_STREAM)) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.host, settings.port))
        except OSError as error:
            reason = (error.strerror or "cannot be used").lower()
            return Finding(name, "note", reason, "stop what runs there, or attest serve --port N")
    return Finding(name, "ok", "free")


def _bot(settings: Settings) -> Finding:
    if settings.bot_app_id:
        return Finding("bot", "ok", f"registered, {settings.bot_app_type}")
    if settings.on_loopback:
        return Finding("bot", "ok", "anonymous, for Bot Framework Emulator or Agents Playground on this machine")
    fix = "set ATTEST_BOT_APP_ID and ATTEST_BOT_APP_PASSWORD, or ATTEST_HOST=127.0.0.1"
    return Finding("bot", "fail", f"anonymous on {settings.host}: serve will refuse to start", fix)


def _screens(settings: Settings) -> Finding:
    if settings.screen == "embedded":
        return Finding("prompt screen", "ok", "embedded alone: what it is in doubt about is allowed and noted")
    judged = "all that it allows" if settings.screen_when == "always" else "what it is in doubt about"
    return Finding("prompt screen", "ok", f"embedded, then {settings.screen} for {judged}")


async def _remote(context: typer.Context, settings: Settings) -> list[Finding]:
    findings = await asyncio.gather(*_services(settings))
    try:
        async with opened(context, settings) as system:
            inside = [
                await _index(system),
                await _chunks(system),
                await _directory(system),
                await _ledger(system),
                *_reading(system),
            ]
            told = {finding.name for finding in [*inside, *findings] if finding in inside or finding.status == "fail"}
            inside += await _waiting(system, told)
    except AttestError as error:
        inside = [Finding("system", "fail", str(error), "see the lines above, and attest settings")]
    return [*inside, *findings]


def _reading(system: System) -> list[Finding]:
    """Whether the classifier, if its file is there, can be used."""
    if "classifier" in system.screen.name or not system.settings.screen_model_path.exists():
        return []
    return [
        Finding(
            "screen's classifier",
            "fail",
            "its file cannot be used: prompts are screened by rules alone",
            "delete it and run make setup",
        )
    ]


async def _waiting(system: System, told: set[str]) -> list[Finding]:
    """Parts that are not ready, beside those that were told already."""
    waiting = await system.ready()
    return [Finding(part, "note", reason) for part, reason in waiting.items() if part not in told]


async def _index(system: System) -> Finding:
    documents = await system.library.documents()
    if not documents:
        fix = "attest ingest --sample, or attest ingest PATH"
        return Finding("knowledge base", "note", "empty: every question will be insufficient", fix)
    recall = await asyncio.to_thread(system.recall)
    search = "" if recall is None else f"; approximate vectors find {recall:.1%} of the exact best 50"
    chunks = sum(d.chunks for d in documents)
    return Finding("knowledge base", "ok", f"{len(documents)} documents, {chunks} chunks{search}")


async def _chunks(system: System) -> Finding:
    """Which way the index was cut, and whether the settings ask for another."""
    asked = str(system.settings.chunking)
    ways = Counter(d.chunking for d in await system.library.documents() if d.chunking)
    if set(ways) <= {asked}:
        return Finding("chunks", "ok", asked)
    there = ", ".join(f"{count} documents by {way}" for way, count in ways.most_common())
    return Finding("chunks", "note", f"{there}; the settings ask for {asked}", "attest ingest PATH cuts them anew")


async def _directory(system: System) -> Finding:
    path = system.settings.directory_path
    try:
        await system.directory.groups("")
    except ServiceError as error:
        return Finding("directory", "fail", str(error), f"correct {path}; until then everyone is a stranger")
    if path.is_file():
        return Finding("directory", "ok", str(path))
    fix = f"write users: {{NAME: [GROUP, …]}} to {path}"
    return Finding("directory", "note", "no directory file: everyone sees only what is for everyone", fix)


async def _ledger(system: System) -> Finding:
    found = await system.ledger.verify()
    if found.ok:
        return Finding("ledger", "ok", f"{found.entries} entries, chain intact")
    return Finding(
        "ledger", "fail", f"chain broken at {found.broken or 'the end'}: {found.why}", "attest ledger verify"
    )


def _services(settings: Settings) -> list[asyncio.Future[Finding]]:
    calls = []
    uses = (settings.grader, settings.rewriter, settings.hyde, settings.statement_judge)
    if settings.generator == "openai" or "model" in uses:
        calls.append(_openai(settings))
    if settings.search == "azure":
        calls.append(_search(settings))
    if settings.screen == "content_safety":
        calls.append(_content_safety(settings))
    if settings.screen == "moderation":
        calls.append(_moderation(settings))
    if settings.language_endpoint is not None:
        calls.append(_language(settings))
    if settings.web in _WEB:
        calls.append(_WEB[settings.web](settings))
    return [asyncio.ensure_future(call) for call in calls]


async def _openai(settings: Settings) -> Finding:
    base = (settings.openai_base_url or "https://api.openai.com/v1").rstrip("/")
    key = settings.openai_api_key
    headers = {"Authorization": f"Bearer {key.get_secret_value()}", "api-key": key.get_secret_value()} if key else {}
    return await _get("model service", f"{base}/models", headers, "ATTEST_OPENAI_API_KEY", "ATTEST_OPENAI_BASE_URL")


async def _search(settings: Settings) -> Finding:
    base, key = (settings.search_endpoint or "").rstrip("/"), settings.search_key
    if not key:
        return Finding("search", "note", "signs in as this machine; a line above says if that fails", service=True)
    url = f"{base}/indexes('{settings.search_index}')/docs/$count?api-version=2026-04-01"  # a query key may ask this
    headers = {"api-key": key.get_secret_value()}
    found = await _get("search", url, headers, "ATTEST_SEARCH_KEY", "ATTEST_SEARCH_ENDPOINT")
    if found.detail.endswith("(status 404)"):
        detail = f"the service has no index {settings.search_index!r} yet"
        return replace(found, status="fail", detail=detail, fix="attest ingest PATH, or check ATTEST_SEARCH_INDEX")
    return found


async def _content_safety(settings: Settings) -> Finding:
    base, key = (settings.content_safety_endpoint or "").rstrip("/"), settings.content_safety_key
    if not key:
        return Finding("content safety", "note", "signs in as this machine; tried at the first question", service=True)
    url = f"{base}/contentsafety/text/blocklists?api-version=2023-10-01"
    headers = {"Ocp-Apim-Subscription-Key": key.get_secret_value()}
    return await _get("content safety", url, headers, "ATTEST_CONTENT_SAFETY_KEY", "ATTEST_CONTENT_SAFETY_ENDPOINT")


async def _moderation(settings: Settings) -> Finding:
    base = (settings.moderation_base_url or "https://api.openai.com/v1").rstrip("/")
    key = settings.moderation_key
    headers = {"Authorization": f"Bearer {key.get_secret_value()}"} if key else {}
    return await _get("moderation", f"{base}/models", headers, "ATTEST_MODERATION_KEY", "ATTEST_MODERATION_BASE_URL")


async def _language(settings: Settings) -> Finding:
    base, key = (settings.language_endpoint or "").rstrip("/"), settings.language_key
    headers = {"Ocp-Apim-Subscription-Key": key.get_secret_value()} if key else {}
    if not key:
        return Finding("language service", "note", "signs in as this machine; tried at the first check", service=True)
    # a GET costs nothing; any answer but a refusal of the key says that the service is there
    url = f"{base}/language/:analyze-text?api-version=2023-04-01"
    return await _get("language service", url, headers, "ATTEST_LANGUAGE_KEY", "ATTEST_LANGUAGE_ENDPOINT")


async def _serpapi(settings: Settings) -> Finding:
    query = urlencode({"api_key": _secret(settings.serpapi_key)})
    url = f"https://serpapi.com/account.json?{query}"
    return await _get("web search", url, {}, "ATTEST_SERPAPI_KEY", "the network")


async def _tavily(settings: Settings) -> Finding:
    base = (settings.tavily_base_url or "https://api.tavily.com").rstrip("/")
    headers = {"Authorization": f"Bearer {_secret(settings.tavily_key)}"}
    return await _get("web search", f"{base}/usage", headers, "ATTEST_TAVILY_KEY", "ATTEST_TAVILY_BASE_URL")


async def _duckduckgo(_: Settings) -> Finding:
    url = "https://api.duckduckgo.com/?q=DuckDuckGo&format=json"
    return await _get("web search", url, {}, "the network", "the network")


async def _bing(settings: Settings) -> Finding:
    headers = {"Ocp-Apim-Subscription-Key": _secret(settings.bing_key)}
    found = await _get("web search", settings.bing_endpoint or "", headers, "ATTEST_BING_KEY", "ATTEST_BING_ENDPOINT")
    detail = f"legacy: Microsoft retired Bing Web Search on 2025-08-11; this service {found.detail}"
    status: Literal["note", "fail"] = "note" if found.status == "ok" else "fail"
    return replace(found, status=status, detail=detail, fix=found.fix or "set ATTEST_WEB to serpapi or tavily")


_WEB = {"serpapi": _serpapi, "tavily": _tavily, "duckduckgo": _duckduckgo, "bing": _bing}


def _secret(value: SecretStr | None) -> str:
    return value.get_secret_value() if value is not None else ""


async def _get(name: str, url: str, headers: dict[str, str], key_setting: str, url_setting: str) -> Finding:
    """Ask for a page that costs nothing. Neither key nor address appears in what is said."""
    timeout = aiohttp.ClientTimeout(total=_WAIT_S)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout, trust_env=True) as session,
            session.get(url, headers=headers, allow_redirects=False) as response,  # the key goes nowhere else
        ):
            status = response.status
    except (aiohttp.ClientError, TimeoutError, ValueError) as error:
        fix = f"check {url_setting}, and that the service runs"
        return Finding(name, "fail", f"does not answer ({type(error).__name__})", fix, service=True)
    if 300 <= status < 400:
        fix = f"set {url_setting} to the final address"
        return Finding(name, "fail", f"redirects elsewhere (status {status})", fix, service=True)
    if status in (401, 403):
        return Finding(name, "fail", f"refuses the key (status {status})", f"check {key_setting}", service=True)
    if status >= 500:
        return Finding(name, "fail", f"is in trouble (status {status})", "try again later", service=True)
    return Finding(name, "ok", f"answers (status {status})", service=True)
