"""A draft written again, once, by a model that is told exactly what no source supports."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from bot.records import Regeneration
from bot.turn.draft.answer_form import admits_ignorance
from bot.turn.prompt import turn_prompt
from bot.turn.state import TurnState
from grounding.errors import BudgetSpent, ContentFiltered, PromptBlocked, ServiceError
from grounding.observe import record_degraded
from grounding.prompting.prompt import revision_request
from rai.records import Claim

RESERVE_S = 3.0
"""Seconds of the turn's deadline that are left for the check and the record: a late second draft must not cost the first repair."""
MOST_TOLD = 12
"""Problems that are named; a draft with more is wrong as a whole."""


async def drafted_again(state: TurnState, draft: str, claims: Sequence[Claim]) -> str | None:
    """A second draft, unchecked, or None with a note: nobody drafts, time is up, the model failed, or it finds no answer either.

    The prompt goes the way of the first one, through the screen; it is kept in `state.regeneration`.
    """
    reviser, prompt = state.seams.reviser, state.prompt
    left = state.seams.deadline_s - state.timings()["total"] / 1000 - RESERVE_S
    if reviser is None or prompt is None or left <= 0:
        return None
    request = revision_request(prompt.question, draft, problems(claims), state.marker)
    again = await asyncio.to_thread(turn_prompt, state, request, prompt.evidence)
    text, why = None, ""
    try:
        async with asyncio.timeout(left):
            text = (await reviser.compose(again)).text
    except TimeoutError:
        why = "it was not done in time"
    except BudgetSpent as error:
        why = str(error)
    except PromptBlocked as error:
        why = "its prompt could not be screened" if error.unavailable else "the screen blocked its prompt"
    except ContentFiltered:
        why = "the model service's content filter blocked it"
    except ServiceError as error:
        record_degraded("model")
        why = str(error)
    if text is not None and admits_ignorance(text):
        text, why = None, "the model found no answer in the sources"
    state.regeneration = Regeneration(again, text, why)
    state.note(f"no second draft: {why}" if why else "the model was told what was unsupported and drafted again")
    return text


def problems(claims: Sequence[Claim]) -> list[str]:
    """What is unsupported, why, and what the sources say instead: one line each, sentences only where no value of theirs is named."""
    wrong = [c for c in claims if c.unsupported]
    values = [c for c in wrong if c.kind != "statement"]
    sentences = [
        c for c in wrong if c.kind == "statement" and not any(c.start <= v.start and v.end <= c.end for v in values)
    ]
    return [_line(c) for c in sorted([*values, *sentences], key=lambda c: c.start)][:MOST_TOLD]


def _line(claim: Claim) -> str:
    what = "sentence" if claim.kind == "statement" else claim.entity or claim.kind
    said = f" The evidence says: {claim.instead.text}" if claim.instead else ""
    return f'unsupported {what}: "{claim.text}". {claim.why}{said}'
