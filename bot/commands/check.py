"""`attest check`: answers and sources to claims and verdict."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from bot.commands import options
from bot.commands.fields import Json
from bot.commands.forms import check_request
from bot.commands.jsonl import answer_lines
from bot.commands.output import note
from bot.commands.wiring import opened, run
from bot.http.forms import report_json

app = options.command_app()


class FailOn(StrEnum):
    """Verdicts that can fail a run."""

    UNSUPPORTED = "unsupported"


@app.command()
def check(
    context: typer.Context,
    jsonl: options.Jsonl,
    fail_on: Annotated[
        FailOn | None, typer.Option(help="Exit with 1 if an answer has this verdict: for a gate in CI.")
    ] = None,
) -> None:
    """Check answers against their sources: every number, date, link, phone, name and sentence.

    A row is {"id", "answer", "sources": [{"id", "text", "title"?}], "question"?, "given"?}; the line that comes
    back has the verdict, its score from 0 to 1, and each claim with the exact characters that support it.

    Examples:
      attest check --jsonl answers.jsonl > checked.jsonl
      attest check --jsonl - --fail-on unsupported < answers.jsonl
    """
    raise typer.Exit(run(_check(context, jsonl, fail_on)))


async def _check(context: typer.Context, source: str, fail_on: FailOn | None) -> int:
    found = 0
    async with opened(context) as system:

        async def one(row: Json) -> dict[str, Any]:
            nonlocal found
            report = await system.check(check_request(row))
            found += report.verdict == fail_on
            return report_json(row["id"], report)

        code = await answer_lines(source, one)
    if found:
        note(f"{found} answer{'s' if found > 1 else ''} {fail_on}")
    return code or int(found > 0)
