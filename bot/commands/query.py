"""`attest query`: makes the search query of a conversation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

import typer

from bot.commands.shared import options
from bot.commands.shared.json_lines import Handle, answer_lines
from bot.commands.shared.startup import run
from bot.rows import fields
from bot.rows.fields import Json
from bot.rows.forms import access_of, history, query_json
from bot.system import System
from grounding.policies.files import policy_named
from grounding.policy import Policy
from grounding.query.conversation import without_excluded
from grounding.query.rewrite import keywords
from grounding.records import Query, Turn
from rai.screening.turn import screened_turn

app = options.command_app()


@app.command()
def query(
    context: typer.Context,
    jsonl: options.Jsonl,
    policy: Annotated[
        str | None, typer.Option(metavar="NAME", help="Whose query is made; default: the setting ATTEST_POLICY.")
    ] = None,
) -> None:
    """Make the search query of a conversation: the sentences that say what is wanted, verbatim, with their offsets.

    A row is {"id", "history": [{"role", "text"}], "excluded": [str]?}; roles are customer, agent, user, assistant.
    Excluded words never occur in the query. Where the policy has a model make key words of it (hybrid-crag, with
    ATTEST_REWRITER=model), `rewritten` has them; otherwise it is null.

    Example:
      attest query --jsonl conversations.jsonl > queries.jsonl
    """
    raise typer.Exit(run(answer_lines(context, jsonl, partial(_builder, policy))))


def _builder(named: str | None, system: System) -> Handle:
    policy = policy_named(named or system.settings.answering.policy, system.settings.files.policies)

    async def one(row: Json) -> dict[str, Any]:
        turns, excluded = history(row), fields.texts(row, "excluded")
        access = await access_of(system, fields.optional_text(row, "as"), None)
        made = without_excluded(await system.queries.build(turns, access), excluded)
        return {
            **query_json(row["id"], made),
            "rewritten": await rewritten_by_model(system, policy, made, turns, excluded),
        }

    return one


async def rewritten_by_model(
    system: System, policy: Policy, made: Query, turns: Sequence[Turn], excluded: Sequence[str]
) -> str | None:
    """The key words that a model makes of the query, under the screen as in a turn; None where no model does so under `policy`."""
    if system.rewriter is None or policy.query != "keywords" or not made.text:
        return None
    with screened_turn(turn.text for turn in turns):
        return await keywords(system.rewriter, made.text, excluded)
