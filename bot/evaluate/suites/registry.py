"""The suites of `attest eval` by name: what runs each, and the files that it needs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from bot.evaluate.bench import Bench
from bot.evaluate.results import SuiteResult
from bot.evaluate.suites.answers import answers
from bot.evaluate.suites.golden import golden
from bot.evaluate.suites.planted import PATTERNS, planted
from bot.evaluate.suites.provenance.suite import provenance
from bot.evaluate.suites.query import query
from bot.evaluate.suites.retrieval.question_sets import OWN_QUESTIONS
from bot.evaluate.suites.retrieval.suite import retrieval
from bot.evaluate.suites.screening import injection, screen
from bot.evaluate.suites.turns.suite import TURNS, turns


async def _golden(bench: Bench) -> SuiteResult:
    return await golden(bench, bench.data / "golden.jsonl")


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite: what runs it, and the files of which it needs one at least, as patterns within the data folder."""

    run: Callable[[Bench], Awaitable[SuiteResult]]
    patterns: tuple[str, ...]

    @property
    def needs(self) -> str:
        """The patterns, for a message."""
        return " or ".join(self.patterns)

    def has_data(self, data: Path) -> bool:
        """True if the folder has a file that one of the patterns names."""
        return any(any(data.glob(pattern)) for pattern in self.patterns)


SUITES: dict[str, Suite] = {
    "provenance": Suite(provenance, ("provenance/*.jsonl",)),
    "answers": Suite(answers, ("answers/*.jsonl",)),
    "turns": Suite(turns, (TURNS, f"*/{TURNS}")),
    "retrieval": Suite(retrieval, ("retrieval/*/queries.jsonl", OWN_QUESTIONS)),
    "query": Suite(query, ("query/*.jsonl",)),
    "screen": Suite(screen, ("screen/*.jsonl",)),
    "injection": Suite(injection, ("injection/*.jsonl", "screen/docs_*.jsonl")),
    "planted": Suite(planted, PATTERNS),
    "golden": Suite(_golden, ("golden.jsonl",)),
}
