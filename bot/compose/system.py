"""Builds a system from the settings. The modules of this folder are the only ones that name implementations; they import
each one where it is built, so that a start pays only for what is switched on.

Order matters for safety: whatever reaches a model or the web is wrapped by the screen here, and what was wrapped is not
kept anywhere else.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from bot.compose.checkpoints import publisher
from bot.compose.database import usable_places
from bot.compose.embedder import query_embedder
from bot.compose.parts import DECISIONS, NAMES, VERDICTS, block_reader, embedded_screen, embedding_model, names_over
from bot.compose.privacy import apply_retention
from bot.compose.resources import Resources
from bot.compose.search import ComposedSearch
from bot.compose.search import search as searching
from bot.compose.services import (
    HELPING_SHARE,
    JUDGING_SHARE,
    chat_model,
    directory,
    model_grader,
    personal_finder,
    prompt_screen,
    summarizer,
    tagger,
    thinking_room,
    web_search,
)
from bot.compose.telemetry import Tracing, tracing
from bot.places import Places
from bot.records import Ask, OnStage, Reply, Rerun, Versions
from bot.settings.settings import Settings
from bot.settings.terms import terms
from bot.settings.versions import versions
from bot.system import CheckRequest, System
from bot.turn.pipeline import answer_turn
from bot.turn.rerun import rerun_turn
from bot.turn.seams import Check, Seams
from grounding.bounded.pool import shared_pool
from grounding.errors import InputError, StoreError
from grounding.ingest.notifying_library import NotifyingLibrary
from grounding.policies.files import policy_named
from grounding.policy import Policy
from grounding.ports import BlockReader, ChatModel, Composer, Embedder, Grader
from grounding.query.linking import QueryBuilder
from grounding.store.once import asked_once
from rai.account import Terms
from rai.check.judging.model import ModelJudge
from rai.check.provenance import CheckPolicy, CheckPorts, check, load
from rai.check.verdict import struck_by
from rai.personal.redact import Redactor
from rai.ports import LocalScreen, PromptScreen, StatementJudge
from rai.records import Report, Source
from rai.screening.decision import RememberingScreen
from rai.screening.personal_data import redaction
from rai.screening.quarantine import Quarantine
from rai.screening.retriever import ScreenedRetriever

if TYPE_CHECKING:
    from grounding.embedded.index import EmbeddedIndex
    from grounding.embedded.reader import E5Reader
    from rai.embedded.name_file import NameFile
    from rai.embedded.verdict_file import VerdictFile
    from rai.ledger.store import SqlLedger


async def compose(settings: Settings, *, clock: Callable[[], float] = time.monotonic) -> System:
    """Build all that `settings` switch on, ready to use. The caller closes it. `clock`, in seconds, tells how long a service that failed has
    been left alone.

    Raises SettingsError for settings that cannot work, StoreError for an index or ledger that cannot be opened.
    """
    places = await asyncio.to_thread(usable_places, settings)
    return await _Builder(settings, Resources(clock), Redactor(settings.answering.phone_regions), places).system()


@dataclass(slots=True)
class _Builder:
    """Builds one system; `resources` holds what is closed with it, in reverse order."""

    settings: Settings
    resources: Resources
    redactor: Redactor
    places: Places

    async def system(self) -> System:
        from grounding.embedded.grader import EmbeddedGrader
        from rai.embedded.quarantine import DecisionFile, EmbeddedQuarantine
        from rai.embedded.relevance import EmbeddedRelevance

        settings = self.settings
        traces = tracing(settings, self.resources)
        local = await asyncio.to_thread(embedding_model, settings)
        reader = await asyncio.to_thread(block_reader, settings)
        embedder = query_embedder(settings, local, reader, self.redactor, self.resources)
        own = embedder is local  # else the cosines of found passages are another model's
        index, names = await self._index(embedder)
        screen, first, verdicts = await self._screen()
        model, helper = self._models(screen)
        linker = names_over(index, local)
        search = searching(
            settings,
            index,
            embedder,
            linker,
            library=NotifyingLibrary(index, lambda _removed: names.follow(index)),
            resources=self.resources,
        )
        earlier = verdicts.known if settings.screen.kind == "embedded" else _nothing_known
        decisions = DecisionFile(self.places.in_home(DECISIONS))
        judge = self._judge(screen)
        names_of = tagger(settings, names.current, self.redactor, self.resources)
        ports = CheckPorts(tagger=names_of, scorer=EmbeddedRelevance(local), judge=judge)
        composer = self._composer(model, reader)
        seams = Seams(
            screen=screen,
            queries=QueryBuilder(summarizer(settings, local, self.redactor, self.resources), linker),
            retriever=ScreenedRetriever(search.retriever, screen, earlier=earlier, released=decisions.released),
            grader=EmbeddedGrader(local, own=own),
            web=web_search(settings, screen, self.redactor, self.resources),
            composer=composer,
            reviser=composer if settings.model.generator == "openai" else None,
            quoter=None if settings.model.generator == "extractive" else _quoting(reader),
            personal=personal_finder(settings, names.current, self.redactor, self.resources),
            rewriter=helper if settings.model.rewriter == "model" else None,
            directory=directory(settings, self.resources),
            check=_checker(settings, settings.files.policies[settings.answering.policy], ports),
            ledger=(ledger := await self._ledger()),
            company=settings.answering.company,
            versions=await asyncio.to_thread(_versions, settings, local, first.version, reader),
            deadline_s=settings.bounds.turn_deadline_s,
            run=shared_pool().run,
            regions=settings.answering.phone_regions,
            speller=linker,
            linker=linker,
            library=search.library,
            is_empty=partial(_is_empty, settings, index.counts),
        )
        room = thinking_room(settings, self.resources)
        by_policy = _ByPolicy(settings, seams, ports, helper, lambda: terms(settings, room()))
        quarantine = EmbeddedQuarantine(index, index.store, first, verdicts, decisions)
        return self._assembled(
            seams, by_policy, traces, search, ledger=ledger, quarantine=quarantine, index=index, embedder=embedder
        )

    def _assembled(
        self,
        seams: Seams,
        by_policy: _ByPolicy,
        traces: Tracing,
        search: ComposedSearch,
        *,
        ledger: SqlLedger,
        quarantine: Quarantine,
        index: EmbeddedIndex,
        embedder: Embedder | None,
    ) -> System:
        """The parts as the rest of the program knows them."""
        return System(
            settings=self.settings,
            answer=traces.watch(by_policy.answer),
            incoming=traces.incoming,
            check=by_policy.check_request,
            queries=seams.queries,
            embedder=embedder,
            retriever=seams.retriever,
            grader=seams.grader,
            graders=by_policy.grader,
            rewriter=seams.rewriter,
            screen=seams.screen,
            library=search.library,
            directory=seams.directory,
            ledger=seams.ledger,
            ready=partial(_ready, seams.is_empty, search.ready, ledger.probe, self.resources),
            degraded=lambda: {**self.resources.trouble(needed=False), **search.refused()},
            close=self.resources.close,
            warm=partial(_warm, self.redactor),
            recall=search.vectors.followed_recall if search.vectors else lambda: None,
            chunks_without_vector=index.chunks_without_vector,
            quarantine=quarantine,
            versions=seams.versions,
            rerun=by_policy.rerun,
            recheck=by_policy.recheck,
            look=ledger.look,
            prove=ledger.proven,
            checkpoints=publisher(self.settings, ledger, self.resources),
            retain=partial(apply_retention, self.settings, ledger),
            keep_up=None if self.places.database is None else partial(asyncio.to_thread, index.keep_up),
        )

    async def _index(self, embedder: Embedder | None) -> tuple[EmbeddedIndex, NameFile]:
        from grounding.embedded.index import EmbeddedIndex
        from rai.embedded.name_file import NameFile

        index = await asyncio.to_thread(EmbeddedIndex, self.places.index, embedder, self.places.database)
        self._closes(index.close)
        await asyncio.to_thread(index.finish)
        names = NameFile(self.places.in_index(NAMES))
        if not names.exists:
            await names.follow(index)
        return index, names

    async def _ledger(self) -> SqlLedger:
        from rai.ledger.store import SqlLedger

        s = self.settings
        make = partial(
            SqlLedger,
            self.places.ledger,
            s.files.ledger_key,
            signing_key_file=s.files.signing_key_path,
            redact=redaction(self.redactor),
        )
        ledger = await asyncio.to_thread(make)
        self.resources.append(ledger.close)
        return ledger

    async def _screen(self) -> tuple[PromptScreen, LocalScreen, VerdictFile]:
        """The screen of every text; the embedded one, and what it said of passages at ingest."""
        from rai.embedded.verdict_file import VerdictFile

        first = await embedded_screen(self.settings)
        screen = RememberingScreen(prompt_screen(self.settings, first, self.resources))
        return screen, first, VerdictFile(self.places.in_index(VERDICTS), first.version)

    def _closes(self, closer: Callable[[], None]) -> None:
        async def close() -> None:
            await asyncio.to_thread(closer)

        self.resources.append(close)

    def _models(self, screen: PromptScreen) -> tuple[ChatModel | None, ChatModel | None]:
        """The chat model that drafts, and the one that grades, rewrites and plans; None where nobody does.

        They are told apart so that grades which fail cannot open the breaker on the draft, and leave it its time if none of them comes.
        """
        s = self.settings
        helps = "model" in (s.model.grader, s.model.rewriter)
        make = partial(chat_model, s, screen, self.redactor, self.resources)
        helping = min(s.bounds.call_deadline_s, HELPING_SHARE * s.bounds.turn_deadline_s)
        return make(needed=True) if s.model.generator == "openai" else None, make(within_s=helping) if helps else None

    def _judge(self, screen: PromptScreen) -> StatementJudge | None:
        """The chat model that judges what the check leaves in doubt. Its failures, too, leave the draft alone."""
        s = self.settings
        if not s.judges:
            return None
        within = min(s.bounds.call_deadline_s, JUDGING_SHARE * s.bounds.turn_deadline_s)
        return ModelJudge(
            chat_model(s, screen, self.redactor, self.resources, within_s=within, name=s.model.judge_name)
        )

    def _composer(self, model: ChatModel | None, reader: BlockReader | None) -> Composer:
        if self.settings.model.generator == "openai" and model is not None:
            from grounding.prompting.model_composer import ModelComposer

            return ModelComposer(model)
        extractive = _quoting(reader)
        if self.settings.model.generator == "demo":
            from grounding.embedded.demo import DemoComposer

            return DemoComposer(extractive)
        return extractive


def _versions(settings: Settings, local: Embedder | None, screen: str, reader: E5Reader | None) -> Versions:
    told = ""
    with suppress(OSError):  # a file that nobody may read: the first question says so
        told = reader.fingerprint if reader else ""
    return versions(settings, embedding=local.fingerprint if local else "", screen=screen, reader=told)


def _quoting(reader: BlockReader | None) -> Composer:
    from grounding.embedded.composer import ExtractiveComposer

    return ExtractiveComposer(reader)


class _ByPolicy:
    """The seams of a turn, as its policy wants them: the grader in its style, the check under its thresholds."""

    def __init__(
        self,
        settings: Settings,
        seams: Seams,
        ports: CheckPorts,
        model: ChatModel | None,
        bounds: Callable[[], Terms],
    ) -> None:
        self._settings, self._seams, self._ports = settings, seams, ports
        self._bounds = bounds  # asked for each turn: whether the model thinks is found out on the way
        self._model = model if settings.model.grader == "model" else None
        self._made: dict[str, tuple[Seams, Policy]] = {}
        self._graders: dict[str, Grader] = {}

    async def answer(self, ask: Ask, on_stage: OnStage | None = None) -> Reply:
        """A turn under the policy that it names. Raises InputError for one that is not known."""
        if ask.policy not in self._made:
            policy = policy_named(ask.policy, self._settings.files.policies)
            checker = _checker(self._settings, policy, self._ports)
            self._made[ask.policy] = replace(self._seams, grader=self.grader(policy), check=checker), policy
        seams, policy = self._made[ask.policy]
        with asked_once():
            return await answer_turn(ask, replace(seams, terms=self._bounds()), policy, on_stage)

    def grader(self, policy: Policy) -> Grader:
        """A model in the policy's style where one grades; it is kept, and with it what it remembers."""
        if self._model is None or policy.style == "none":
            return self._seams.grader
        if policy.name not in self._graders:
            self._graders[policy.name] = model_grader(self._model, policy, self._seams.grader)
        return self._graders[policy.name]

    async def rerun(self, wanted: Rerun) -> dict[str, Any]:
        """A recorded turn once more, under the policy of that name as it is now, or the default one where it is gone. Raises UserError."""
        policy = self._still(wanted.ask.policy)
        if wanted.asks_model:
            seams = replace(self._seams, grader=self.grader(policy), check=self._checker(policy), terms=self._bounds())
        else:
            seams = replace(self._seams, rewriter=None, check=self._checker(policy, judged=False), terms=self._bounds())
        drafts = self._settings.model.generator == "openai"
        return await rerun_turn(wanted, seams, policy, drafted=drafts and not wanted.asks_model)

    async def recheck(self, request: CheckRequest, policy: str) -> Report:
        """A recorded answer under the policy of that name, by rules alone."""
        checks = self._checker(self._still(policy), judged=False)
        return await checks(request.answer, request.sources, request.question, request.given, request.at)

    def _still(self, name: str) -> Policy:
        known = self._settings.files.policies
        try:
            return policy_named(name, known)
        except InputError:
            return policy_named(self._settings.answering.policy, known)

    def _checker(self, policy: Policy, *, judged: bool = True) -> Check:
        return _checker(self._settings, policy, self._ports if judged else replace(self._ports, judge=None))

    async def check_request(self, request: CheckRequest) -> Report:
        """The check alone, under the thresholds of the default policy."""
        return await self._seams.check(request.answer, request.sources, request.question, request.given, request.at)


async def _is_empty(settings: Settings, counts: Callable[[], tuple[int, int]]) -> bool:
    """Whether no document is in store, and nobody else puts passages into the index that is searched."""
    return settings.search.others == "off" and (await asyncio.to_thread(counts))[0] == 0


async def _ready(
    is_empty: Callable[[], Awaitable[bool]],
    search: Callable[[], Awaitable[dict[str, str]]],
    record: Callable[[], Awaitable[None]],
    resources: Resources,
) -> dict[str, str]:
    """What is not ready, with the reason."""
    found = {}
    try:
        await record()
    except StoreError as error:
        found["ledger"] = str(error)
    try:
        if await is_empty():
            found["knowledge base"] = "empty; run `attest ingest PATH` or `attest ingest --sample`"
    except StoreError as error:
        found["knowledge base"] = str(error)
    return {**found, **resources.trouble(needed=True), **await search()}


def _warm(redactor: Redactor) -> None:
    """Load in the background what the first turn would wait for."""
    redactor.warm()
    shared_pool().begin(load)


def _nothing_known(_keys: Sequence[str]) -> dict[str, str | None]:
    """A stronger screen judges passages itself."""
    return {}


def _checker(settings: Settings, policy: Policy, ports: CheckPorts) -> Check:
    """The check under the thresholds of `policy`."""
    rules = CheckPolicy(
        unsupported_at=policy.unsupported_at,
        relevance_at=policy.relevance_at,
        regions=settings.answering.phone_regions,
        struck=struck_by(dict(policy.doubt)),
    )

    async def run(
        answer: str, sources: Sequence[Source], question: str | None, given: Sequence[str], at: datetime | None = None
    ) -> Report:
        return await check(
            answer, sources, question, given=given, ports=ports, policy=rules, at=at, run=shared_pool().run
        )

    return run
