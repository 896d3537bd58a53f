"""The state of one turn: what it was given, what its stages have come to so far, and what happened on the way."""

from __future__ import annotations

import time
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import TypeVar

from bot.records import Ask, InternalNote, OnStage, Regeneration, Stage
from bot.turn.seams import Seams
from bot.turn.stages import LABELS
from bot.wording.refusals import language_for, spoken
from grounding.corrective.find import FoundEvidence
from grounding.model_calls.spotlight import new_marker
from grounding.observe import StageRun, observed
from grounding.policy import Policy
from grounding.query.clarify import Clarification
from grounding.records import Access, Evidence, Prompt, Query, Turn
from rai.account import ModelCall
from rai.judgement import Judgement
from rai.records import Screening
from rai.screening.turn import TurnScreening

T = TypeVar("T")


@dataclass(slots=True)
class TurnState:
    """What a turn has come to so far, in the order in which it fills: each result is frozen, and stays however the turn ends. Beside it only the
    memory of the screen with the account of calls (`screening`) changes in a turn, and the mark of its log lines.

    `screening`: what the wrappers around models, retriever and web have seen and noted; they find it by `current_turn`, for the ports
    that they wrap know no turn (docs/decisions/0017-the-turn-in-context.md). `marker` opens and closes what this turn's prompts quote. `understood`: what was read of a pasted conversation. `history` is
    what is left of `ask.history` after screening. `rejected_drafts`: drafts that must not be shown, for the record alone. `unknown`: a name in the question that the evidence does not have.
    `about`: of a reworking the question of the answer that is reworked.
    `access`: what the turn reads with; `held`: the groups of who asked, for the record alone. `current`: the stage that runs or ran last; `stages`: those that have ended, with their milliseconds.
    """

    ask: Ask
    seams: Seams
    policy: Policy
    screening: TurnScreening = field(default_factory=TurnScreening)
    turn_id: str = ""
    on_stage: OnStage | None = None
    understood: str = ""
    marker: str = field(default_factory=new_marker)

    access: Access | None = None
    held: frozenset[str] | None = None
    history: tuple[Turn, ...] = ()
    query: Query = field(default_factory=lambda: Query(""))
    found: FoundEvidence = field(default_factory=FoundEvidence)
    clarification: Clarification | None = None
    internal: tuple[InternalNote, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    prompt: Prompt | None = None
    unknown: str = ""
    about: str = ""
    regeneration: Regeneration | None = None
    rejected_drafts: tuple[str, ...] = ()

    current: str = ""
    stages: list[tuple[str, float]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    screenings: list[tuple[str, Screening]] = field(default_factory=list)

    async def stage(self, name: str, work: Awaitable[T]) -> T:
        """Announce a stage, await its work, keep its time also when it fails."""
        self.current = name
        if self.on_stage is not None:
            await self.on_stage(Stage(name, LABELS[name]))
        began = time.perf_counter()
        try:
            with observed(StageRun(name)):
                return await work
        finally:
            self.stages.append((name, round((time.perf_counter() - began) * 1000, 2)))

    def note(self, *texts: str | None) -> None:
        """Keep a remark once."""
        self.notes += [text for text in dict.fromkeys(texts) if text and text not in self.notes]

    def begin_again(self, query: Query) -> None:
        """Take another query; what came of the one before is gone, but for what the record tells of it."""
        self.query, self.found, self.evidence, self.prompt = query, FoundEvidence(), (), None
        self.unknown, self.clarification, self.internal = "", None, ()

    @property
    def asked(self) -> str:
        """What the reply answers."""
        return self.about or self.ask.question

    @property
    def language(self) -> str:
        """What notices are written in: the question's language, else that of the person's own program, else English."""
        return language_for(self.ask.question, self.ask.locale, spoken(self.history))

    @property
    def stopped(self) -> bool:
        """Whether the person who waits has stopped the turn."""
        return self.ask.stop is not None and self.ask.stop.pressed

    def close_screening(self) -> None:
        """Take over the notes and blocked prompts of the wrappers around models and searches, behind those of the stages. Called once, at the turn's end."""
        self.note(*self.screening.notes)
        self.screenings += self.screening.blocked

    @property
    def judgements(self) -> tuple[Judgement, ...]:
        """What a judge said of claims in doubt."""
        return tuple(self.screening.judgements)

    @property
    def calls(self) -> tuple[ModelCall, ...]:
        """Calls of models, as the turn's account has them."""
        return tuple(self.screening.account.calls)

    @property
    def before(self) -> tuple[Turn, ...]:
        """What was said before the question, and last what is known of the case beside it, also by a file: a question that leans on that means it."""
        known = self.ask.context
        return (*self.history, *([Turn("customer", known)] if known and known.strip() else []))

    @property
    def said(self) -> tuple[str, ...]:
        """All that the customer's side says and that is known of the case, as the screen left it."""
        return (self.ask.question, *(t.text for t in self.history), *([self.ask.context] if self.ask.context else []))

    def timings(self) -> dict[str, float]:
        """Milliseconds by stage, repeated stages added, and their total."""
        out: dict[str, float] = {}
        for name, ms in self.stages:
            out[name] = round(out.get(name, 0.0) + ms, 2)
        out["total"] = round(sum(out.values()), 2)
        return out
