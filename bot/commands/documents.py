"""`attest documents`: what is in the knowledge base."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from bot.commands import options
from bot.commands.output import console, emit, note, plain, table
from bot.commands.startup import run
from bot.commands.wiring import opened
from grounding.errors import InputError
from grounding.records import Document, DocumentInfo

app = options.command_app("List, show or remove what is in the knowledge base.")
DocId = Annotated[str, typer.Argument(metavar="DOC_ID", help="Id of the document, as `documents list` prints it.")]


@app.command("list")
def list_(context: typer.Context, json: options.JsonFlag = False) -> None:
    """List the documents that answers are made from.

    Example:
      attest documents list --json
    """
    found = run(_list(context))
    if json:
        emit({"documents": [asdict(info) for info in found]})
        return
    if not found:
        note("the knowledge base is empty; `attest ingest --sample` or `attest ingest PATH` fills it")
        return
    rows = [
        (i.doc_id, i.title, _readers(i.groups), i.product or "–", i.chunks, i.updated or "–", i.version[:8])
        for i in found
    ]
    columns = ("id", "title", "readers", "product", "chunks", "updated", "version")
    console().print(table(columns, rows, right=("chunks",)))


@app.command()
def show(
    context: typer.Context,
    doc_id: DocId,
    version: Annotated[
        str | None, typer.Option(metavar="HASH", help="An earlier version, as the ledger names it.")
    ] = None,
    json: options.JsonFlag = False,
) -> None:
    """Show a document as the index holds it.

    Example:
      attest documents show refunds.md
    """
    document = run(_show(context, doc_id, version))
    if json:
        emit({**asdict(document), "version": document.version})
        return
    console().print(plain(document.title))
    details = [document.url, document.product, f"readers: {_readers(document.groups)}", f"version {document.version}"]
    note(" · ".join(part for part in details if part))
    console().print(plain(document.text), soft_wrap=True)


@app.command()
def remove(context: typer.Context, doc_id: DocId, json: options.JsonFlag = False) -> None:
    """Take a document out of every answer.

    At once; its versions stay, so that earlier answers can still be replayed.

    Example:
      attest documents remove old-prices.pdf
    """
    run(_remove(context, doc_id))
    if json:
        emit({"removed": doc_id})
    else:
        note(f"{doc_id} is removed; no answer uses it from now on")


async def _list(context: typer.Context) -> tuple[DocumentInfo, ...]:
    async with opened(context) as system:
        return await system.library.documents()


async def _show(context: typer.Context, doc_id: str, version: str | None) -> Document:
    async with opened(context) as system:
        document = await system.library.document(doc_id, version)
    if document is None:
        at = f" at version {version}" if version else ""
        raise InputError(f"DOC_ID {doc_id!r} is not in the knowledge base{at}; see `attest documents list`")
    return document


async def _remove(context: typer.Context, doc_id: str) -> None:
    async with opened(context) as system:
        if not await system.library.remove(doc_id):
            raise InputError(f"DOC_ID {doc_id!r} is not in the knowledge base; see `attest documents list`")
        await system.ledger.append("remove", {"doc_id": doc_id})


def _readers(groups: tuple[str, ...] | None) -> str:
    if groups is None:
        return "everyone"
    return ", ".join(groups) or "nobody"
