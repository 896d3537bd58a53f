"""Turns of every outcome: the words of a question choose it."""

from __future__ import annotations

import asyncio

from bot.records import Ask, OnStage, Reply, Stage
from grounding.errors import ServiceUnavailable
from grounding.records import Passage
from tests.fakes.ledger import FakeLedger
from tests.fakes.outcomes import (
    answered,
    asks_back,
    blocked,
    failed,
    from_web,
    hostile,
    insufficient,
    repaired,
    withheld,
)
from tests.fakes.replies import told
from tests.fakes.turn_body import turn_body

STAGES = (
    ("screen", "Screening the question"),
    ("retrieve", "Searching the knowledge base"),
    ("grade", "Grading the passages"),
    ("compose", "Drafting the answer"),
    ("check", "Checking every value against its source"),
)


class FakeTurns:
    """Answers by the words of the question. `pause` slows each stage; a turn about "forever" never ends by itself."""

    def __init__(self, ledger: FakeLedger, pause: float = 0.0) -> None:
        self._ledger, self.pause = ledger, pause
        self.asks: list[Ask] = []
        self.finished = 0
        self.begun = asyncio.Event()
        self.cancelled = asyncio.Event()

    async def answer(self, ask: Ask, on_stage: OnStage | None) -> Reply:
        self.asks.append(ask)
        self.begun.set()
        try:
            for name, label in STAGES:
                if on_stage is not None:
                    await on_stage(Stage(name, label))
                await asyncio.sleep(3600 if "forever" in ask.question else self.pause)
            if "explode" in ask.question:
                raise RuntimeError(f"secret words of {ask.user}: {ask.question}")
            if "outage" in ask.question:
                raise ServiceUnavailable("search", "connection refused")
            reply, passages = self._reply(ask.question.lower())
            reply = await self._record(ask, reply, passages)
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        self.finished += 1
        return reply

    def _reply(self, question: str) -> tuple[Reply, tuple[Passage, ...]]:
        makers = {
            "repair": repaired,
            "withhold": withheld,
            "ignore your instructions": blocked,
            "broken": failed,
            "weather": insufficient,
            "hostile": hostile,
            "flat white": from_web,
            "this plan": asks_back,
        }
        return next((make() for word, make in makers.items() if word in question), answered())

    async def _record(self, ask: Ask, reply: Reply, passages: tuple[Passage, ...]) -> Reply:
        timings = {name: 12.5 * (i + 1) for i, (name, _) in enumerate(STAGES)}
        mode = {"generator": "extractive", "grader": "lexical+semantic", "search": "hybrid", "screen": "rules"}
        # the id is known before the body is written, as in the real ledger the reply is stored with it
        entry_id = f"e{len(self._ledger.kept) + 1:05d}x7q"
        reply = told(reply, timings_ms=timings, mode=mode, entry_id=entry_id, kb_version="kb-7f3a", query=ask.question)
        await self._ledger.append("turn", turn_body(ask, reply, passages))
        return reply
