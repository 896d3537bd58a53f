"""Finding over parts that are written down: a search by query, a grader by passage, stages that are listed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from typing import TypeVar

from grounding.corrective.find import EvidenceSearch, Finders
from grounding.grading.features import binary_of, label_of
from grounding.policy import Policy
from grounding.ports import ChatModel, Grader, Retriever, WebSearch
from grounding.records import Access, Grade, Grading, Label, Passage, Query, Retrieval, WebResult
from tests.fakes.clock import time_passes

T = TypeVar("T")


def passage(name: str, **fields: object) -> Passage:
    """A passage of a manual whose id, document and text are one name."""
    return Passage(**{"chunk_id": name, "doc_id": f"{name}.md", "title": name, "text": f"All about {name}."} | fields)  # type: ignore[arg-type]  # names of Passage


class ListedRetriever:
    """Finds what is written down for the words of a query, `otherwise` for all others; `asked` is the log of queries and k."""

    name = "listed"

    def __init__(
        self, found: Mapping[str, Sequence[Passage]] | None = None, *, otherwise: Sequence[Passage] = ()
    ) -> None:
        self._found, self._otherwise = dict(found or {}), tuple(otherwise)
        self.asked: list[tuple[Query, int]] = []

    async def retrieve(self, query: Query, access: Access, k: int) -> Retrieval:
        self.asked.append((query, k))
        return Retrieval(tuple(self._found.get(query.text, self._otherwise))[:k], "kb-1")


class ListedGrader:
    """Scores by chunk or document id, 0 for the rest; `asked` is the log of questions and the ids that were graded."""

    name = "listed"

    def __init__(self, scores: Mapping[str, float], *, status: str = "graded") -> None:
        self._scores, self._status = dict(scores), status
        self.asked: list[tuple[str, list[str]]] = []

    async def grade(self, question: str, passages: Sequence[Passage]) -> Grading:
        self.asked.append((question, [p.chunk_id for p in passages]))
        scores = [self._scores.get(p.chunk_id, self._scores.get(p.doc_id, 0.0)) for p in passages]
        grades = tuple(graded(p.chunk_id, s) for p, s in zip(passages, scores, strict=True))
        return Grading("ungraded" if self._status == "ungraded" else "graded", grades)


class Stages:
    """Runs each stage at once and remembers its name."""

    def __init__(self) -> None:
        self.names: list[str] = []

    async def __call__(self, name: str, work: Awaitable[T], /) -> T:
        self.names.append(name)
        return await work


class ListedWeb:
    """Finds the same pages for every query; `asked` is the log of queries and k."""

    name = "listed"

    def __init__(self, *pages: WebResult, error: Exception | None = None) -> None:
        self._pages, self._error = pages, error
        self.asked: list[tuple[str, int]] = []

    async def search(self, query: str, k: int) -> tuple[WebResult, ...]:
        self.asked.append((query, k))
        if self._error is not None:
            raise self._error
        return self._pages[:k]


class Silent:
    """A model, or a grader, that never answers while `passes_s` seconds pass, and remembers whether it was stopped."""

    name = "silent"

    def __init__(self, passes_s: float) -> None:
        self.passes_s = passes_s
        self.asked = 0
        self.stopped = False

    async def complete(self, *_: object, **__: object) -> object:
        self.asked += 1
        time_passes(self.passes_s)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            self.stopped = True
            raise
        raise AssertionError("nobody stopped it")


def graded(chunk_id: str, score: float, label: Label | None = None) -> Grade:
    return Grade(chunk_id, score, label or label_of(score), binary_of(score), None, "written down")


def finding(
    policy: Policy,
    *,
    retriever: Retriever,
    grader: Grader,
    web: WebSearch | None = None,
    model: ChatModel | None = None,
    question: str = "How do I descale it?",
    stages: Stages | None = None,
) -> EvidenceSearch:
    """A finding that has not begun."""
    ports = Finders(retriever, grader, web, model)
    return EvidenceSearch(Query(question), Access(), policy, ports, stages or Stages())
