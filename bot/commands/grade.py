"""`attest grade`: passages to grades and action."""

from __future__ import annotations

from typing import Any

import typer

from bot.commands import fields, options
from bot.commands.fields import Json
from bot.commands.forms import passages_to_grade
from bot.commands.jsonl import Handle, answer_lines
from bot.commands.startup import run
from bot.records import grade_json
from bot.system import System
from grounding.decide import decide

app = options.command_app()


@app.command()
def grade(context: typer.Context, jsonl: options.Jsonl) -> None:
    """Grade passages against a query and decide the action: correct, ambiguous or incorrect.

    A row is {"id", "query", "passages": [{"id", "text", "title"?}]}. A score is in [0, 1]; the extract lies verbatim
    in the passage. No passages is `incorrect`; a grader that fails gives `ungraded`, which is `ambiguous`.

    Example:
      attest grade --jsonl passages.jsonl > grades.jsonl
    """
    raise typer.Exit(run(answer_lines(context, jsonl, _grader)))


def _grader(system: System) -> Handle:
    policy = system.settings.policies[system.settings.policy]

    async def one(row: Json) -> dict[str, Any]:
        query, passages = fields.text(row, "query"), passages_to_grade(row)
        grading = await system.grader.grade(query, passages)
        return {
            "id": row["id"],
            "status": grading.status,
            "grades": [grade_json(grade) for grade in grading.grades],
            "action": decide(grading, policy).action.value,
        }

    return one
