"""Whether a draft may be looked at any further: screened before it is checked, shown or repaired, and whenever its words have changed.

An unfit draft is withheld, not blocked: the question was honest and passed the screen, it is our own words that may not go out. So the
sources are offered, the person is not told off, and nothing counts as a refusal. The draft stands in the record alone.
"""

from __future__ import annotations

from functools import cache

from bot.turn.state import Work
from grounding.asking.templates import template
from rai.screening.draft import DraftMaterial, judge_draft

_OURS = ("system", "guidance", "guidance_apart", "history", "agent_context", "revision")
"""Templates that an answer must not tell; the example and the sentence of insufficiency are meant to be said."""


async def screen_draft(w: Work, draft: str) -> str | None:
    """`draft` without images and such, noted; None if it must not be shown, with the rule in the record."""
    judged = await w.seams.run(judge_draft, draft, _around(w))
    w.trace.note(*judged.notes)
    if judged.screening.blocked or (judged.notes and not judged.text):
        w.trace.screenings.append(("draft", judged.screening))
        w.trace.note("a draft was held back: it was not fit to be shown")
        w.rejected_drafts = (*w.rejected_drafts, draft)
        return None
    return judged.text


def _around(w: Work) -> DraftMaterial:
    own = [f"{e.passage.title}\n{e.passage.text}" for e in w.evidence if e.passage.origin == "kb"]
    found = [f"{e.passage.title}\n{e.passage.text}\n{e.passage.url}" for e in w.evidence if e.passage.origin == "web"]
    links = [e.passage.url for e in w.evidence if e.passage.url]
    said = [w.ask.question, *(t.text for t in w.history), *([w.ask.context] if w.ask.context else [])]
    return DraftMaterial([*own, *links], found, said, _ours(), (w.marker,))


@cache
def _ours() -> tuple[str, ...]:
    return tuple(template(name) for name in _OURS)
