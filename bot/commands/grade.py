"""`attest grade`: grades passages against a query, and decides what a turn would do with them."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Annotated, Any

import typer

from bot.commands.shared import options
from bot.commands.shared.json_lines import Handle, answer_lines
from bot.commands.shared.startup import run
from bot.records import grade_json
from bot.rows import fields
from bot.rows.fields import Json
from bot.rows.forms import passages_to_grade
from bot.system import System
from grounding.corrective.decide import decide, taken_as_found
from grounding.policies.files import policy_named
from rai.screening.turn import screened_turn

app = options.command_app()


@app.command()
def grade(
    context: typer.Context,
    jsonl: options.Jsonl,
    policy: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Whose style, rule and thresholds; default: the setting ATTEST_POLICY."),
    ] = None,
) -> None:
    """Grade passages against a query and decide the action: correct, ambiguous or incorrect.

    A row is {"id", "query", "passages": [{"id", "text", "title"?}]}. A score is in [0, 1]; the extract lies verbatim
    in the passage. No passages is `incorrect`; a grader that fails gives `ungraded`, which is `ambiguous`. `decision` names the
    rule that fired, its threshold, what was compared with it, and the margin.

    Examples:
      attest grade --jsonl passages.jsonl > grades.jsonl
      attest grade --jsonl passages.jsonl --policy graph-crag
    """
    raise typer.Exit(run(answer_lines(context, jsonl, partial(_grader, policy))))


def _grader(named: str | None, system: System) -> Handle:
    settings = system.settings
    policy = policy_named(named or settings.answering.policy, settings.files.policies)
    grader = system.grader_of(policy)

    async def one(row: Json) -> dict[str, Any]:
        query, passages = fields.text(row, "query"), passages_to_grade(row)
        with screened_turn([query]):
            if grader is not system.grader:  # a model will read them: as in a turn, they are judged as data first
                await system.screen.screen(query, [text for p in passages for text in (p.title, p.text) if text])
            graded = taken_as_found(passages) if policy.style == "none" else await grader.grade(query, passages)
        decision = decide(graded, policy)
        return {
            "id": row["id"],
            "status": graded.status,
            "grades": [grade_json(grade) for grade in graded.grades],
            "action": decision.action.value,
            "decision": asdict(decision),
            "note": graded.note,
        }

    return one
