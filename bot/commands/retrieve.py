"""`attest retrieve`: finds the passages for a query or a conversation."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bot.commands.shared import options
from bot.commands.shared.json_lines import Handle, answer_lines
from bot.commands.shared.output import console, emit, note, table
from bot.commands.shared.startup import run
from bot.commands.shared.wiring import opened
from bot.rows.fields import Json
from bot.rows.forms import MAX_K
from bot.rows.forms import retrieve as retrieve_form
from bot.system import System
from bot.view.place import named_place
from grounding.errors import InputError

app = options.command_app()


@app.command()
def retrieve(
    context: typer.Context,
    *,
    query: Annotated[str | None, typer.Argument(metavar="QUERY", help="What to look for.")] = None,
    jsonl: options.OptionalJsonl = None,
    k: Annotated[int, typer.Option(metavar="N", min=1, max=MAX_K, help="How many passages at most.")] = 50,
    user: options.AsUser = None,
    product: options.Product = None,
    json: options.JsonFlag = False,
) -> None:
    """Find passages for a query or a conversation, best first, trimmed to what the user may read.

    A row of --jsonl is {"id", "query"} or {"id", "history": [{"role", "text"}]}, and may have its own "k", "as" and
    "product". `score` is in [0, 1] and comparable within one list; `bm25` is unbounded, `semantic` a cosine.

    Examples:
      attest retrieve "refund after 30 days" --k 5
      attest retrieve "error E-4032" --as anna@contoso.com --json
      attest retrieve --jsonl queries.jsonl --k 10 > passages.jsonl
    """
    if (query is None) == (jsonl is None):
        raise InputError("retrieve takes either QUERY or --jsonl FILE")
    if jsonl is not None:
        raise typer.Exit(run(answer_lines(context, jsonl, lambda system: _retriever(system, k, user, product))))
    run(_one(context, query or "", k, user, product, as_json=json))


def _retriever(system: System, k: int, user: str | None, product: str | None) -> Handle:
    async def one(row: Json) -> dict[str, Any]:
        return {"id": row["id"], **await retrieve_form(system, row, k, user, product)}

    return one


async def _one(
    context: typer.Context, query: str, k: int, user: str | None, product: str | None, *, as_json: bool
) -> None:
    if not query.strip():
        raise InputError("QUERY is empty; give some words to look for")
    async with opened(context) as system:
        found = await retrieve_form(system, {"query": query}, k, user, product)
    if as_json:
        emit({"id": "1", **found})
        return
    _show(found)


def _show(found: dict[str, Any]) -> None:
    for line in found["notes"]:
        note(line)
    if not found["results"]:
        note("nothing found; `attest documents list` shows what is in the knowledge base")
        return
    rows = [
        (n, f"{r['score']:.3f}", _figure(r["bm25"]), _figure(r["semantic"]), _source(r), _start(r["text"]))
        for n, r in enumerate(found["results"], start=1)
    ]
    columns = ("#", "score", "bm25", "semantic", "source", "text")
    console().print(table(columns, rows, right=("#", "score", "bm25", "semantic")))


def _source(result: dict[str, Any]) -> str:
    return named_place(result["title"] or result["doc_id"], result["locator"])


def _start(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 120 else line[:119] + "…"


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
