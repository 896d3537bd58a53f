"""A whole turn for scenario tests: real engine, screen, check and ledger; model, grader and web as each scenario scripts them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from bot.compose.services import model_grader
from bot.turn.seams import Seams
from grounding.embedded.composer import ExtractiveComposer
from grounding.embedded.directory import FileDirectory
from grounding.embedded.grader import EmbeddedGrader
from grounding.embedded.store_names import StoreNames
from grounding.embedded.summarizer import CentralitySummarizer
from grounding.grading.features import binary_of, label_of
from grounding.grading.prompt import own_texts as grading_texts
from grounding.policy import Policy
from grounding.ports import ChatModel, Composer, Embedder, Grader, WebSearch
from grounding.prompting.model_composer import ModelComposer
from grounding.prompting.prompt import own_texts
from grounding.query.linking import QueryBuilder
from grounding.records import Document, Grade, Grading, Passage, WebResult
from rai.check.provenance import CheckPolicy, CheckPorts, check
from rai.embedded.relevance import EmbeddedRelevance
from rai.embedded.screen import EmbeddedScreen
from rai.ledger.store import SqlLedger
from rai.personal.redact import Redactor
from rai.records import Report, Source
from rai.screening.decision import RememberingScreen
from rai.screening.model import ScreenedModel
from rai.screening.retriever import ScreenedRetriever
from rai.screening.web import ScreenedWeb
from tests.grounding.embedded.kb import open_kb, retriever_of


class ScriptedGrader:
    """A grader whose scores are written down by document, as a model would state them; `extracts` by document too."""

    name = "scripted"

    def __init__(self, scores: Mapping[str, float], extracts: Mapping[str, str] | None = None) -> None:
        self._scores, self._extracts = scores, extracts or {}
        self.asked = 0

    async def grade(self, question: str, passages: Sequence[Passage]) -> Grading:
        """The scripted score of each passage, 0 for those that are not named."""
        self.asked += 1
        scores = [self._scores.get(p.doc_id, 0.0) for p in passages]
        grades = [
            Grade(p.chunk_id, s, label_of(s), binary_of(s), None, "scripted")
            for p, s in zip(passages, scores, strict=True)
        ]
        return Grading("graded", tuple(grades))


class ScriptedWeb:
    """A web search that returns what was written down, and remembers what it was asked."""

    name = "scripted"

    def __init__(self, *results: WebResult) -> None:
        self._results = results
        self.queries: list[str] = []

    async def search(self, query: str, k: int) -> tuple[WebResult, ...]:
        """The first `k` of the script."""
        self.queries.append(query)
        return self._results[:k]


@dataclass(frozen=True, slots=True)
class World:
    """The seams of a scenario and the ledger behind them."""

    seams: Seams
    ledger: SqlLedger


async def world(
    folder: Path,
    documents: Sequence[Document],
    embedder: Embedder,
    *,
    model: ChatModel | None = None,
    grader: Grader | None = None,
    web: WebSearch | None = None,
    composer: Composer | None = None,
    deadline_s: float = 30.0,
) -> World:
    """Wire a turn as `bot.compose.system` does, with the given parts in place of services."""
    screen = RememberingScreen(EmbeddedScreen())
    index = await open_kb(folder / "index", documents, embedder)
    ledger = SqlLedger(folder / "ledger.db", folder / "config" / "ledger.key")
    ports = CheckPorts(scorer=EmbeddedRelevance(embedder))
    users = folder / "directory.yaml"
    users.write_text("users:\n  bella: [billing]\n", "utf-8")

    async def run_check(
        answer: str, sources: Sequence[Source], question: str | None, given: Sequence[str], at: datetime | None
    ) -> Report:
        return await check(answer, sources, question, given=given, ports=ports, policy=CheckPolicy(), at=at)

    written = ModelComposer(ScreenedModel(model, screen)) if model else ExtractiveComposer(None)
    seams = Seams(
        screen=screen,
        queries=QueryBuilder(CentralitySummarizer(embedder), StoreNames(index.store, index.words)),
        retriever=ScreenedRetriever(retriever_of(index, embedder), screen),
        grader=grader or EmbeddedGrader(embedder),
        web=ScreenedWeb(web, screen, Redactor()) if web else None,
        composer=composer or written,
        directory=FileDirectory(users),
        check=run_check,
        ledger=ledger,
        company="Halden",
        library=index,
        deadline_s=deadline_s,
    )
    return World(seams, ledger)


def under(seams: Seams, policy: Policy, model: ChatModel, web: WebSearch | None = None) -> Seams:
    """The seams as `bot.compose.system` hands them out under `policy` when one model makes queries, grades, plans, drafts and revises."""
    screened = ScreenedModel(model, seams.screen, trusted=[*own_texts(seams.company), *grading_texts()])
    composer = ModelComposer(screened)
    return replace(
        seams,
        grader=seams.grader if policy.style == "none" else model_grader(screened, policy, seams.grader),
        rewriter=screened,
        composer=composer,
        reviser=composer,
        web=ScreenedWeb(web, seams.screen, Redactor()) if web else None,
    )
