"""Figures for Prometheus, in a registry of their own. No label carries a person, a question or a document."""

from __future__ import annotations

import time

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from bot.records import Answer, Ask, OnStage, Reply
from grounding.ports import Library
from rai.records import Outcome

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 45)
KB_SECONDS = 30.0
"""The knowledge base is counted at most this often: a scrape must stay cheap."""


class Metrics:
    """All series of this process. One instance per application."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        own = self.registry
        self.turns = Counter("attest_turns", "Turns by how they ended.", ["outcome", "code"], registry=own)
        self.turn_seconds = Histogram("attest_turn_seconds", "Seconds of a whole turn.", buckets=SECONDS, registry=own)
        self.stage_seconds = Histogram(
            "attest_stage_seconds", "Seconds of one stage of a turn.", ["stage"], buckets=SECONDS, registry=own
        )
        self.blocks = Counter("attest_screen_blocks", "Turns that the screen blocked.", registry=own)
        self.requests = Counter("attest_http_requests", "HTTP requests.", ["method", "route", "status"], registry=own)
        self.checks = Counter("attest_checks", "Answers checked outside a turn, by verdict.", ["verdict"], registry=own)
        self.documents = Gauge("attest_kb_documents", "Documents in the knowledge base.", registry=own)
        self.chunks = Gauge("attest_kb_chunks", "Chunks in the knowledge base.", registry=own)
        self._counted_at: float | None = None

    def watch(self, answer: Answer) -> Answer:
        """The same function, counted and timed."""

        async def watched(ask: Ask, on_stage: OnStage | None) -> Reply:
            began = time.perf_counter()
            try:
                reply = await answer(ask, on_stage)
            except Exception:
                self.turns.labels(Outcome.FAILED.value, "exception").inc()
                raise
            self.turn_seconds.observe(time.perf_counter() - began)
            self.turns.labels(reply.outcome.value, reply.code or "").inc()
            for stage, milliseconds in reply.timings_ms.items():
                if stage != "total":  # the turn's own histogram has it
                    self.stage_seconds.labels(stage).observe(milliseconds / 1000)
            if reply.outcome is Outcome.BLOCKED:
                self.blocks.inc()
            return reply

        return watched

    async def count_library(self, library: Library) -> None:
        """Bring the gauges of the knowledge base up to date, if they are old."""
        now = time.monotonic()
        if self._counted_at is not None and now - self._counted_at < KB_SECONDS:
            return
        documents = await library.documents()
        self.documents.set(len(documents))
        self.chunks.set(sum(d.chunks for d in documents))
        self._counted_at = now

    def text(self) -> bytes:
        """Prometheus text exposition format 0.0.4."""
        return generate_latest(self.registry)
