"""Settings to seams: with `bot.compose_remote`, its part for services, the only module that names implementations. It imports
each one where it is built, so that a start pays only for what is switched on.

Order matters for safety: whatever reaches a model or the web is wrapped by the screen here, and what was wrapped is not
kept anywhere else.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from bot.compose_remote import Close, chat_model, imaginer, prompt_screen, tagger, web_search
from bot.pipeline import answer_turn
from bot.records import Ask, OnStage, Reply
from bot.settings import Settings
from bot.system import CheckRequest, System
from bot.turn import Seams
from grounding.errors import InputError, SettingsError, StoreError
from grounding.linking import QueryBuilder
from grounding.policy import Policy
from grounding.policy_files import policy_named
from grounding.ports import Composer, Embedder
from grounding.records import IngestReport, Progress
from grounding.upkeep import OnChange, Past
from rai.claims import units
from rai.judge import ModelJudge
from rai.off_policy import OffPolicy
from rai.ports import EntityTagger, Ledger, LocalScreen, PromptScreen, StatementJudge
from rai.provenance import CheckPolicy, CheckPorts, check
from rai.records import Report, Source
from rai.redact import Redactor
from rai.screened import Earlier, RememberingScreen, ScreenedRetriever

LOG = logging.getLogger("attest")
NAMES = "names.db"
VERDICTS = "screen.db"


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
        from rai.ledger.store import SqlLedger

        settings = self.settings
        embedder = await asyncio.to_thread(_embedder, settings)
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
        checker = _checker(
            settings, embedder, tagger(settings, names.current, self.redactor, self.closers), self._judge(screen)
        )
        composer = self._composer(embedder, screen)
        seams = Seams(
            screen=screen,
            queries=QueryBuilder(CentralitySummarizer(embedder), linker),
            retriever=ScreenedRetriever(search, screen, earlier=earlier),
            grader=EmbeddedGrader(embedder),
            web=web_search(settings, screen, self.redactor, self.closers),
            composer=composer,
            reviser=composer if settings.generator == "openai" else None,
            directory=FileDirectory(settings.directory_path),
            check=checker,
            ledger=ledger,
            company=settings.company,
            deadline_s=settings.turn_deadline_s,
        )

        async def answer(ask: Ask, on_stage: OnStage | None = None) -> Reply:
            return await answer_turn(ask, seams, policy_named(ask.policy, settings.policies), on_stage)

        async def check_request(request: CheckRequest) -> Report:
            return await checker(request.answer, request.sources, request.question, request.given, request.at)

        return System(
            settings=settings, answer=answer, check=check_request, queries=seams.queries, embedder=embedder, retriever=seams.retriever,
            grader=seams.grader, screen=screen, library=FollowedLibrary(index, names), directory=seams.directory, ledger=ledger, ready=partial(_ready, index.counts), close=self._close,
            warm=partial(_warm, self.redactor), recall=vectors.followed_recall if vectors else lambda: None,
        )  # fmt: skip

    async def _screen(self) -> tuple[PromptScreen, Earlier]:
        """The screen of every text, and what it said of passages at ingest; a stronger screen judges passages itself."""
        from rai.embedded.verdict_file import VerdictFile

        first = await asyncio.to_thread(_first_screen, self.settings)
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

    def _composer(self, embedder: Embedder | None, screen: PromptScreen) -> Composer:
        from grounding.embedded.composer import ExtractiveComposer

        if self.settings.generator == "openai":
            from grounding.compose_model import ModelComposer

            return ModelComposer(chat_model(self.settings, screen, self.redactor, self.closers))
        extractive = ExtractiveComposer(embedder)
        if self.settings.generator == "demo":
            from grounding.embedded.demo import DemoComposer

            return DemoComposer(extractive)
        return extractive

    def _judge(self, screen: PromptScreen) -> StatementJudge | None:
        if self.settings.statement_judge == "off":
            return None
        return ModelJudge(chat_model(self.settings, screen, self.redactor, self.closers))


async def _ready(counts: Callable[[], tuple[int, int]]) -> dict[str, str]:
    """What is not ready, with the reason."""
    documents, _ = await asyncio.to_thread(counts)
    return {} if documents else {"knowledge base": "empty; run `attest ingest PATH` or `attest ingest --sample`"}


def _embedder(settings: Settings) -> Embedder | None:
    """The embedding model, or None with one clear line: search then goes by words only."""
    path = settings.model_path
    if not path.exists():
        LOG.warning(
            "no models at %s: search goes by words only, prompts are screened by rules alone; `make setup` builds them",
            path,
        )
        return None
    from grounding.embedded.embedder import MiniLM

    try:
        return MiniLM(path)
    except StoreError as error:
        LOG.warning("%s; search goes by words only", error)
        return None


def _first_screen(settings: Settings) -> LocalScreen:
    """The embedded screen; without its classifier by rules alone, said in one clear line. Raises SettingsError for a wrong list of subjects."""
    from rai.embedded.classifier import Classifier
    from rai.embedded.screen import EmbeddedScreen

    path = settings.screen_model_path
    classifier = None
    if path.exists():
        try:
            classifier = Classifier(path)
        except StoreError as error:
            LOG.warning("%s; prompts are screened by rules alone", error)
    elif settings.model_path.exists():  # without either, the embedder has said so
        LOG.warning("no classifier at %s: prompts are screened by rules alone; `make setup` builds it", path)
    try:
        return EmbeddedScreen(classifier, OffPolicy(settings.off_policy_path))
    except InputError as error:
        raise SettingsError(str(error)) from None


def _warm(redactor: Redactor) -> None:
    """Load in the background what the first turn would wait for."""
    redactor.warm()
    units.warm()


def _checker(
    settings: Settings, embedder: Embedder | None, names: EntityTagger, judge: StatementJudge | None
) -> Callable[..., Awaitable[Report]]:
    from rai.embedded.relevance import EmbeddedRelevance

    policy: Policy = policy_named(settings.policy, settings.policies)
    rules = CheckPolicy(
        unsupported_at=policy.unsupported_at, relevance_at=policy.relevance_at, regions=settings.phone_regions
    )
    ports = CheckPorts(tagger=names, scorer=EmbeddedRelevance(embedder), judge=judge)

    async def run(
        answer: str,
        sources: Sequence[Source],
        question: str | None,
        given: Sequence[str],
        at: datetime | None = None,
    ) -> Report:
        return await check(answer, sources, question, given=given, ports=ports, policy=rules, at=at)

    return run


async def is_taken_in(settings: Settings, paths: Sequence[Path]) -> bool:
    """True if an ingest of `paths` would find nothing to do; costs neither model nor readers. Raises InputError, StoreError."""
    from grounding.embedded.index import EmbeddedIndex
    from grounding.sources import find

    def compare() -> bool:
        index = EmbeddedIndex(settings.home / "index", None)
        try:
            known = {doc_id: stamp[:2] for doc_id, stamp in index.stamps().items()}
            there = {item.doc_id: (item.root, item.stamp) for item in find(paths)}
            pulled = index.pulled()
            missing = [d for d, stamp in there.items() if known.get(d) != stamp and pulled.get(d, ("",))[0] != stamp[1]]
            roots = {root for root, _ in there.values()}
            gone = [d for d, (root, _) in known.items() if root in roots and d not in there]
            return bool(there) and not (missing or gone or index.store.unindexed() or index.store.bare())
        finally:
            index.close()

    return await asyncio.to_thread(compare)


@dataclass(frozen=True, slots=True)
class Ingester:
    """Takes documents in. One at a time on a knowledge base; servers read meanwhile.

    What changed is written into the ledger. `vectors` is False if there is no embedding model: search then goes by words.
    """

    ingest: Callable[..., Awaitable[IngestReport]]
    rebuild: Callable[[Callable[[Progress], None]], Awaitable[None]]
    bring_back: Callable[[str], Awaitable[bool]]
    ledger: Ledger
    close: Close
    vectors: bool

    async def restore(self, doc_id: str) -> bool:
        """Bring a removed document back; False if there is none. Raises StoreError."""
        found = await self.bring_back(doc_id)
        if found:
            await self.ledger.append("restore", {"doc_id": doc_id})
        return found

    async def run(
        self,
        paths: Sequence[Path],
        *,
        acl: Path | None,
        lexical_only: bool,
        on_progress: Callable[[Progress], None],
        on_change: OnChange = lambda _kind, _doc_id: None,
    ) -> IngestReport:
        """Make the knowledge base hold what stands under `paths`. Raises InputError or StoreError."""
        report = await self.ingest(
            paths, acl=acl, lexical_only=lexical_only, on_progress=on_progress, on_change=on_change
        )
        if await self._is_news(report.kb_version):
            await self.ledger.append("ingest", {"paths": [path.name for path in paths], **asdict(report)})
        return report

    async def _is_news(self, kb_version: str) -> bool:
        """True unless the newest record of a change names this state: what a killed run took in is recorded by the next."""
        state = kb_version.split("-g", maxsplit=1)[0]
        async for entry in self.ledger.entries(newest_first=True):
            if entry.kind == "ingest":
                return str(entry.body.get("kb_version", "")).split("-g")[0] != state
            if entry.kind in ("remove", "restore"):
                return True
        return True


async def open_ingester(settings: Settings) -> Ingester:
    """An ingester over the knowledge base of `settings`. Raises StoreError if it cannot be opened."""
    from grounding.embedded.index import EmbeddedIndex
    from grounding.ingest import ingest, rebuild, restore
    from rai.embedded.name_file import NameFile
    from rai.embedded.verdict_file import VerdictFile
    from rai.ledger.store import SqlLedger

    embedder = await asyncio.to_thread(_embedder, settings)
    index = await asyncio.to_thread(EmbeddedIndex, settings.home / "index", embedder)
    ledger = await asyncio.to_thread(SqlLedger, settings.home / "ledger.db", settings.ledger_key_file)

    closers: list[Close] = []

    async def close() -> None:
        for closer in closers:
            await closer()
        await asyncio.to_thread(index.close)
        await ledger.close()

    names = NameFile(settings.home / "index" / NAMES)
    screen = await asyncio.to_thread(_first_screen, settings)
    verdicts = VerdictFile(settings.home / "index" / VERDICTS, screen.version)
    imagine = imaginer(settings, index.store, embedder, screen, closers)
    sizes = (settings.chunk_min_tokens, settings.chunk_max_tokens)

    async def ingest_and_learn(paths: Sequence[Path], **options: Any) -> IngestReport:
        report = await ingest(index, paths, chunk_tokens=sizes, **options)
        await names.follow(index)
        if not options[
            "lexical_only"
        ]:  # whoever has no time for vectors has none for this: passages are judged when found
            await verdicts.follow(index, index.store, screen, options["on_progress"])
            await imagine(options["on_progress"])
        return report

    async def rebuild_all(on_progress: Callable[[Progress], None]) -> None:
        await rebuild(index, on_progress)
        await names.learn_anew(index)
        await verdicts.follow(index, index.store, screen, on_progress)
        await imagine(on_progress)

    async def restore_and_learn(doc_id: str) -> bool:
        found = await restore(index, doc_id, chunk_tokens=sizes)
        if found:
            await names.follow(index)
        return found

    return Ingester(ingest_and_learn, rebuild_all, restore_and_learn, ledger, close, embedder is not None)


def open_past(settings: Settings) -> Past:
    """The past of the knowledge base of `settings`; needs neither model nor ledger."""
    from grounding.embedded.past import StorePast

    return StorePast(settings.home / "index" / "store.db")
