"""The prompt of a turn, for a first draft and for one that is written again."""

from __future__ import annotations

from collections.abc import Sequence

from bot.turn.state import TurnState
from grounding.prompting.prompt import build_prompt
from grounding.records import Evidence, Prompt


def turn_prompt(state: TurnState, request: str, evidence: Sequence[Evidence]) -> Prompt:
    """The five-part prompt for `request` over `evidence`. Counts the tokens of all that was said, so it belongs on a thread."""
    return build_prompt(
        request,
        evidence,
        state.policy,
        company=state.seams.company,
        marker=state.marker,
        history=state.history,
        context=state.ask.context,
        query=state.query.text,
        asked=state.query.asked,
    )
