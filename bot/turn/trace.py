"""What happened in a turn, as it happens: stages with their times, screenings, notes. Becomes the ledger's entry."""

from __future__ import annotations

import time
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import TypeVar

from bot.records import Code, OnStage, Stage
from grounding.observe import StageRun, observed
from rai.account import ModelCall
from rai.judgement import Judgement
from rai.records import Screening

T = TypeVar("T")

LABELS = {
    "access": "Checking what you may read",
    "screen": "Screening the question",
    "query": "Reading the conversation",
    "retrieve": "Searching the knowledge base",
    "grade": "Grading the passages",
    "rewrite": "Asking in other words",
    "hyde": "Imagining an answer to search for",
    "web": "Searching trusted web sites",
    "plan": "Planning further searches",
    "act": "Taking a step of the plan",
    "evaluate": "Looking at what was found",
    "prompt": "Building the prompt",
    "compose": "Drafting the answer",
    "check": "Checking every value against its source",
    "record": "Writing the record",
}
CODES: dict[str, Code] = {
    "screen": "screen_unavailable",
    "query": "search_unavailable",
    "retrieve": "search_unavailable",
    "act": "search_unavailable",
    "compose": "model_unavailable",
    "record": "ledger_unavailable",
}


@dataclass(slots=True)
class Trace:
    """Collects; the only mutable thing in a turn."""

    on_stage: OnStage | None = None
    turn_id: str = ""
    current: str = ""
    stages: list[tuple[str, float]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    screenings: list[tuple[str, Screening]] = field(default_factory=list)
    judgements: list[Judgement] = field(default_factory=list)
    calls: list[ModelCall] = field(default_factory=list)

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
        for text in texts:
            if text and text not in self.notes:
                self.notes.append(text)

    def timings(self) -> dict[str, float]:
        """Milliseconds by stage, repeated stages added, and their total."""
        out: dict[str, float] = {}
        for name, ms in self.stages:
            out[name] = round(out.get(name, 0.0) + ms, 2)
        out["total"] = round(sum(out.values()), 2)
        return out
