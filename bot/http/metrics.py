"""Figures for Prometheus, in a registry of their own. No label carries a person, a question or a document."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import get_args
from weakref import WeakSet

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from bot.records import Answer, Ask, OnStage, Reply
from grounding.observe import (
    BreakerState,
    ChatCall,
    EmbedCall,
    GoneWithout,
    HasState,
    Operation,
    RemoteCall,
    RuleFailed,
    watched_by,
)
from grounding.ports import Library
from rai.account import EMBED, Prices
from rai.records import Outcome

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 45)
TOKENS = {
    "prompt_tokens": "input",
    "cached_tokens": "cached",
    "completion_tokens": "output",
    "reasoning_tokens": "reasoning",
}
KB_SECONDS = 30.0
"""The knowledge base is counted at most this often: a scrape must stay cheap."""

_degraded: ContextVar[set[str] | None] = ContextVar("degraded_seams", default=None)
"""The seams that the current turn went on without."""


class Breakers(Collector):
    """Where the circuit breakers stand, looked up when they are asked for: an open one closes without a call."""

    def __init__(self) -> None:
        self._by_service: dict[str, WeakSet[HasState]] = defaultdict(WeakSet)

    def know(self, service: str, breaker: HasState) -> None:
        """Watch this breaker too; a service may have several."""
        self._by_service[service].add(breaker)

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """One series for each service and state: how many of its breakers stand so."""
        told = "Circuit breakers of a remote service by state; open: it is not called."
        family = GaugeMetricFamily("attest_remote_breakers", told, labels=["service", "state"])
        for service, breakers in sorted(self._by_service.items()):
            states = [breaker.state for breaker in breakers]
            for state in get_args(BreakerState):
                family.add_metric([service, state], states.count(state))
        yield family


class Metrics:
    """All series of this process. One instance per application. `prices` None: the cost of tokens is not counted; `worker`: its name where it is one of several, a label of each."""

    def __init__(self, prices: Prices | None = None, worker: str | None = None) -> None:
        self._prices = prices
        self._worker = worker
        self.registry = CollectorRegistry()
        own = self.registry
        self.turns = Counter("attest_turns", "Turns by how they ended.", ["outcome", "code"], registry=own)
        self.turn_seconds = Histogram("attest_turn_seconds", "Seconds of a whole turn.", buckets=SECONDS, registry=own)
        self.stage_seconds = Histogram(
            "attest_stage_seconds", "Seconds of one stage of a turn.", ["stage"], buckets=SECONDS, registry=own
        )
        self.blocks = Counter("attest_screen_blocks", "Turns that the screen blocked.", registry=own)
        self.deliveries = Counter(
            "attest_deliveries",
            "Replies by what became of them; unrecorded: it could not be written down.",
            ["mark"],
            registry=own,
        )
        self.requests = Counter("attest_http_requests", "HTTP requests.", ["method", "route", "status"], registry=own)
        self.checks = Counter("attest_checks", "Answers checked outside a turn, by verdict.", ["verdict"], registry=own)
        self.documents = Gauge("attest_kb_documents", "Documents in the knowledge base.", registry=own)
        self.chunks = Gauge("attest_kb_chunks", "Chunks in the knowledge base.", registry=own)
        self.ledger_sound = Gauge(
            "attest_ledger_sound",
            "1 while the ledger holds as far as it was verified, 0 from a break on.",
            registry=own,
        )
        self.ledger_sound.set(1)  # nothing is known to be wrong before the first look
        self.ledger_verified = Gauge(
            "attest_ledger_entries_verified", "Entries of the ledger that were verified since the start.", registry=own
        )
        self._checkpoints()
        self._counted_at: float | None = None
        self._services()

    def _checkpoints(self) -> None:
        own = self.registry
        self.checkpoint_ok = Gauge(
            "attest_ledger_checkpoint_ok",
            "1 while checkpoints of the ledger can be published, 0 from a failure on.",
            registry=own,
        )
        self.checkpoint_ok.set(1)  # nothing has failed before the first
        self.checkpoint_entries = Gauge(
            "attest_ledger_checkpoint_entries", "Entries that the newest published checkpoint covers.", registry=own
        )
        self.checkpoint_at = Gauge(
            "attest_ledger_checkpoint_timestamp_seconds",
            "When the newest checkpoint was published, in seconds since 1970; 0 while none is known.",
            registry=own,
        )

    def _services(self) -> None:
        own = self.registry
        self.remote_calls = Counter(
            "attest_remote_calls",
            "Calls of a remote service by how they ended, retries not counted apart.",
            ["service", "outcome"],
            registry=own,
        )
        self.remote_seconds = Histogram(
            "attest_remote_call_seconds",
            "Seconds of one call of a remote service, its waits and retries included.",
            ["service"],
            buckets=SECONDS,
            registry=own,
        )
        self.remote_retries = Counter(
            "attest_remote_retries", "Attempts after the first of a call.", ["service"], registry=own
        )
        self.tokens = Counter(
            "attest_model_tokens",
            "Tokens as the service counts them; cached is a part of input, reasoning of output.",
            ["model", "kind"],
            registry=own,
        )
        self.cost = Counter(
            "attest_model_cost",
            "What the tokens cost at the prices of the settings.",
            ["model", "currency"],
            registry=own,
        )
        self.degraded = Counter(
            "attest_turns_degraded", "Turns that went on without a seam that failed.", ["seam"], registry=own
        )
        self.rules_failed = Counter(
            "attest_rules_failed",
            "Rules that raised and were left out, by the line of the program.",
            ["rule"],
            registry=own,
        )
        self.breakers = Breakers()
        own.register(self.breakers)

    def watch(self, answer: Answer) -> Answer:
        """The same function, counted and timed."""

        async def watched(ask: Ask, on_stage: OnStage | None) -> Reply:
            began = time.perf_counter()
            token = _degraded.set(set())
            try:
                with watched_by(self.operation):
                    reply = await answer(ask, on_stage)
            except Exception:
                self.turns.labels(Outcome.FAILED.value, "exception").inc()
                raise
            finally:
                _degraded.reset(token)
            self.turn_seconds.observe(time.perf_counter() - began)
            self.turns.labels(reply.outcome.value, reply.code or "").inc()
            for stage, milliseconds in reply.record.timings_ms.items():
                if stage != "total":  # the turn's own histogram has it
                    self.stage_seconds.labels(stage).observe(milliseconds / 1000)
            if reply.outcome is Outcome.BLOCKED:
                self.blocks.inc()
            return reply

        return watched

    @contextmanager
    def operation(self, operation: Operation) -> Iterator[None]:
        """The watcher of requests and turns."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self._count(operation, time.perf_counter() - began)

    def _count(self, operation: Operation, seconds: float) -> None:
        match operation:
            case RemoteCall(service=service):
                self.remote_calls.labels(service, operation.outcome).inc()
                self.remote_seconds.labels(service).observe(seconds)
                self.remote_retries.labels(service).inc(max(0, operation.attempts - 1))
                self.breakers.know(service, operation.breaker)
            case ChatCall(model=model, usage=usage) if usage:
                for name, count in usage.items():
                    if name in TOKENS:
                        self.tokens.labels(model, TOKENS[name]).inc(max(0, count))
                self._count_cost(model, usage)
            case EmbedCall(model=model, usage=usage) if usage:
                self.tokens.labels(model, "embedding").inc(usage.get("prompt_tokens", 0))
                self._count_cost(model, usage, EMBED)
            case RuleFailed(rule=rule):
                self.rules_failed.labels(rule).inc()
            case GoneWithout(seam=seam):
                known = _degraded.get()
                if known is not None and seam not in known:
                    known.add(seam)
                    self.degraded.labels(seam).inc()

    def _count_cost(self, model: str, usage: Mapping[str, int], purpose: str = "") -> None:
        if self._prices is not None:
            self.cost.labels(model, self._prices.currency).inc(float(self._prices.cost(usage, purpose)))

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
        return generate_latest(self.registry if self._worker is None else _Labelled(self.registry, self._worker))


class _Labelled(CollectorRegistry):
    """The series of a registry, each with the name of the process: those of several that answer at one address are told apart."""

    def __init__(self, registry: CollectorRegistry, worker: str) -> None:
        super().__init__()
        self._of = registry
        self._worker = worker

    def collect(self) -> Iterable[Metric]:
        for family in self._of.collect():
            family.samples = [
                sample._replace(labels={**sample.labels, "worker": self._worker}) for sample in family.samples
            ]
            yield family
