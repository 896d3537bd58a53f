"""A whole `System` in memory, of small ordinary implementations of every seam, and the shop that it belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bot.records import Rerun
from bot.settings.load import load_settings
from bot.system import CheckRequest, System
from grounding.query.linking import QueryBuilder
from grounding.records import Grading, Passage, Query, Turn
from rai.records import Report
from tests.fakes.check import check
from tests.fakes.directory import FakeDirectory
from tests.fakes.ledger import FakeLedger
from tests.fakes.library import FakeLibrary, FakeRetriever
from tests.fakes.outcomes import grade_of
from tests.fakes.screen import FakeScreen
from tests.fakes.shop import ESCALATION, NASTY, PLANS, RETURNS
from tests.fakes.turns import FakeTurns


class FakeSummarizer:
    """The last customer turn is the query."""

    async def summarize(self, turns: Sequence[Turn]) -> Query:
        return Query(next(t.text for t in reversed(turns)))


class FakeGrader:
    """Everything is good."""

    name = "flat"

    async def grade(self, question: str, passages: Sequence[Passage]) -> Grading:
        return Grading("graded", tuple(grade_of(p, 0.86) for p in passages))


@dataclass
class Fake:
    """The system and the parts that a test looks into or breaks."""

    system: System
    library: FakeLibrary
    directory: FakeDirectory
    ledger: FakeLedger
    turns: FakeTurns
    reasons: dict[str, str]


async def _run_again(_wanted: Rerun) -> dict[str, Any]:
    return {"reply": {"outcome": "insufficient", "answer": "Nothing is known of it today."}}


async def _checked_again(_request: CheckRequest, _policy: str) -> Report:
    return Report("supported", 0.0, ())


def fake_system(*, pause: float = 0.0, **overrides: object) -> Fake:
    """A complete system; `overrides` are settings."""
    library = FakeLibrary({d.doc_id: d for d in (RETURNS, PLANS, ESCALATION, NASTY)})
    directory = FakeDirectory({"alice": frozenset({"billing"}), "dave": frozenset()})
    ledger = FakeLedger()
    turns = FakeTurns(ledger, pause)
    reasons: dict[str, str] = {}

    async def ready() -> dict[str, str]:
        return reasons

    async def close() -> None:
        return None

    settings = load_settings(**overrides)
    system = System(
        settings=settings,
        answer=turns.answer,
        check=check,
        queries=QueryBuilder(FakeSummarizer()),
        embedder=None,
        retriever=FakeRetriever(library),
        grader=FakeGrader(),
        screen=FakeScreen(),
        library=library,
        directory=directory,
        ledger=ledger,
        ready=ready,
        close=close,
        look=ledger.look,
        rerun=_run_again,
        recheck=_checked_again,
    )
    return Fake(system, library, directory, ledger, turns, reasons)
