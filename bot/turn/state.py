"""What a turn holds in its hands: the seams it may use, and the work its stages have made so far."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bot.records import Ask, InternalNote
from bot.turn.trace import Trace
from grounding.asking.spotlight import new_marker
from grounding.bounded.pool import Run
from grounding.corrective.decide import Decision
from grounding.corrective.find import Correction
from grounding.policy import Policy
from grounding.ports import ChatModel, Composer, Directory, Grader, Retriever, Speller, WebSearch
from grounding.query.clarify import Clarification
from grounding.query.linking import QueryBuilder
from grounding.records import Evidence, Grading, Prompt, Query, Retrieval, Turn, WebResult
from rai.account import Terms
from rai.ports import Ledger, PersonalFinder, PromptScreen
from rai.records import Report, Source

Check = Callable[[str, Sequence[Source], str | None, Sequence[str], datetime | None], Awaitable[Report]]
"""(answer, sources, question, given, at) to a report: `rai.provenance.check` with its ports."""


async def never() -> bool:
    """False, whatever happens."""
    return False


@dataclass(frozen=True, slots=True)
class Seams:
    """Everything a turn asks of the world. `web` None is off. `deadline_s` bounds the whole turn, `terms` what it takes of chat models.

    `run`: who reads a draft before it is checked, which anybody may have had a hand in. `is_empty`: whether the knowledge base holds no document at all, whoever asks. Raises StoreError.

    `speller`: who mends slips of the hand in a question; None: nobody does. `personal`: who looks for personal data beside our own rules; None: nobody does. `rewriter`: who rewrites queries, imagines answers and plans; None: nobody does. `reviser`: who drafts again when told what was unsupported; None: nobody does, what cannot be mended is dropped.
    """

    screen: PromptScreen
    queries: QueryBuilder
    retriever: Retriever
    grader: Grader
    web: WebSearch | None
    composer: Composer
    directory: Directory
    check: Check
    ledger: Ledger
    company: str = "the company"
    deadline_s: float = 45.0
    reviser: Composer | None = None
    personal: PersonalFinder | None = None
    rewriter: ChatModel | None = None
    terms: Terms = field(default_factory=Terms)
    is_empty: Callable[[], Awaitable[bool]] = never
    speller: Speller | None = None
    run: Run = asyncio.to_thread


@dataclass(frozen=True, slots=True)
class Regeneration:
    """A second draft: what was asked, what came, and whether the reply rests on it. `text` None: none came, `why` says so."""

    prompt: Prompt
    text: str | None
    why: str = ""
    used: bool = False


@dataclass(slots=True)
class Work:
    """What the stages have made so far: what a reply and a ledger entry are built from, however the turn ends.

    `history` is what is left of `ask.history` after screening. `marker` opens and closes what this turn's prompts quote.
    `rejected_drafts`: drafts that must not be shown, for the record alone. `understood`: what was read of a pasted conversation.
    """

    ask: Ask
    seams: Seams
    policy: Policy
    trace: Trace
    history: tuple[Turn, ...] = ()
    query: Query = field(default_factory=lambda: Query(""))
    found: Retrieval = field(default_factory=lambda: Retrieval((), "", ""))
    grading: Grading = field(default_factory=lambda: Grading("graded", ()))
    decision: Decision | None = None
    decided_first: Decision | None = None
    corrections: tuple[Correction, ...] = ()
    clarification: Clarification | None = None
    searched: str = ""
    web: tuple[WebResult, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    internal: tuple[InternalNote, ...] = ()
    prompt: Prompt | None = None
    regeneration: Regeneration | None = None
    marker: str = field(default_factory=new_marker)
    rejected_drafts: tuple[str, ...] = ()
    understood: str = ""
