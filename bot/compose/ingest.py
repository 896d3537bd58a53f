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
from bot.compose.embedder import fingerprint_of, rationed_embedder
from bot.compose.parts import NAMES, VERDICTS, embedded_screen
from bot.compose.resources import Close, Resources
from bot.compose.search import Follow, mirror
from bot.compose.services import imaginer
from bot.events.copies import Rebuilt, record_index, record_rebuild
from bot.operator import operator
from bot.settings.settings import Settings
from grounding.errors import ServiceError
from grounding.ingest.chunk_settings import marked, unmarked
from grounding.ingest.history import History, OnChange
from grounding.ports import Embedder
from grounding.records import IngestPlan, IngestReport, Progress, plain
from rai.entry_schema import NAME, SCHEMA
from rai.ports import Ledger

if TYPE_CHECKING:
    from grounding.embedded.index import EmbeddedIndex


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
    make_anew: Callable[[Callable[[Progress], None]], Awaitable[Anew]]
    bring_back: Callable[[str], Awaitable[bool]]
    ledger: Ledger
    close: Close
    vectors: bool

    async def rebuild(self, on_progress: Callable[[Progress], None]) -> None:
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
        on_progress: Callable[[Progress], None],
        on_change: OnChange = lambda _kind, _doc_id: None,
    ) -> IngestReport:
        """Make the knowledge base hold what stands under `paths`. Raises InputError or StoreError."""
        report = await self.ingest(
            paths, acl=acl, lexical_only=lexical_only, on_progress=on_progress, on_change=on_change
        )
        if report.rechunked or await self._is_news(report.kb_version):
            body = {NAME: SCHEMA, "paths": [path.name for path in paths], "actor": plain(operator()), **asdict(report)}
            await self.ledger.append("ingest", body)
        return report

    async def plan(
        self,
        paths: Sequence[Path],
        *,
        acl: Path | None,
        lexical_only: bool,
        on_progress: Callable[[Progress], None],
    ) -> IngestPlan:
        """What `run` of the same arguments would do; the knowledge base stays as it is. Raises InputError or StoreError."""
        return await self.foresee(paths, acl=acl, lexical_only=lexical_only, on_progress=on_progress)

    async def _is_news(self, kb_version: str) -> bool:
        """True unless the newest record of a change names this state: what a killed run took in is recorded by the next."""
        state = kb_version.split("-g", maxsplit=1)[0]
        async for entry in self.ledger.entries(newest_first=True, limit=1, kinds=("ingest", "remove", "restore")):
            return entry.kind != "ingest" or str(entry.body.get("kb_version", "")).split("-g")[0] != state
        return True


async def open_ingester(settings: Settings) -> StoreIngester:
    """An ingester over the knowledge base of `settings`. Raises StoreError if it cannot be opened."""
    from grounding.embedded.index import EmbeddedIndex
    from grounding.ingest.ingest import ingest, plan, rebuild, restore
    from rai.embedded.name_file import NameFile
    from rai.embedded.verdict_file import VerdictFile
    from rai.ledger.store import SqlLedger

    places = await asyncio.to_thread(usable_places, settings)
    resources = Resources()
    embedder = await asyncio.to_thread(rationed_embedder, settings, resources)
    at_once = settings.embedding.at_once if settings.embedding.kind == "openai" else 1
    index = await asyncio.to_thread(partial(EmbeddedIndex, places.index, embedder, places.database, at_once=at_once))
    files = settings.files
    make = partial(SqlLedger, places.ledger, files.ledger_key, signing_key_file=files.signing_key_path)
    ledger = await asyncio.to_thread(make)

    async def close() -> None:
        await resources.close()
        await asyncio.to_thread(index.close)
        await ledger.close()

    names = NameFile(places.in_index(NAMES))
    screen = await embedded_screen(settings)
    verdicts = VerdictFile(places.in_index(VERDICTS), screen.version)
    imagine = imaginer(settings, index.store, embedder, screen, resources)
    follow = partial(_followed, mirror(settings, index.store, embedder, resources), ledger)

    async def learn(on_progress: Callable[[Progress], None], *, imagining: bool) -> None:
        await verdicts.follow(index, index.store, screen, on_progress)
        if imagining:
            await imagine(on_progress)

    async def ingest_and_learn(paths: Sequence[Path], **options: Any) -> IngestReport:
        report = await ingest(index, paths, chunking=settings.chunks.chunking, **options)
        await names.follow(index)
        if not options["lexical_only"]:  # no time for vectors is no time for this: passages are judged when found
            await learn(options["on_progress"], imagining=not report.waiting)
        return replace(report, held_index=await follow(options["on_progress"]))

    async def rebuild_all(on_progress: Callable[[Progress], None]) -> Anew:
        began = time.monotonic()
        failed = await rebuild(index, on_progress)
        await names.learn_anew(index)
        await learn(on_progress, imagining=failed is None)
        await asyncio.to_thread(index.store.step_with, "")  # what stands in an index elsewhere is looked at in whole
        await follow(on_progress)
        return await asyncio.to_thread(_made_anew, index, embedder, failed, began), failed

    async def restore_and_learn(doc_id: str) -> bool:
        found = await restore(index, doc_id, chunking=settings.chunks.chunking)
        if found:
            await names.follow(index)
            await follow(lambda _: None)
        return found

    foresee = partial(plan, index, chunking=settings.chunks.chunking)
    return StoreIngester(ingest_and_learn, foresee, rebuild_all, restore_and_learn, ledger, close, embedder is not None)


async def _followed(upload: Follow, ledger: Ledger, on_progress: Callable[[Progress], None]) -> str:
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
