"""Builds an ingester, and what looks at the knowledge base without a system."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bot.compose.database import usable_places
from bot.compose.embedder import embedding_jobs, fingerprint_of, rationed_embedder
from bot.compose.parts import NAMES, VERDICTS, embedded_screen
from bot.compose.planned_run import Shares, is_news, take_part
from bot.compose.resources import Close, Resources
from bot.compose.search import Follow, mirror
from bot.compose.services import imaginer
from bot.events.copies import Rebuilt, record_index, record_rebuild
from bot.operator import operator
from bot.places import Places
from bot.settings.settings import Settings
from grounding.errors import ServiceError
from grounding.ingest.chunk_settings import marked, unmarked
from grounding.ingest.history import History, OnChange
from grounding.ingest.runs import ROOT
from grounding.ports import Embedder
from grounding.records import IngestPlan, IngestReport, OnProgress, plain
from rai.entry_schema import NAME, SCHEMA
from rai.ports import Ledger, PromptScreen

if TYPE_CHECKING:
    from grounding.embedded.index import EmbeddedIndex
    from rai.embedded.name_file import NameFile
    from rai.embedded.verdict_file import VerdictFile
    from rai.ledger.store import SqlLedger


async def is_taken_in(settings: Settings, paths: Sequence[Path]) -> bool:
    """True if an ingest of `paths` would find nothing to do; costs neither model nor readers. Raises InputError, StoreError."""
    from grounding.embedded.index import EmbeddedIndex
    from grounding.ingest.sources import find
    from grounding.store.store_reader import StoreReader

    def compare() -> bool:
        places = usable_places(settings)
        index = EmbeddedIndex(places.index, None, places.database)
        try:
            known = {doc_id: stamp[:2] for doc_id, stamp in index.stamps().items()}
            there = {item.doc_id: (item.root, marked(item.stamp, settings.chunks.chunking)) for item in find(paths)}
            pulled = {doc_id: unmarked(stamp)[0] for doc_id, (stamp, _) in index.pulled().items()}
            missing = [d for d, at in there.items() if known.get(d) != at and pulled.get(d) != unmarked(at[1])[0]]
            roots = {root for root, _ in there.values()}
            gone = [d for d, (root, _) in known.items() if root in roots and d not in there]
            model = fingerprint_of(settings)
            bare = StoreReader(index.store.place).chunks_without_vector(model)[0] if model else 0
            return bool(there) and not (missing or gone or index.store.unindexed() or bare)
        finally:
            index.close()

    return await asyncio.to_thread(compare)


Anew = tuple[Rebuilt, ServiceError | None]
"""What was made anew, and what kept passages without vectors."""


@dataclass(frozen=True, slots=True)
class StoreIngester:
    """Takes documents into the knowledge base and writes what changed into the ledger. Only one at a time can do so; servers read meanwhile.

    `vectors` is False if there is no embedding model: search then goes by words.
    """

    ingest: Callable[..., Awaitable[IngestReport]]
    foresee: Callable[..., Awaitable[IngestPlan]]
    make_anew: Callable[[OnProgress], Awaitable[Anew]]
    bring_back: Callable[[str], Awaitable[bool]]
    share: Callable[..., Awaitable[IngestReport]]
    ledger: Ledger
    close: Close
    vectors: bool

    async def rebuild(self, on_progress: OnProgress) -> None:
        """Make again from the documents in store what is derived from them, and record it. Raises StoreError, and ServiceError if a service
        left passages without vectors.
        """
        made, failed = await self.make_anew(on_progress)
        await record_rebuild(self.ledger, made)
        if failed is not None:
            raise failed

    async def restore(self, doc_id: str) -> bool:
        """Bring a removed document back; False if there is none. Raises StoreError."""
        found = await self.bring_back(doc_id)
        if found:
            await self.ledger.append("restore", {NAME: SCHEMA, "doc_id": doc_id, "actor": plain(operator())})
        return found

    async def run(
        self,
        paths: Sequence[Path],
        *,
        acl: Path | None,
        lexical_only: bool,
        on_progress: OnProgress,
        on_change: OnChange = lambda _kind, _doc_id: None,
    ) -> IngestReport:
        """Make the knowledge base hold what stands under `paths`. Raises InputError or StoreError."""
        report = await self.ingest(
            paths, acl=acl, lexical_only=lexical_only, on_progress=on_progress, on_change=on_change
        )
        if report.rechunked or await is_news(self.ledger, report.kb_version):
            body = {NAME: SCHEMA, "paths": [path.name for path in paths], "actor": plain(operator()), **asdict(report)}
            await self.ledger.append("ingest", body)
        return report

    async def take_part(
        self, root: str, path: Path, *, acl: Path | None, lexical_only: bool, on_progress: OnProgress
    ) -> IngestReport:
        """Take part in the planned run of the root of this name, planned by whoever is first; the report of the whole run, when it is done. Raises InputError, StoreError,
        ServiceError.
        """
        return await self.share(root, path, acl=acl, lexical_only=lexical_only, on_progress=on_progress)

    async def plan(
        self,
        paths: Sequence[Path],
        *,
        acl: Path | None,
        lexical_only: bool,
        on_progress: OnProgress,
        root: str | None = None,
    ) -> IngestPlan:
        """What `run` of the same arguments would do, or `take_part` in the run of `root`; the knowledge base stays as it is. Raises InputError or StoreError."""
        named = None if root is None else ROOT + root
        return await self.foresee(paths, acl=acl, lexical_only=lexical_only, root=named, on_progress=on_progress)


@dataclass(frozen=True, slots=True)
class _Behind:
    """What follows on the documents and vectors of an ingest: names, verdicts, imagined questions, and the index elsewhere, by `follow`."""

    index: EmbeddedIndex
    names: NameFile
    verdicts: VerdictFile
    screen: PromptScreen
    imagine: Callable[[OnProgress], Awaitable[object]]
    follow: Callable[[OnProgress], Awaitable[str]]

    async def learn(self, on_progress: OnProgress, *, imagining: bool) -> None:
        """Judge the passages, and imagine what is asked of them."""
        await self.verdicts.follow(self.index, self.index.store, self.screen, on_progress)
        if imagining:
            await self.imagine(on_progress)

    async def finish(self, report: IngestReport, on_progress: OnProgress, *, lexical_only: bool) -> IngestReport:
        """All of it; the report with the index that is whole and held."""
        await self.names.follow(self.index)
        if not lexical_only:  # no time for vectors is no time for this: passages are judged when found
            await self.learn(on_progress, imagining=not report.waiting)
        return replace(report, held_index=await self.follow(on_progress))


async def open_ingester(settings: Settings) -> StoreIngester:
    """An ingester over the knowledge base of `settings`. Raises StoreError if it cannot be opened."""
    from grounding.embedded.index import EmbeddedIndex
    from grounding.ingest.ingest import ingest, plan, rebuild, restore
    from rai.embedded.name_file import NameFile
    from rai.embedded.verdict_file import VerdictFile

    places = await asyncio.to_thread(usable_places, settings)
    resources = Resources()
    embedder = await asyncio.to_thread(rationed_embedder, settings, resources)
    at_once = settings.embedding.at_once if settings.embedding.kind == "openai" else 1
    jobs = embedding_jobs(settings, embedder, resources)
    opened = partial(EmbeddedIndex, places.index, embedder, places.database, at_once=at_once, jobs=jobs)
    index = await asyncio.to_thread(opened)
    ledger = await asyncio.to_thread(_ledger, settings, places)

    async def close() -> None:
        await resources.close()
        await asyncio.to_thread(index.close)
        await ledger.close()

    names = NameFile(places.in_index(NAMES))
    screen = await embedded_screen(settings)
    verdicts = VerdictFile(places.in_index(VERDICTS), screen.version)
    imagine = imaginer(settings, index.store, embedder, screen, resources)
    elsewhere = mirror(settings, index.store, embedder, resources)
    behind = _Behind(index, names, verdicts, screen, imagine, partial(_followed, elsewhere.follow, ledger))
    chunking = settings.chunks.chunking

    async def ingest_and_learn(paths: Sequence[Path], **options: Any) -> IngestReport:
        report = await ingest(index, paths, chunking=chunking, **options)
        return await behind.finish(report, options["on_progress"], lexical_only=options["lexical_only"])

    async def rebuild_all(on_progress: OnProgress) -> Anew:
        began = time.monotonic()
        failed = await rebuild(index, on_progress)
        await names.learn_anew(index)
        await behind.learn(on_progress, imagining=failed is None)
        await asyncio.to_thread(index.store.out_of_step)  # what stands in an index elsewhere is looked at in whole
        await behind.follow(on_progress)
        return await asyncio.to_thread(_made_anew, index, embedder, failed, began), failed

    async def restore_and_learn(doc_id: str) -> bool:
        found = await restore(index, doc_id, chunking=chunking)
        if found:
            await names.follow(index)
            await behind.follow(lambda _: None)
        return found

    return StoreIngester(
        ingest=ingest_and_learn,
        foresee=partial(plan, index, chunking=chunking),
        make_anew=rebuild_all,
        bring_back=restore_and_learn,
        share=partial(take_part, Shares(index, embedder, ledger, elsewhere, behind.finish, chunking)),
        ledger=ledger,
        close=close,
        vectors=embedder is not None,
    )


def _ledger(settings: Settings, places: Places) -> SqlLedger:
    from rai.ledger.store import SqlLedger

    files = settings.files
    return SqlLedger(places.ledger, files.ledger_key, signing_key_file=files.signing_key_path)


async def _followed(upload: Follow, ledger: Ledger, on_progress: OnProgress) -> str:
    """Let the index elsewhere follow, and record that another was taken into use; the index that is whole and held, empty if none is."""
    done = await upload(on_progress)
    if done is None:
        return ""
    if done.in_use != done.before:
        await record_index(ledger, done.in_use, action="used", before=done.before)
    return done.index if done.index != done.in_use else ""


def _made_anew(index: EmbeddedIndex, embedder: Embedder | None, failed: ServiceError | None, began: float) -> Rebuilt:
    documents, chunks = index.counts()
    return Rebuilt(
        kb_version=index.kb_version(),
        documents=documents,
        chunks=chunks,
        embedder=embedder.fingerprint if embedder else None,
        waiting=failed.code if failed else None,
        seconds=time.monotonic() - began,
    )


def open_history(settings: Settings) -> History:
    """The earlier versions of documents, those that are out, and backups; needs neither model nor ledger. Raises SettingsError, StoreError."""
    from grounding.store.history import StoreHistory

    return StoreHistory(usable_places(settings).store)
