"""Builds a part in a planned run, and ends the run where this process is the one to do so."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from bot.compose.database import usable_places
from bot.compose.search import Mirror
from bot.operator import operator
from bot.settings.settings import Settings
from grounding.errors import InputError, ServiceError
from grounding.ingest.chunk_settings import Chunking
from grounding.ingest.runs import LEASE_S, ROOT, Lease, RunState
from grounding.ports import Embedder
from grounding.records import IngestReport, OnProgress, Progress, plain
from rai.entry_schema import NAME, SCHEMA
from rai.ports import Ledger

if TYPE_CHECKING:
    from grounding.embedded.index import EmbeddedIndex
    from grounding.ingest.planned import Job
    from grounding.store.runs import SharedRuns

LOCK_S = 24 * 3600.0
"""Seconds that the lock of this machine's indexes is waited for at the end of a run: others of this machine may be filling them, which takes as long as it takes."""
_BATCH = 64


class Finish(Protocol):
    """Does what follows on the documents and vectors of an ingest: names, verdicts, the index elsewhere. Returns the report with what came of that."""

    async def __call__(self, report: IngestReport, on_progress: OnProgress, *, lexical_only: bool) -> IngestReport:
        """Raises StoreError, ServiceError."""
        ...


@dataclass(frozen=True, slots=True)
class Shares:
    """What a part in a run is done with."""

    index: EmbeddedIndex
    embedder: Embedder | None
    ledger: Ledger
    mirror: Mirror
    finish: Finish
    chunking: Chunking


async def take_part(
    shares: Shares,
    root: str,
    path: Path,
    *,
    acl: Path | None,
    lexical_only: bool,
    on_progress: OnProgress,
    lease_s: float = LEASE_S,
) -> IngestReport:
    """Take part in the run of `root` until it is done, whoever does it; the report of the whole run. Raises InputError for a run that is another, or was ended meanwhile."""
    from grounding.embedded.vectors.rationed import RationedEmbedder
    from grounding.ingest.planned import Job, RunWorker, held, report_of

    index, book = shares.index, shares.index.store.runs(lease_s)
    job = Job(root, path, acl, lexical_only, shares.chunking)

    async def prepare() -> None:
        await shares.mirror.follow(on_progress)

    run = RunWorker(
        index,
        book,
        job,
        embedder=shares.embedder.fingerprint if shares.embedder else None,
        send=shares.mirror.send,
        prepare=prepare,
        on_progress=on_progress,
    )
    run_id = await run.join()
    if isinstance(shares.embedder, RationedEmbedder):
        shares.embedder.share(run_id)
    part = await run.work(run_id)
    if part.lease is not None:
        async with held(book, part.lease):
            return await _ended(shares, book, part.lease, job, on_progress)
    kept = await asyncio.to_thread(book.report, run_id)
    if kept is None:
        raise InputError(f"run {run_id} of --root {root} was ended before it was done; what was taken in stays")
    async with _locked(index):
        await asyncio.to_thread(index.catch_up, lambda done, total: on_progress(Progress("words", done, total)))
        await asyncio.to_thread(index.follow_vectors)
    return report_of(kept)


async def _ended(shares: Shares, book: SharedRuns, lease: Lease, job: Job, on_progress: OnProgress) -> IngestReport:
    """Do what comes once, behind the last batch, and record it; then the run is done for all."""
    from grounding.ingest.planned import summed

    index = shares.index
    failed: ServiceError | None = None
    async with _locked(index):
        deleted = await asyncio.to_thread(_delete_gone, index, book, lease, job)
        await asyncio.to_thread(index.catch_up, lambda done, total: on_progress(Progress("words", done, total)))
        if not job.lexical_only:
            try:
                await index.embed_missing(_BATCH, lambda done, total: on_progress(Progress("vectors", done, total)))
            except ServiceError as error:
                failed = error
    results, vectors = await asyncio.to_thread(book.results, lease.run), await asyncio.to_thread(index.vectors)
    report = replace(
        summed(results, shares.chunking, vectors),
        deleted=deleted,
        chunks=(await asyncio.to_thread(index.counts))[1],
        kb_version=await asyncio.to_thread(index.kb_version),
        seconds=round(await asyncio.to_thread(book.age, lease.run), 3),
        waiting=str(failed or ""),
    )
    report = await shares.finish(report, on_progress, lexical_only=job.lexical_only)
    if report.rechunked or await is_news(shares.ledger, report.kb_version):
        body = {NAME: SCHEMA, "paths": [job.root], "actor": plain(operator()), **asdict(report)}
        await shares.ledger.append("ingest", body)
    await asyncio.to_thread(book.end, lease, json.dumps(asdict(report)))
    return report


async def is_news(ledger: Ledger, kb_version: str) -> bool:
    """True unless the newest record of a change names this state: what a killed run took in is recorded by the next."""
    state = kb_version.split("-g", maxsplit=1)[0]
    async for entry in ledger.entries(newest_first=True, limit=1, kinds=("ingest", "remove", "restore")):
        return entry.kind != "ingest" or str(entry.body.get("kb_version", "")).split("-g")[0] != state
    return True


def _delete_gone(index: EmbeddedIndex, book: SharedRuns, lease: Lease, job: Job) -> int:
    """Delete what the run found gone and is still of its root, or of its folder; how many documents."""
    roots = {job.root, str(job.path.resolve())}
    there = index.stamps(book.gone(lease.run))
    gone = [doc_id for doc_id, (root, _, _) in there.items() if root in roots]
    index.drop(gone, lease)
    return len(gone)


@asynccontextmanager
async def _locked(index: EmbeddedIndex) -> AsyncIterator[None]:
    await asyncio.to_thread(index.lock, LOCK_S)
    try:
        yield
    finally:
        await asyncio.to_thread(index.unlock)


@contextmanager
def _book(settings: Settings) -> Iterator[SharedRuns]:
    from grounding.embedded.index import EmbeddedIndex

    places = usable_places(settings)
    index = EmbeddedIndex(places.index, None, places.database)
    try:
        yield index.store.runs()
    finally:
        index.close()


def run_states(settings: Settings, root: str | None) -> list[RunState]:
    """The planned runs, the newest first, of one root where it is named; their roots by the names that people give. Raises StoreError."""
    with _book(settings) as book:
        found = [replace(state, root=state.root.removeprefix(ROOT)) for state in book.states()]
    return [state for state in found if root in (None, state.root)]


def break_off(settings: Settings, root: str) -> str:
    """End the run of this root as it stands; its id. Raises InputError where there is none."""
    with _book(settings) as book:
        run = book.break_off(ROOT + root)
    if run is None:
        raise InputError(f"--root {root}: no run of it is under way; attest ingest --runs lists them")
    return run
