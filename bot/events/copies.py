"""Entries of what leaves or is made anew by a command: exports of the ledger, backups of the knowledge base, indexes rebuilt and taken into use."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bot.operator import operator
from grounding.records import plain
from rai.entry_schema import NAME, SCHEMA
from rai.ports import Ledger
from rai.records import Entry

EXPORT, BACKUP, REBUILD, INDEX = "export", "backup", "rebuild", "index"


@dataclass(frozen=True, slots=True)
class Exported:
    """What left: the entries up to and with the one sealed by `head`. Of an export that was broken off the head is not known, nor of one that is not of the whole.

    `person`: a keyed digest of the id of whom it is about; `entry_id`: of the one entry that it is of.
    """

    form: str
    entries: int
    head: str | None
    complete: bool
    person: str | None = None
    entry_id: str | None = None


async def record_export(ledger: Ledger, what: Exported) -> Entry:
    """Record that the ledger, or what it has of a person, or a proof was exported, after it was: the entry is not in the export that it tells of. Raises StoreError."""
    body = {
        **{name: value for name, value in (("person", what.person), ("entry_id", what.entry_id)) if value},
        NAME: SCHEMA,
        "actor": plain(operator()),
        "form": what.form,
        "entries": what.entries,
        "head": what.head,
        "complete": what.complete,
    }
    return await ledger.append(EXPORT, body)


async def record_backup(ledger: Ledger, file: Path, size: int, sha256: str | None) -> Entry:
    """Record that the knowledge base was copied into a file, by its name and what it holds. Raises StoreError."""
    body = {NAME: SCHEMA, "actor": plain(operator()), "file": file.name, "bytes": size, "sha256": sha256}
    return await ledger.append(BACKUP, body)


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What was made anew: of how many documents and passages, with which embedding model; `waiting`: what kept passages without vectors."""

    kb_version: str
    documents: int
    chunks: int
    embedder: str | None
    waiting: str | None
    seconds: float


async def record_index(ledger: Ledger, index: str, *, action: Literal["used", "removed"], before: str | None) -> Entry:
    """Record that the alias of the search was moved to an index from the one `before`, or that an index was removed. Raises StoreError."""
    body = {NAME: SCHEMA, "actor": plain(operator()), "action": action, "index": index, "before": before}
    return await ledger.append(INDEX, body)


async def record_rebuild(ledger: Ledger, what: Rebuilt) -> Entry:
    """Record that all indexes were made anew from the documents in store. Raises StoreError."""
    body = {
        NAME: SCHEMA,
        "actor": plain(operator()),
        "kb_version": what.kb_version,
        "documents": what.documents,
        "chunks": what.chunks,
        "embedder": what.embedder,
        "waiting": what.waiting,
        "seconds": round(what.seconds, 1),
    }
    return await ledger.append(REBUILD, body)
