"""`attest screen`: judges prompts and documents, to allow or to block."""

from __future__ import annotations

from typing import Any

import typer

from bot.commands.shared import options
from bot.commands.shared.json_lines import Handle, answer_lines
from bot.commands.shared.startup import run
from bot.rows import fields
from bot.rows.fields import Json
from bot.rows.forms import screening_json
from bot.system import System
from grounding.errors import InputError

app = options.command_app()


@app.command()
def screen(context: typer.Context, jsonl: options.Jsonl) -> None:
    """Screen prompts, and documents for hidden instructions: allow or block, with the rule and its score.

    A row is {"id", "text", "documents": [str]?}. The text is judged as a request, each document as data; either may have a
    million characters.

    Example:
      echo '{"id": "1", "text": "How do I kill a Python process?"}' | attest screen --jsonl -
    """
    raise typer.Exit(run(answer_lines(context, jsonl, _screener)))


MOST = 1_000_000
"""Characters of a text or a document that are judged: far above what a person asks or a passage holds, and seconds of work."""


def _screener(system: System) -> Handle:
    async def one(row: Json) -> dict[str, Any]:
        text, documents = fields.text(row, "text"), fields.texts(row, "documents")
        for name, value in (("text", text), *((f"documents[{i}]", d) for i, d in enumerate(documents))):
            if len(value) > MOST:
                raise InputError(f"{name} has {len(value):,} characters; allowed: at most {MOST:,}", code="too_long")
        return screening_json(row["id"], await system.screen.screen(text, documents))

    return one
