"""Whether a draft may be looked at any further: screened before it is checked, shown or repaired, and whenever its words have changed.

An unfit draft is withheld, not blocked: the question was honest and passed the screen, it is our own words that may not go out. So the
sources are offered, the person is not told off, and nothing counts as a refusal. The draft stands in the record alone.
"""

from __future__ import annotations

from functools import cache

from bot.turn.state import TurnState
from grounding.asking.templates import template
from rai.screening.draft import DraftMaterial, judge_draft

_OURS = ("system", "guidance", "guidance_apart", "history", "agent_context", "revision")
"""Templates that an answer must not tell; the example and the sentence of insufficiency are meant to be said."""


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
