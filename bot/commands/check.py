"""`attest check`: answers and sources to claims and verdict."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

import typer

from bot.commands import options
from bot.commands.fields import Json
from bot.commands.forms import check_request
from bot.commands.jsonl import Handle, answer_lines
from bot.commands.output import note
from bot.commands.startup import run
from bot.http.forms import report_json
from bot.system import System

app = options.command_app()


class FailOn(StrEnum):
    """Verdicts that can fail a run."""

    UNSUPPORTED = "unsupported"


@dataclass(slots=True)
class _Found:
    """How many answers have the verdict that fails the run, and the id of the first."""

    count: int = 0
    first: str = ""


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
    found = _Found()
    code = run(answer_lines(context, jsonl, lambda system: _checker(system, fail_on, found)))
    if found.count:
        note(f"{found.count} {fail_on} answer{'s' if found.count > 1 else ''}, the first is {found.first}")
    raise typer.Exit(code or int(found.count > 0))


def _checker(system: System, fail_on: FailOn | None, found: _Found) -> Handle:
    async def one(row: Json) -> dict[str, Any]:
        report = await system.check(check_request(row))
        if report.verdict == fail_on:
            found.count += 1
            found.first = found.first or row["id"]
        return report_json(row["id"], report)

    return one
