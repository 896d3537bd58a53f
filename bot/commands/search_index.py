"""`attest index`: the indexes behind the alias of the search in Azure, which of them is in use, and the way to another and back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

import typer
from rich.filesize import decimal

from bot.commands.shared import options
from bot.commands.shared.output import console, emit, note, plain, table
from bot.commands.shared.recording import record_or_note
from bot.commands.shared.startup import make_home, run, settings_of
from bot.compose.search_index import SearchIndexes, opened_indexes
from bot.events.copies import record_index

app = options.command_app(
    "See the indexes behind the alias of Azure AI Search, take another into use, go back, remove one."
)
Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the index, as `attest index list` prints it.")]


@app.command("list")
def list_(json: options.JsonFlag = False) -> None:
    """List the indexes behind the alias, the one in use first, and what the service has room for.

    An index that bears the mark of these settings is the one that `attest ingest` brings up to date. Sizes are those that the
    service counted last; they lag behind by minutes.

    Examples:
      attest index list
      attest index list --json
    """
    run(_list(json=json))


@app.command()
def use(context: typer.Context, name: Name, json: options.JsonFlag = False) -> None:
    """Take an index into use: it is brought up to date, then the alias names it. Nobody who asks meanwhile is kept waiting.

    The service says that up to ten seconds pass until every request goes there. The index before stays, for the way back.

    Example:
      attest index use attest-3f9a01c2
    """
    run(_use(context, name, json=json))


@app.command()
def back(context: typer.Context, json: options.JsonFlag = False) -> None:
    """Take the index into use again that the one in use has replaced.

    The one that was left is held: no ingest takes it into use again, `attest index use` does.

    Example:
      attest index back
    """
    run(_use(context, None, json=json))


@app.command()
def remove(context: typer.Context, name: Name, json: options.JsonFlag = False) -> None:
    """Delete an index that is not in use, with all its passages; the documents in store stay.

    Example:
      attest index remove attest-3f9a01c2
    """
    run(_remove(context, name, json=json))


@asynccontextmanager
async def _opened() -> AsyncIterator[SearchIndexes]:
    settings = settings_of()
    make_home(settings)
    async with opened_indexes(settings) as opened:
        yield opened


async def _list(*, json: bool) -> None:
    async with _opened() as opened:
        found, room, fits = await opened.indexes.listed(), await opened.indexes.room(), opened.fits
    if json:
        emit(
            {
                "indexes": [
                    {
                        "name": one.name,
                        "in_use": one.in_use,
                        "fits_settings": one.name == fits,
                        "embedder": one.state.embedder if one.state else None,
                        "kb_version": one.state.kb_version if one.state else None,
                        "replaces": (one.state.replaces or None) if one.state else None,
                        "documents": one.size.documents,
                        "storage_bytes": one.size.storage,
                        "vector_bytes": one.size.vectors,
                    }
                    for one in found
                ],
                "room": {
                    "storage_bytes": room.storage,
                    "most_storage_bytes": room.most_storage,
                    "vector_bytes": room.vectors,
                    "most_vector_bytes": room.most_vectors,
                },
            }
        )
        return
    if not found:
        note("there is no index behind the alias yet; attest ingest makes one")
        return
    rows = [
        (
            one.name,
            ", ".join(mark for mark, said in (("in use", one.in_use), ("these settings", one.name == fits)) if said),
            (one.state.embedder or "none, or being replaced") if one.state else "never whole",
            one.state.kb_version if one.state else "–",
            f"{max(0, one.size.documents - 1):,}" if one.state else f"{one.size.documents:,}",
            decimal(one.size.storage),
            decimal(one.size.vectors),
        )
        for one in found
    ]
    heads = ("index", "", "vectors of", "knowledge base", "passages", "storage", "memory")
    console().print(table(heads, rows, right=heads[4:]))
    console().print(
        plain(
            f"storage {_of(room.storage, room.most_storage)}, memory for vectors {_of(room.vectors, room.most_vectors)} of the service are used"
        ),
        style="dim",
    )


def _of(used: int, most: int | None) -> str:
    return decimal(used) if most is None else f"{decimal(used)} of {decimal(most)}"


async def _use(context: typer.Context, name: str | None, *, json: bool) -> None:
    async with _opened() as opened:
        if name is None:
            name, before = await opened.indexes.back()
        else:
            before = await opened.indexes.use(name) or ""
        fits = name == opened.fits
    if before != name:
        await record_or_note(
            context, "the index in use", lambda ledger: record_index(ledger, name, action="used", before=before or None)
        )
    if json:
        emit({"in_use": name, "before": before or None})
        return
    told = "is in use already" if before == name else f"is in use{f', {before} before' if before else ''}"
    console().print(plain(f"{name} {told}"))
    if not fits:
        note(
            "these settings make another index: servers with them search their own one where it is whole, else this one, by words alone where its vectors are another model's"
        )


async def _remove(context: typer.Context, name: str, *, json: bool) -> None:
    async with _opened() as opened:
        await opened.indexes.remove(name)
    await record_or_note(
        context, "the removal", lambda ledger: record_index(ledger, name, action="removed", before=None)
    )
    if json:
        emit({"removed": name})
        return
    console().print(plain(f"{name} is removed"))
