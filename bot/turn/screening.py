"""The screen in a turn: at its start the question, what it adds up to with the turns before it, and what stands around it; later every
draft, before it is checked, shown or repaired, and whenever its words have changed.

An unfit draft is withheld, not blocked: the question was honest and passed the screen, it is our own words that may not go out. So the
sources are offered, the person is not told off, and nothing counts as a refusal. The draft stands in the record alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from bot.turn.state import TurnState
from grounding.errors import AttestError, PromptBlocked, ServiceError, UserError
from grounding.model_calls.templates import template
from grounding.records import Turn
from rai.ports import PromptScreen
from rai.records import Category, Screening
from rai.screening.draft import DraftMaterial, judge_draft
from rai.screening.languages import unread
from rai.screening.personal_data import look_further

LOOK_BACK = 2
"""Earlier turns of people that are read together with the question: what is asked piece by piece is asked all the same."""
LEARNT, SURE = "CL-", 0.8
"""What the classifier alone finds in turns read together must be surer: honest ones together resemble nothing that it was taught. A rule, the
company's list or a stronger screen needs no more than its own threshold.
"""
LONGEST = 2000
"""Characters of what is read together; more is a pasted text, which is judged by itself."""
_OURS = ("system", "guidance", "guidance_apart", "history", "agent_context", "revision", "rework")
"""Templates that an answer must not tell; the example and the sentence of insufficiency are meant to be said."""


async def open_turn(state: TurnState) -> bool:
    """`screen_turn`, and beside it a service that looks for personal data, where there is one: neither waits for the other to begin."""
    if state.seams.personal is None:
        return await screen_turn(state)
    failure: AttestError | None = None
    allowed = False
    async with asyncio.TaskGroup() as group:
        group.create_task(look_further(state.seams.personal))
        try:
            allowed = await screen_turn(state)
        except AttestError as error:  # what was found is masked in the record however the screen ends
            failure = error
    if failure is not None:
        raise failure
    return allowed


async def screen_turn(state: TurnState) -> bool:
    """False if the question is blocked; earlier turns and context that give orders are left out of the turn.

    Raises UserError for an empty question, PromptBlocked when the screen cannot decide: closed.
    """
    ask = state.ask
    if not ask.question.strip():
        raise UserError("the question is empty")
    around = [*(t.text for t in ask.history), *([ask.context] if ask.context else [])]
    try:
        decided = await state.seams.screen.screen(ask.question, around)
        state.screenings.append(("question", decided))
        whole = None if decided.blocked else await _together(state.seams.screen, ask.history, ask.question)
    except ServiceError as error:
        raise PromptBlocked(None, unavailable=True) from error
    if whole is not None:
        state.screenings.append(("conversation", whole))
    state.note(unread(ask.question))
    orders = {d.index for d in decided.documents if d.verdict == "block"}
    if orders:
        state.note(f"{len(orders)} earlier turn(s) or context that give orders were left out")
    state.history = tuple(t for i, t in enumerate(ask.history) if i not in orders)
    if len(ask.history) in orders:
        state.ask = replace(ask, context=None)
    return not (decided.blocked or (whole is not None and whole.blocked))


def blocked_for(state: TurnState) -> Category | None:
    """Why the turn was refused: the category of the last text that was blocked."""
    return next((s.category for _, s in reversed(state.screenings) if s.blocked), None)


async def _together(screen: PromptScreen, history: Sequence[Turn], question: str) -> Screening | None:
    """The question and the turns before it as one request; None if there are none.

    A turn that is blocked by itself was refused when it was asked: it must not make every later question a wrong refusal. Honest talk, which
    is nearly all, costs one call of the screen.
    """
    before = [t.text for t in history if t.role != "assistant" and len(t.text) < LONGEST][-LOOK_BACK:]
    whole = await _joined(screen, before, question)
    if whole is None or not whole.blocked:
        return whole
    if (whole.rule or "").startswith(LEARNT) and whole.score < SURE:
        return replace(whole, verdict="allow", category=None, rule=None, doubtful=True)
    kept = [text for text in before if not (await screen.screen(text)).blocked]
    return whole if kept == before else await _joined(screen, kept, question)


async def _joined(screen: PromptScreen, before: Sequence[str], question: str) -> Screening | None:
    text = " ".join([*before, question])
    return await screen.screen(text) if before and len(text) <= LONGEST else None


async def screen_draft(state: TurnState, draft: str) -> str | None:
    """`draft` without images and such, noted; None if it must not be shown, with the rule in the record."""
    judged = await state.seams.run(judge_draft, draft, _around(state))
    state.note(*judged.notes)
    if judged.screening.blocked or (judged.notes and not judged.text):
        state.screenings.append(("draft", judged.screening))
        state.note("a draft was held back: it was not fit to be shown")
        state.rejected_drafts = (*state.rejected_drafts, draft)
        return None
    return judged.text


def _around(state: TurnState) -> DraftMaterial:
    own = [f"{e.passage.title}\n{e.passage.text}" for e in state.evidence if e.passage.origin == "kb"]
    found = [
        f"{e.passage.title}\n{e.passage.text}\n{e.passage.url}" for e in state.evidence if e.passage.origin == "web"
    ]
    links = [e.passage.url for e in state.evidence if e.passage.url]
    return DraftMaterial([*own, *links], found, state.said, _ours(), (state.marker,))


@cache
def _ours() -> tuple[str, ...]:
    return tuple(template(name) for name in _OURS)
