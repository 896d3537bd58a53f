"""`attest query`: conversation to search query."""

from __future__ import annotations

from typing import Any

import typer

from bot.commands import fields, options
from bot.commands.fields import Json
from bot.commands.forms import access_of, history, query_json
from bot.commands.jsonl import Handle, answer_lines
from bot.commands.startup import run
from bot.system import System
from grounding.query import without_excluded

app = options.command_app()


@app.command()
def query(context: typer.Context, jsonl: options.Jsonl) -> None:
    """Make the search query of a conversation: the sentences that say what is wanted, verbatim, with their offsets.

    A row is {"id", "history": [{"role", "text"}], "excluded": [str]?}; roles are customer, agent, user, assistant.
    Excluded words never occur in the query.

    Example:
      attest query --jsonl conversations.jsonl > queries.jsonl
    """
    raise typer.Exit(run(answer_lines(context, jsonl, _builder)))


def _builder(system: System) -> Handle:
    async def one(row: Json) -> dict[str, Any]:
        turns, excluded = history(row), fields.texts(row, "excluded")
        access = await access_of(system, fields.optional_text(row, "as"), None)
        return query_json(row["id"], without_excluded(await system.queries.build(turns, access), excluded))

    return one
