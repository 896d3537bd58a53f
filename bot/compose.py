"""Settings to seams: with `bot.compose_remote`, its part for services, the only module that names implementations. It imports
each one where it is built, so that a start pays only for what is switched on.

Order matters for safety: whatever reaches a model or the web is wrapped by the screen here, and what was wrapped is not
kept anywhere else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, partial

from bot.compose_parts import NAMES, VERDICTS, embedded_screen, embedding_model
from bot.compose_remote import Close, chat_model, model_grader, prompt_screen, tagger, web_search
from bot.pipeline import answer_turn
from bot.records import Ask, OnStage, Reply
from bot.settings import Settings
from bot.system import CheckRequest, System
from bot.turn import Seams
from grounding.linking import QueryBuilder
from grounding.policy import Policy
from grounding.policy_files import policy_named
from grounding.ports import ChatModel, Composer, Embedder, Grader
from rai.claims import units
from rai.judge import ModelJudge
from rai.ports import PromptScreen
from rai.provenance import CheckPolicy, CheckPorts, check
from rai.records import Report, Source
from rai.redact import Redactor
from rai.screened import Earlier, RememberingScreen, ScreenedRetriever


async def compose(settings: Settings) -> System:
    """Everything that `settings` switch on, ready to use. The caller closes it.

    Raises SettingsError for settings that cannot work, StoreError for an index or ledger that cannot be opened.
    """
    return await _Builder(settings, [], Redactor(settings.phone_regions)).system()


@dataclass(slots=True)
class _Builder:
    """Builds one system; `closers` are run in reverse order when it is closed."""

    settings: Settings
    closers: list[Close]
    redactor: Redactor

    async def system(self) -> System:
        from grounding.embedded.directory import FileDirectory
        from grounding.embedded.grader import EmbeddedGrader
        from grounding.embedded.hypotheticals import indexes
        from grounding.embedded.index import EmbeddedIndex
        from grounding.embedded.names import StoreNames
        from grounding.embedded.retriever import EmbeddedRetriever
        from grounding.embedded.summarizer import CentralitySummarizer
        from grounding.embedded.vectors import VectorIndex
        from rai.embedded.name_file import FollowedLibrary, NameFile
        from rai.embedded.relevance import EmbeddedRelevance
        from rai.ledger.store import SqlLedger

        settings = self.settings
        embedder = await asyncio.to_thread(embedding_model, settings)
        index = await asyncio.to_thread(EmbeddedIndex, settings.home / "index", embedder)
        self._closes(index.close)
        await asyncio.to_thread(index.finish)
        names = NameFile(settings.home / "index" / NAMES)
        if not names.exists:
            await names.follow(index)
        screen, earlier = await self._screen()
        linker = StoreNames(index.store, index.words)
        vectors = VectorIndex(index.store, embedder.fingerprint, 384) if embedder else None
        imagined = indexes(index.store, embedder.fingerprint) if embedder and settings.hyde == "model" else ()
        search = EmbeddedRetriever(index.store, index.words, vectors, embedder, linker, hypotheticals=imagined)
        ledger = await asyncio.to_thread(
            partial(SqlLedger, settings.home / "ledger.db", settings.ledger_key_file, redact=self.redactor.redact_entry)
        )
        self.closers.append(ledger.close)
        model = self._model(screen)
        ports = CheckPorts(
            tagger=tagger(settings, names.current, self.redactor, self.closers),
            scorer=EmbeddedRelevance(embedder),
            judge=ModelJudge(model) if settings.statement_judge == "model" and model else None,
        )
        default = settings.policies[settings.policy]
        grader = EmbeddedGrader(embedder)
        composer = self._composer(embedder, model)
        checker = _checker(settings, default, ports)
        seams = Seams(
            screen=screen,
            queries=QueryBuilder(CentralitySummarizer(embedder), linker),
            retriever=ScreenedRetriever(search, screen, earlier=earlier),
            grader=grader,
            web=web_search(settings, screen, self.redactor, self.closers),
            composer=composer,
            reviser=composer if settings.generator == "openai" else None,
            directory=FileDirectory(settings.directory_path),
            check=checker,
            ledger=ledger,
            company=settings.company,
            deadline_s=settings.turn_deadline_s,
            rewriter=model if settings.rewriter == "model" else None,
        )

        graders: dict[str, Grader] = {}

        def grader_of(policy: Policy) -> Grader:
            if settings.grader == "embedded" or model is None or policy.style == "none":
                return grader
            return graders.setdefault(policy.name, model_grader(model, policy, grader))

        @cache
        def seams_of(name: str) -> tuple[Seams, Policy]:
            policy = policy_named(name, settings.policies)
            return replace(seams, grader=grader_of(policy), check=_checker(settings, policy, ports)), policy

        async def answer(ask: Ask, on_stage: OnStage | None = None) -> Reply:
            return await answer_turn(ask, *seams_of(ask.policy), on_stage)

        async def check_request(request: CheckRequest) -> Report:
            return await checker(request.answer, request.sources, request.question, request.given, request.at)

        return System(
            settings=settings, answer=answer, check=check_request, queries=seams.queries, embedder=embedder, retriever=seams.retriever,
            grader=grader_of(default), graders=grader_of, screen=screen, library=FollowedLibrary(index, names), directory=seams.directory, ledger=ledger, ready=partial(_ready, index.counts), close=self._close,
            warm=partial(_warm, self.redactor), recall=vectors.followed_recall if vectors else lambda: None,
        )  # fmt: skip

    async def _screen(self) -> tuple[PromptScreen, Earlier]:
        """The screen of every text, and what it said of passages at ingest; a stronger screen judges passages itself."""
        from rai.embedded.verdict_file import VerdictFile

        first = await asyncio.to_thread(embedded_screen, self.settings)
        screen = RememberingScreen(prompt_screen(self.settings, first, self.closers))
        if self.settings.screen != "embedded":
            return screen, lambda _keys: {}
        return screen, VerdictFile(self.settings.home / "index" / VERDICTS, first.version).known

    def _closes(self, closer: Callable[[], None]) -> None:
        async def close() -> None:
            await asyncio.to_thread(closer)

        self.closers.append(close)

    async def _close(self) -> None:
        while self.closers:
            await self.closers.pop()()

    def _model(self, screen: PromptScreen) -> ChatModel | None:
        """The chat model, one for all that use it; None if nobody does."""
        s = self.settings
        used = s.generator == "openai" or "model" in (s.grader, s.rewriter, s.statement_judge)
        return chat_model(s, screen, self.redactor, self.closers) if used else None

    def _composer(self, embedder: Embedder | None, model: ChatModel | None) -> Composer:
        from grounding.embedded.composer import ExtractiveComposer

        if self.settings.generator == "openai" and model is not None:
            from grounding.compose_model import ModelComposer

            return ModelComposer(model)
        extractive = ExtractiveComposer(embedder)
        if self.settings.generator == "demo":
            from grounding.embedded.demo import DemoComposer

            return DemoComposer(extractive)
        return extractive


async def _ready(counts: Callable[[], tuple[int, int]]) -> dict[str, str]:
    """What is not ready, with the reason."""
    documents, _ = await asyncio.to_thread(counts)
    return {} if documents else {"knowledge base": "empty; run `attest ingest PATH` or `attest ingest --sample`"}


def _warm(redactor: Redactor) -> None:
    """Load in the background what the first turn would wait for."""
    redactor.warm()
    units.warm()


def _checker(settings: Settings, policy: Policy, ports: CheckPorts) -> Callable[..., Awaitable[Report]]:
    """The check under the thresholds of `policy`."""
    rules = CheckPolicy(
        unsupported_at=policy.unsupported_at, relevance_at=policy.relevance_at, regions=settings.phone_regions
    )

    async def run(
        answer: str, sources: Sequence[Source], question: str | None, given: Sequence[str], at: datetime | None = None
    ) -> Report:
        return await check(answer, sources, question, given=given, ports=ports, policy=rules, at=at)

    return run
