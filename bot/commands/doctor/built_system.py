"""The checks of `attest doctor` on a system that was built: knowledge base, directory, ledger, and models that it could not use."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from bot.commands.doctor.diagnosis import Diagnosis, fix_of
from bot.commands.doctor.machine import CLASSIFIER, MODEL, READER, RULES, UNREAD, WORDS
from bot.compose.parts import block_reader
from bot.settings.settings import Settings
from bot.system import System
from grounding.errors import ServiceError, StoreError
from rai.ledger.checkpoints.publish import ContradictionError
from rai.records import Verification

DIRECTORY, CHECKPOINTS = "directory", "checkpoints"
OVERDUE = 2
"""Times the schedule after which a checkpoint of a ledger that has grown is late."""


async def check_system(system: System, record: Verification | None = None) -> list[Diagnosis]:
    """Check knowledge base, directory, ledger and models; the findings come in the order in which they are shown.

    `record`: what verifying the ledger came to before the system was built, which opens it to write and so puts back what somebody took away.
    """
    return [
        await _index(system),
        await _chunks(system),
        await _directory(system),
        _ledger(record or await system.ledger.verify()),
        await _checkpoints(system),
        *unusable_models(system),
    ]


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
        return Diagnosis(DIRECTORY, "fail", str(error), f"correct {path}; until then everyone is a stranger")
    if path.is_file():
        return Diagnosis(DIRECTORY, "ok", str(path))
    fix = f"write users: {{NAME: [GROUP, …]}} to {path}"
    return Diagnosis(DIRECTORY, "note", "no directory file: everyone sees only what is for everyone", fix)


async def _graph(system: System) -> Diagnosis:
    """Microsoft Graph, asked for a person who does not exist."""
    try:
        await system.directory.groups("00000000-0000-0000-0000-000000000000")
    except ServiceError as error:
        granting = "give this machine's identity the application permission GroupMember.Read.All, with admin consent"
        fix = (
            f"{fix_of(error, granting, 'check that Microsoft Graph can be reached')}; until then everyone is a stranger"
        )
        return Diagnosis(DIRECTORY, "fail", str(error).removeprefix("directory: "), fix, service=True)
    return Diagnosis(DIRECTORY, "ok", "Microsoft Graph answers", service=True)


def _ledger(found: Verification) -> Diagnosis:
    if found.ok:
        return Diagnosis("ledger", "ok", f"{found.entries} entries, chain intact")
    return Diagnosis(
        "ledger", "fail", f"chain broken at {found.broken or 'the end'}: {found.why}", "attest ledger verify"
    )


async def _checkpoints(system: System) -> Diagnosis:
    """Where the newest checkpoint is and how old, and how many entries it leaves to nobody but the operator."""
    settings, publisher = system.settings.checkpoints, system.checkpoints
    if publisher is None:
        fix = "set ATTEST_LEDGER_CHECKPOINTS to a folder or a blob container elsewhere"
        return Diagnosis(CHECKPOINTS, "note", "none are published: nobody outside can prove the ledger", fix)
    elsewhere = settings.url is not None
    try:
        last, count = await publisher.compare()
    except (ServiceError, StoreError) as error:
        fix = (
            "put the ledger back that was signed, or move away what is no checkpoint; by itself the ledger may hold "
            "(docs/ledger.md)"
        )
        if not isinstance(error, ContradictionError):
            fix = "check ATTEST_LEDGER_CHECKPOINTS: the SAS needs sp=rcl and a time that has not passed"
            fix = fix if elsewhere else f"make or mount {publisher.place}, and let this program write to it"
        said = str(error).removeprefix("checkpoints: ")
        return Diagnosis(CHECKPOINTS, "fail", said, fix, service=elsewhere)
    if last is None:
        fix = "attest serve publishes them, and attest ledger checkpoint"
        return Diagnosis(CHECKPOINTS, "note", f"none yet in {publisher.place}", fix, service=elsewhere)
    age = max(0.0, (datetime.now(UTC) - last.at).total_seconds())
    detail = f"{last.size} of {count} entries, {_ago(age)} ago, in {publisher.place}"
    if last.size < count and age > OVERDUE * settings.every_s:
        fix = "attest serve publishes them while it runs, and attest ledger checkpoint"
        return Diagnosis(CHECKPOINTS, "note", detail, fix, service=elsewhere)
    return Diagnosis(CHECKPOINTS, "ok", detail, service=elsewhere)


def _ago(seconds: float) -> str:
    """A time that has passed, in the largest unit of which there are two."""
    for name, unit in (("days", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * unit:
            return f"{seconds / unit:.0f} {name}"
    return f"{seconds:.0f} s"


def unusable_models(system: System) -> Iterator[Diagnosis]:
    """A finding for each model whose file is there and could not be used."""
    settings = system.settings
    if settings.embedding.kind == "embedded" and system.embedder is None and settings.files.model_path.is_file():
        yield _damaged(settings, MODEL, settings.files.model_path, WORDS)
    if "classifier" not in system.screen.name and settings.files.screen_model_path.is_file():
        yield _damaged(settings, CLASSIFIER, settings.files.screen_model_path, RULES)
    if all(path.is_file() for path in settings.files.reader_paths):
        try:
            if (reader := block_reader(settings)) is not None:
                reader.open()
        except StoreError:
            yield _damaged(settings, READER, settings.files.reader_paths[0], UNREAD)


def _damaged(settings: Settings, name: str, path: Path, without: str) -> Diagnosis:
    fix = (
        "put a whole one there, with its tokenizer beside it"
        if settings.files.model
        else f"delete {path.parent} and run make setup"
    )
    return Diagnosis(name, "fail", f"{path} cannot be used: {without}", fix)
