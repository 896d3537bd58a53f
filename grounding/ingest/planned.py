"""Taking part in a planned run (`grounding.ingest.runs`): plan it or join it, read, cut, embed and send one batch after the other, and let one who takes part end it.

A process that is killed leaves a lease that runs out, and whoever takes the batch over finds done what was done. Deletions come once, behind the last batch.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any, Protocol, TypeVar

from grounding.errors import InputError, ServiceError, ServiceRejected, ServiceReplyInvalid, StoreError
from grounding.ingest.chunk_settings import Chunking, marked
from grounding.ingest.runs import ROOT, WHOLE, Begun, Lease, LeaseLost, PlannedItem, RunBook
from grounding.ingest.sources import find, is_there, placed, rights_of
from grounding.ingest.tally import Tally, leave_out, refusal_of, take
from grounding.records import Chunk, Document, IngestReport, OnProgress, Progress, Refusal
from grounding.services.remote import Throttled

LOG = logging.getLogger("attest")
T = TypeVar("T")
BATCH = 100
"""Documents of a batch: what a killed process leaves half done."""
_AT_ONCE = 50
"""Batches that are written down in one transaction."""
_EMBED = 64
LOOK_S = 1.0
"""Seconds between two looks for something to do, where others have all of it."""
_NAMES = {
    "chunking": "how documents are cut (ATTEST_CHUNKS)",
    "rights": "who may read what (--acl, attest.yaml)",
    "embedder": "the embedding model",
    "kind": "a folder or a corpus",
    "size": "the corpus",
    "lexical_only": "--lexical-only",
}


class PlannedTarget(Protocol):
    """An index that several processes write to in a planned run; the embedded implementation is `grounding.embedded.index.EmbeddedIndex`."""

    def stamps(self, doc_ids: Sequence[str] | None = None) -> dict[str, tuple[str, str, str]]:
        """doc_id to (root, stamp, version) of every live document, or of these."""
        ...

    def readers(self, doc_id: str) -> tuple[str, ...] | None:
        """Groups that may read a live document; None is everyone."""
        ...

    def pulled(self) -> dict[str, tuple[str, str]]:
        """doc_id to (stamp, version) of documents that a person removed."""
        ...

    def put(
        self,
        items: Sequence[tuple[Document, tuple[Chunk, ...], str, str]],
        lease: Lease | None = None,
        result: str = "",
        *,
        pulled: Collection[str] | None = None,
    ) -> set[str]:
        """Insert or replace documents under a lease, in one transaction, and keep what becomes of the batch with them. `pulled`: what a person had removed when they
        were read; if one of them was removed since, nothing is written, and those that were are returned.
        """
        ...

    def touch(self, stamps: dict[str, str], lease: Lease | None = None) -> None:
        """Keep new stamps, by doc_id, of documents that did not change otherwise."""
        ...

    def drop(self, doc_ids: Sequence[str], lease: Lease | None = None) -> None:
        """Delete documents under a lease, in one transaction."""
        ...

    def bare(self) -> set[str]:
        """Ids of live documents of which a chunk has no vector of the embedding model in use; none without a model."""
        ...

    def vectors(self) -> int:
        """Number of vectors of the embedding model in use, also of chunks that are gone; 0 without a model."""
        ...

    async def embed(self, doc_ids: Sequence[str], lease: Lease, batch: int) -> int:
        """Embed the chunks of these documents that have no vector, under a lease. Raises ServiceError."""
        ...


@dataclass(frozen=True, slots=True)
class Job:
    """What this process takes part in: the root by its name, the folder or corpus that it is here, the file of --acl, whether vectors are left out, and how is cut."""

    name: str
    path: Path
    acl: Path | None
    lexical_only: bool
    chunking: Chunking

    @property
    def root(self) -> str:
        """What the documents belong to."""
        return ROOT + self.name

    def told(self, embedder: str | None) -> dict[str, Any]:
        """What has to be the same for whoever takes part. `embedder`: fingerprint of the model, None without one."""
        is_corpus = self.path.is_file()
        return {
            "chunking": str(self.chunking),
            "rights": rights_of(self.path, self.acl),
            "embedder": None if self.lexical_only else embedder,
            "kind": "corpus" if is_corpus else "folder",
            "size": self.path.stat().st_size if is_corpus else 0,
            "lexical_only": self.lexical_only,
        }


@dataclass(frozen=True, slots=True)
class RunPart:
    """What a process did of a run: batches that it finished, and the lease of the run where it is the one to end it; None where another has."""

    run: str
    batches: int
    lease: Lease | None


Send = Callable[[Sequence[str]], Awaitable[object]]
"""Sends what the store holds of these documents to an index elsewhere. Raises ServiceError."""


class RunWorker:
    """A process that takes part in the run of a job. `embedder`: fingerprint of the embedding model; `prepare`: makes an index elsewhere fit to be sent batches; `look_s`:
    seconds between two looks for something to do.
    """

    def __init__(
        self,
        target: PlannedTarget,
        book: RunBook,
        job: Job,
        *,
        embedder: str | None,
        send: Send,
        prepare: Callable[[], Awaitable[object]],
        on_progress: OnProgress = lambda _: None,
        look_s: float = LOOK_S,
    ) -> None:
        self._target, self._book, self._job = target, book, job
        self._embedder, self._send, self._prepare = embedder, send, prepare
        self._on_progress, self._look_s = on_progress, look_s
        self._by = f"{socket.gethostname()}:{os.getpid()}"
        self.waiting: ServiceError | None = None
        """Why single passages have no vector yet, or were not sent; the end of the run tries them once more."""

    async def join(self) -> str:
        """Plan the run, or join it; its id. Raises InputError for one that was planned otherwise, or of which no file is here."""
        told = json.dumps(self._job.told(self._embedder), sort_keys=True)
        while True:
            begun = await asyncio.to_thread(self._book.begin, self._job.root, told, self._by)
            self._refuse_other(begun, told)
            if begun.lease is not None:
                with suppress(LeaseLost):  # another took it over, and is joined
                    async with held(self._book, begun.lease):
                        await self._prepare()
                        await asyncio.to_thread(self._plan, begun.lease)
                    return begun.run
                continue
            if begun.is_planned:
                await asyncio.to_thread(self._refuse_elsewhere, begun.run)
                return begun.run
            await asyncio.sleep(self._look_s)

    async def work(self, run: str) -> RunPart:
        """Do one batch after the other until all are done, whoever does them. Raises ServiceError, StoreError, InputError: then the batch in hand is another's at once."""
        for batches in count():
            lease = await self._next(run)
            if lease is None or lease.batch == WHOLE:
                return RunPart(run, batches, lease)
            try:
                async with held(self._book, lease):
                    await self._batch(lease)
            except LeaseLost as error:
                LOG.warning("%s", error)
            self._on_progress(Progress("run", *await asyncio.to_thread(self._book.counts, run)))
        raise AssertionError("unreachable")

    async def _next(self, run: str) -> Lease | None:
        """A lease, waited for while others have all there is; None when the run is over."""
        while (lease := await asyncio.to_thread(self._book.lease, run, self._by)) is None:
            if await asyncio.to_thread(self._book.is_ended, run):
                return None
            self._on_progress(Progress("run", *await asyncio.to_thread(self._book.counts, run)))
            await asyncio.sleep(self._look_s)
        return lease

    # --- the plan

    def _plan(self, lease: Lease) -> None:
        job = self._job
        tally = Tally(job.chunking, self._target.stamps(), self._target.pulled())
        tally.roots.add(str(job.path.resolve()))  # documents of this folder that were taken in without a name
        bare = set() if job.lexical_only else self._target.bare()
        first = 0
        for batches in _grouped(_grouped(self._to_read(tally, bare), BATCH), _AT_ONCE):
            self._book.add(lease, batches, first)
            first += len(batches)
            self._on_progress(Progress("plan", len(tally.seen), None))
        mine = {job.root, *tally.roots}
        gone = [doc_id for doc_id, (root, _, _) in tally.known.items() if root in mine and doc_id not in tally.kept]
        self._book.planned(lease, _result(tally, self._target.vectors()), gone)

    def _to_read(self, tally: Tally, bare: Collection[str]) -> Iterator[PlannedItem]:
        for item in find([self._job.path], self._job.acl, self._job.root):
            if (refusal := refusal_of(tally, item)) is not None:
                tally.refused.append(refusal)
                continue
            tally.kept.add(item.doc_id)
            known = tally.known.get(item.doc_id)
            is_here = known is not None and known[:2] == (item.root, marked(item.stamp, tally.chunking))
            if is_here and item.doc_id not in bare:
                tally.unchanged += 1
            else:
                yield PlannedItem(item.doc_id, item.stamp, item.place)

    def _refuse_other(self, begun: Begun, told: str) -> None:
        mine, theirs = json.loads(told), json.loads(begun.told)
        differ = [words for name, words in _NAMES.items() if mine.get(name) != theirs.get(name)]
        if differ:
            raise InputError(
                f"--root {self._job.name}: {_named(begun)} is not done yet and was planned with another value of {', '.join(differ)};"
                f" the same command and settings join it, attest ingest --root {self._job.name} --end ends it"
            )

    def _refuse_elsewhere(self, run: str) -> None:
        sample = self._book.sample(run)
        if sample and not any(is_there(self._job.path, item) for item in sample):
            raise InputError(
                f"PATH {self._job.path}: holds no file of run {run} of --root {self._job.name}; allowed is the folder that it was planned for, wherever it is mounted,"
                f" or attest ingest --root {self._job.name} --end"
            )

    # --- a batch

    async def _batch(self, lease: Lease) -> None:
        items = await asyncio.to_thread(self._book.items, lease)
        tally, result = await asyncio.to_thread(self._read, lease, items)
        doc_ids = [item.doc_id for item in items]
        if not self._job.lexical_only:
            await self._tried(self._target.embed(doc_ids, lease, _EMBED))
        if not await asyncio.to_thread(self._book.renew, lease):
            raise LeaseLost(f"run {lease.run} goes on without this process: its lease was over")
        await self._tried(self._send(doc_ids))
        known = tally.known.items()
        gone = [doc_id for doc_id, (root, _, _) in known if root in tally.roots and doc_id not in tally.kept]
        await asyncio.to_thread(self._book.done, lease, result, gone)

    async def _tried(self, work: Awaitable[object]) -> None:
        """A text that a service refuses for good keeps nobody from the others; a service that does not answer does, as it would keep the next batch from it too."""
        try:
            await work
        except (ServiceRejected, ServiceReplyInvalid) as error:
            if isinstance(error, Throttled):
                raise
            self.waiting = error

    def _read(self, lease: Lease, items: Sequence[PlannedItem]) -> tuple[Tally, str]:
        """Read, cut and store the documents of a batch; what became of them, also as JSON."""
        job, target = self._job, self._target
        if not any(is_there(job.path, item) for item in items):
            self._refuse_elsewhere(lease.run)  # all of them may be gone; a mount that is gone looks the same
        tally = Tally(job.chunking, target.stamps([item.doc_id for item in items]), target.pulled())
        tally.roots.add(str(job.path.resolve()))
        for item in placed(job.path, job.acl, job.root, items):
            take(target, tally, item)
        while since := target.put(tally.pending, lease, result := _result(tally), pulled=tally.pulled):
            leave_out(tally, since)
        if tally.touched:
            target.touch(tally.touched, lease)
        return tally, result


@asynccontextmanager
async def held(book: RunBook, lease: Lease) -> AsyncIterator[None]:
    """A lease that is renewed meanwhile; where the work ends in an error others have it at once."""

    async def renew() -> None:
        while True:
            await asyncio.sleep(book.lease_s / 4)
            with suppress(StoreError):  # the database may be back in time; what is written is refused if not
                if not await asyncio.to_thread(book.renew, lease):
                    return

    renewing = asyncio.ensure_future(renew())
    try:
        yield
    except BaseException as error:
        if not isinstance(error, LeaseLost):
            with suppress(StoreError):
                book.give_back(lease)
        raise
    finally:
        renewing.cancel()


def summed(results: Sequence[str], chunking: Chunking, vectors: int) -> IngestReport:
    """What became of the documents of a run, by its results; of the knowledge base itself nothing is said yet. `vectors`: how many there are now."""
    sums: Counter[str] = Counter()
    rechunked: Counter[str] = Counter()
    refused: list[Refusal] = []
    opened: list[str] = []
    for result in map(json.loads, results):
        sums.update({name: result[name] for name in ("added", "changed", "unchanged", "long_chunks", "vectors")})
        rechunked.update(result["rechunked"])
        refused += [Refusal(*one) for one in result["refused"]]
        opened += result["opened"]
    return IngestReport(
        added=sums["added"],
        changed=sums["changed"],
        unchanged=sums["unchanged"],
        deleted=0,
        refused=tuple(refused),
        chunks=0,
        embedded=max(0, vectors - sums["vectors"]),
        kb_version="",
        seconds=0.0,
        opened=tuple(opened),
        chunking=str(chunking),
        rechunked=dict(rechunked),
        long_chunks=sums["long_chunks"],
    )


def report_of(kept: str) -> IngestReport:
    """A report from what `json.dumps` of its fields made."""
    fields: Mapping[str, Any] = json.loads(kept)
    report = IngestReport(**fields)
    refused = tuple(Refusal(**one) for one in fields["refused"])
    return replace(report, refused=refused, opened=tuple(report.opened))


def _result(tally: Tally, vectors: int = 0) -> str:
    """What became of the documents so far, as JSON. `vectors`: how many there were when the run was planned."""
    return json.dumps(
        {
            "added": tally.added,
            "changed": tally.changed,
            "unchanged": tally.unchanged,
            "refused": [(r.doc, r.code, r.reason) for r in tally.refused],
            "opened": tally.opened,
            "rechunked": dict(Counter(tally.rechunked.values())),
            "long_chunks": tally.long_chunks,
            "vectors": vectors,
        }
    )


def _named(begun: Begun) -> str:
    when = datetime.fromtimestamp(begun.began, UTC).strftime("%Y-%m-%d %H:%M UTC")
    return f"run {begun.run}, begun {when} by {begun.by},"


def _grouped(items: Iterator[T], size: int) -> Iterator[list[T]]:
    group: list[T] = []
    for item in items:
        group.append(item)
        if len(group) == size:
            yield group
            group = []
    if group:
        yield group
