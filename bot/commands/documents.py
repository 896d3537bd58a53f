"""`attest documents`: lists, shows, removes and restores what is in the knowledge base, and copies it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

import typer

from bot.commands.shared import options
from bot.commands.shared.output import console, emit, note, plain, table
from bot.commands.shared.recording import record_or_note
from bot.commands.shared.startup import make_home, run, settings_of
from bot.commands.shared.wiring import opened, opened_ingester, wiring_of
from bot.events.copies import record_backup
from bot.events.digests import file_sha256
from bot.operator import operator
from grounding.errors import InputError
from grounding.ingest.history import History, Tombstone
from grounding.records import Access, Document, DocumentInfo
from rai.entry_schema import NAME, SCHEMA

app = options.command_app("List, show, remove, restore or back up what is in the knowledge base.")
DocId = Annotated[str, typer.Argument(metavar="DOC_ID", help="Id of the document, as `documents list` prints it.")]
_SHORTEST_PREFIX = 6


@app.command("list")
def list_(
    context: typer.Context,
    *,
    pattern: Annotated[
        str | None, typer.Argument(metavar="[PATTERN]", help="Only ids that fit: * is any run of characters, ? one.")
    ] = None,
    as_user: Annotated[
        str | None,
        typer.Option("--as", metavar="USER", help="Only what this user may read, as the directory knows them."),
    ] = None,
    product: options.Product = None,
    removed: Annotated[
        bool, typer.Option("--removed", help="What is out instead: removed by hand, or gone from its folder.")
    ] = False,
    json: options.JsonFlag = False,
) -> None:
    """List the documents that answers are made from.

    Examples:
      attest documents list --json
      attest documents list "hr/*" --as alice
      attest documents list --removed
    """
    if removed:
        _list_removed(context, pattern, as_user, product, json=json)
        return
    found = [info for info in run(_list(context, as_user, product)) if _fits(info.doc_id, pattern)]
    if json:
        emit({"documents": [asdict(info) for info in found]})
        return
    if not found:
        narrowed = pattern or as_user or product
        note(
            "no document fits"
            if narrowed
            else "the knowledge base is empty; `attest ingest --sample` or `attest ingest PATH` fills it"
        )
        return
    rows = [
        (i.doc_id, i.title, _readers(i.groups), i.product or "–", i.chunks, i.trust, i.updated or "–", i.version[:8])
        for i in found
    ]
    columns = ("id", "title", "readers", "product", "chunks", "trust", "updated", "version")
    console().print(table(columns, rows, right=("chunks",)))


def _list_removed(
    context: typer.Context, pattern: str | None, as_user: str | None, product: str | None, *, json: bool
) -> None:
    if as_user is not None or product is not None:
        raise InputError("documents list --removed takes no --as and no --product; allowed: a PATTERN")
    found = [t for t in _history(context).tombstones() if _fits(t.doc_id, pattern)]
    if json:
        emit({"removed": [_tombstone_json(t) for t in found]})
        return
    if not found:
        note("nothing was taken out")
        return
    rows = [
        (
            t.doc_id,
            t.title,
            _readers(t.groups),
            "removed by hand" if t.by_hand else "gone from its folder",
            t.version[:8],
        )
        for t in found
    ]
    console().print(table(("id", "title", "readers", "why", "version"), rows))


@app.command()
def show(
    context: typer.Context,
    doc_id: DocId,
    *,
    version: Annotated[
        str | None,
        typer.Option(metavar="HASH", help="An earlier version, as the ledger names it; its beginning is enough."),
    ] = None,
    versions: Annotated[
        bool, typer.Option("--versions", help="List the versions that are kept, oldest first, instead of the text.")
    ] = False,
    json: options.JsonFlag = False,
) -> None:
    """Show a document as the index holds it.

    Examples:
      attest documents show refunds.md
      attest documents show refunds.md --versions
    """
    if versions:
        _show_versions(context, doc_id, json=json)
        return
    document = run(_show(context, doc_id, version))
    if json:
        emit({**asdict(document), "version": document.version})
        return
    console().print(plain(document.title))
    details = [document.url, document.product, f"readers: {_readers(document.groups)}", f"version {document.version}"]
    note(" · ".join(part for part in details if part))
    console().print(plain(document.text), soft_wrap=True)


def _show_versions(context: typer.Context, doc_id: str, *, json: bool) -> None:
    kept = _history(context).versions(doc_id)
    if not kept:
        raise _unknown(doc_id)
    now = next((i.version for i in run(_list(context)) if i.doc_id == doc_id), None)
    if json:
        emit({"doc_id": doc_id, "versions": list(kept), "current": now})
        return
    console().print(table(("version", ""), [(v, "current" if v == now else "") for v in kept]))


@app.command()
def remove(context: typer.Context, doc_id: DocId, json: options.JsonFlag = False) -> None:
    """Take a document out of every answer.

    At once, also beside a running ingest or server. Its versions stay, so that earlier answers can still be replayed.
    It stays out until its content or its rights change, or until it is restored.

    Example:
      attest documents remove old-prices.pdf
    """
    run(_remove(context, doc_id))
    if json:
        emit({"removed": doc_id})
    else:
        note(f"{doc_id} is removed; no answer uses it from now on")


@app.command()
def restore(context: typer.Context, doc_id: DocId, json: options.JsonFlag = False) -> None:
    """Bring a removed document back, as it last stood.

    Example:
      attest documents restore old-prices.pdf
    """
    run(_restore(context, doc_id))
    if json:
        emit({"restored": doc_id})
    else:
        note(f"{doc_id} is back; answers may use it from now on")


@app.command()
def backup(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where the copy goes; a file that is not there yet.")],
    json: options.JsonFlag = False,
) -> None:
    """Copy the documents, their versions and vectors into one file, while everything runs.

    To restore: put it in the place of index/store.db of an ATTEST_HOME that nothing uses, then `attest ingest --rebuild`.

    The ledger gets an entry with the name, size and SHA-256 of the copy.

    Example:
      attest documents backup knowledge-2026-11-20.db
    """
    size = _history(context).backup(file)
    run(_record(context, file, size))
    if json:
        emit({"file": str(file), "bytes": size})
    else:
        note(f"{file}: {size:,} bytes; the ledger, its key and directory.yaml are not in it")


async def _record(context: typer.Context, file: Path, size: int) -> None:
    digest = await asyncio.to_thread(file_sha256, file)
    await record_or_note(context, "the backup", lambda ledger: record_backup(ledger, file, size, digest))


def _history(context: typer.Context) -> History:
    settings = settings_of()
    make_home(settings)
    return wiring_of(context).open_history(settings)


async def _list(
    context: typer.Context, as_user: str | None = None, product: str | None = None
) -> Sequence[DocumentInfo]:
    async with opened(context) as system:
        found = await system.library.documents()
        access = None if as_user is None else Access(as_user, await system.directory.groups(as_user))
    return [
        i
        for i in found
        if (access is None or access.may_read(i.groups)) and (product is None or i.product in (None, product))
    ]


async def _show(context: typer.Context, doc_id: str, version: str | None) -> Document:
    if version is not None:
        version = _whole(version, _history(context).versions(doc_id))
    async with opened(context) as system:
        document = await system.library.document(doc_id, version)
    if document is None:
        raise _unknown(doc_id, f" at version {version}" if version else "")
    return document


def _whole(version: str, kept: Sequence[str]) -> str:
    """The one kept version that begins with `version`, or `version` as it is."""
    fits = [v for v in kept if v.startswith(version)]
    return fits[0] if len(fits) == 1 and len(version) >= _SHORTEST_PREFIX else version


async def _remove(context: typer.Context, doc_id: str) -> None:
    async with opened(context) as system:
        if not await system.library.remove(doc_id):
            raise _unknown(doc_id)
        await system.ledger.append("remove", {NAME: SCHEMA, "doc_id": doc_id, "actor": asdict(operator())})


async def _restore(context: typer.Context, doc_id: str) -> None:
    async with opened_ingester(context, settings_of()) as ingester:
        if not await ingester.restore(doc_id):
            raise InputError(f"DOC_ID {doc_id!r} is not out; `attest documents list --removed` shows what is")


def _unknown(doc_id: str, at: str = "") -> InputError:
    return InputError(f"DOC_ID {doc_id!r} is not in the knowledge base{at}; see `attest documents list`")


def _fits(doc_id: str, pattern: str | None) -> bool:
    return pattern is None or fnmatchcase(doc_id, pattern)


def _tombstone_json(tombstone: Tombstone) -> dict[str, object]:
    return {name: value for name, value in asdict(tombstone).items() if name != "stamp"}


def _readers(groups: tuple[str, ...] | None) -> str:
    if groups is None:
        return "everyone"
    return ", ".join(groups) or "nobody"
