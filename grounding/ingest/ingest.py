"""Incremental ingest: what was added, changed or deleted under the given paths, and nothing else, becomes searchable.

The order makes every kill harmless: documents are committed to the store, then the word index catches up, then vectors follow. What an
earlier, killed run left behind is completed first. One ingest at a time; servers read meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Protocol

from grounding.errors import ServiceError
from grounding.ingest.chunk import cut
from grounding.ingest.chunk_settings import DEFAULT, Chunking, marked, unmarked
from grounding.ingest.history import OnChange
from grounding.ingest.sources import SourceItem, find
from grounding.ingest.tally import Tally, leave_out, take
from grounding.records import Chunk, Document, IngestPlan, IngestReport, OnProgress, Progress
from grounding.tokens import count_tokens

LOG = logging.getLogger("attest")
_BATCH = 512
VECTOR_BATCH = 64


class IngestTarget(Protocol):
    """An index that ingest writes to; the embedded implementation is `grounding.embedded.index.EmbeddedIndex`."""

    def lock(self) -> None:
        """Take the writer's lock until `unlock`. Raises StoreError if another is at work."""
        ...

    def unlock(self) -> None:
        """Release the writer's lock."""
        ...

    def stamps(self) -> dict[str, tuple[str, str, str]]:
        """doc_id to (root, stamp, version) of every live document."""
        ...

    def readers(self, doc_id: str) -> tuple[str, ...] | None:
        """Groups that may read a live document; None is everyone."""
        ...

    def pulled(self) -> dict[str, tuple[str, str]]:
        """doc_id to (stamp, version) of documents that a person removed; they stay out until their version changes."""
        ...

    def removed(self, doc_id: str) -> tuple[Document, str, str] | None:
        """A document that was taken out, as it last stood, with its root and stamp; None if it is live or was never there."""
        ...

    def put(
        self, items: Sequence[tuple[Document, tuple[Chunk, ...], str, str]], *, pulled: Collection[str] | None = None
    ) -> set[str]:
        """Insert or replace documents, each with its chunks, root and stamp, in one transaction. `pulled`: what a person had removed when they were read; if one of
        them was removed since, nothing is written, and those that were are returned.
        """
        ...

    def touch(self, stamps: dict[str, str]) -> None:
        """Keep new stamps, by doc_id, of documents that did not change otherwise."""
        ...

    def drop(self, doc_ids: Sequence[str]) -> None:
        """Delete documents, in one transaction."""
        ...

    def rebuild(self, on_done: Callable[[int, int], None]) -> None:
        """Delete the word index and make it again from the store."""
        ...

    def catch_up(self, on_done: Callable[[int, int], None]) -> None:
        """Bring the word index up to what the store holds."""
        ...

    async def embed_missing(self, batch: int, on_done: Callable[[int, int], None]) -> int:
        """Embed every chunk that has no vector; returns how many were made. Raises ServiceError for what a service did not embed."""
        ...

    def chunks_without_vector(self) -> tuple[int, int]:
        """Number of live chunks without a vector of the embedding model in use, and how many of them have one of another; 0, 0 without a
        model.
        """
        ...

    def unembedded(self, chunks: Sequence[tuple[str, Chunk]]) -> list[str]:
        """Of these chunks, each with the title of its document, those without a vector of the embedding model in use, as the texts that would be embedded;
        none without a model.
        """
        ...

    def waiting(self, without: Collection[str]) -> list[str]:
        """Texts, as they are embedded, of live chunks without a vector, those of the documents `without` left out; none without a model."""
        ...

    def counts(self) -> tuple[int, int]:
        """Number of live documents and of live chunks."""
        ...

    def kb_version(self) -> str:
        """Version of the knowledge base: equal where its content is."""
        ...


async def ingest(
    target: IngestTarget,
    paths: Sequence[Path],
    *,
    acl: Path | None = None,
    lexical_only: bool = False,
    chunking: Chunking = DEFAULT,
    on_progress: OnProgress = lambda _: None,
    on_change: OnChange = lambda _kind, _doc_id: None,
) -> IngestReport:
    """Make the knowledge base hold exactly what stands under `paths` now, besides what came from elsewhere.

    Deletions are scoped to the roots given: a file that is gone from a folder vanishes, other folders stay. What stands there unchanged, but cut
    in another way than `chunking`, is cut anew.
    `on_change` hears of each change when everything is searchable.
    Raises InputError for a path or metadata file that cannot be used, StoreError if another ingest is at work.
    """
    began = time.monotonic()
    async with _writing(target):
        run = Tally(chunking, await asyncio.to_thread(target.stamps), await asyncio.to_thread(target.pulled))
        await asyncio.to_thread(_read_all, target, run, find(paths, acl), partial(_flush, target, run), on_progress)
        deleted = _gone(run, paths)
        await asyncio.to_thread(target.drop, deleted)
        await asyncio.to_thread(target.catch_up, lambda done, total: on_progress(Progress("words", done, total)))
        before = (0, 0) if lexical_only else await asyncio.to_thread(target.chunks_without_vector)
        failed = None if lexical_only else await _embed(target, on_progress)
        after = (0, 0) if lexical_only else await asyncio.to_thread(target.chunks_without_vector)
        report = IngestReport(
            added=run.added,
            changed=run.changed,
            unchanged=run.unchanged,
            deleted=len(deleted),
            refused=tuple(run.refused),
            chunks=target.counts()[1],
            embedded=before[0] - after[0],
            kb_version=target.kb_version(),
            seconds=round(time.monotonic() - began, 3),
            opened=tuple(run.opened),
            chunking=str(chunking),
            rechunked=dict(Counter(run.rechunked.values())),
            long_chunks=run.long_chunks,
            reembedded=before[1] - after[1],
            waiting=str(failed or ""),
        )
    for kind, doc_id in [*run.changes, *(("deleted", doc_id) for doc_id in deleted)]:
        on_change(kind, doc_id)
    return report


async def plan(
    target: IngestTarget,
    paths: Sequence[Path],
    *,
    acl: Path | None = None,
    lexical_only: bool = False,
    chunking: Chunking = DEFAULT,
    root: str | None = None,
    on_progress: OnProgress = lambda _: None,
) -> IngestPlan:
    """What `ingest` of the same arguments would do: everything is read and cut, and nothing is written, embedded or locked. What a person removes meanwhile is
    not seen. `root`: what the documents belong to in a planned run, whose documents of the same folder it takes over.

    Raises InputError as `ingest` does.
    """
    run = Tally(chunking, await asyncio.to_thread(target.stamps), await asyncio.to_thread(target.pulled))
    sums: Counter[str] = Counter()
    replaced: set[str] = set()

    def embed(texts: Sequence[str]) -> None:
        sums["embedded"] += len(texts)
        sums["tokens"] += sum(map(count_tokens, texts))

    def tally() -> None:
        cut_anew = [(document.title, chunk) for document, chunks, _, _ in run.pending for chunk in chunks]
        replaced.update(document.doc_id for document, _, _, _ in run.pending)
        sums["chunks"] += len(cut_anew)
        sums["text_bytes"] += sum(len(chunk.text.encode("utf-8", "replace")) for _, chunk in cut_anew)
        if not lexical_only:
            embed(target.unembedded(cut_anew))
        run.pending.clear()
        run.touched.clear()

    run.roots.update(str(path.resolve()) for path in paths if root is not None)
    await asyncio.to_thread(_read_all, target, run, find(paths, acl, root), tally, on_progress)
    deleted = _gone(run, paths, root)
    if not lexical_only:
        embed(await asyncio.to_thread(target.waiting, replaced.union(deleted)))
    return IngestPlan(
        added=run.added,
        changed=run.changed,
        unchanged=run.unchanged,
        deleted=len(deleted),
        refused=tuple(run.refused),
        opened=tuple(run.opened),
        rechunked=dict(Counter(run.rechunked.values())),
        chunks=sums["chunks"],
        embedded=sums["embedded"],
        tokens=sums["tokens"],
        text_bytes=sums["text_bytes"],
    )


async def restore(target: IngestTarget, doc_id: str, *, chunking: Chunking = DEFAULT) -> bool:
    """Bring back a document that was taken out, as it last stood; False if there is none.

    The next ingest of its folder treats it as any other: a file that has changed or gone since counts. Raises StoreError if another ingest
    is at work.
    """
    async with _writing(target):
        found = await asyncio.to_thread(target.removed, doc_id)
        if found is None:
            return False
        document, root, stamp = found
        stamp = marked(unmarked(stamp)[0], chunking)
        await asyncio.to_thread(target.put, [(document, cut(document, chunking), root, stamp)])
        await asyncio.to_thread(target.catch_up, lambda *_: None)
        if failed := await _embed(target, lambda _: None):
            LOG.warning("%s; it is found by words, the next ingest embeds it", failed)
    return True


async def rebuild(target: IngestTarget, on_progress: OnProgress = lambda _: None) -> ServiceError | None:
    """Derive word index and missing vectors again from the store. Returns why passages are left without vectors, None if none is. Raises
    StoreError.
    """
    async with _writing(target):
        await asyncio.to_thread(target.rebuild, lambda done, total: on_progress(Progress("words", done, total)))
        return await _embed(target, on_progress)


async def _embed(target: IngestTarget, on_progress: OnProgress) -> ServiceError | None:
    """Embed what has no vector. A service that fails is reported, not raised: everything else of the ingest stands and is made use of."""
    try:
        await target.embed_missing(VECTOR_BATCH, lambda done, total: on_progress(Progress("vectors", done, total)))
    except ServiceError as error:
        return error
    return None


@asynccontextmanager
async def _writing(target: IngestTarget) -> AsyncIterator[None]:
    """Context manager that holds the writer's lock; what an earlier, killed run left behind is completed first."""
    await asyncio.to_thread(target.lock)
    try:
        await asyncio.to_thread(target.catch_up, lambda *_: None)
        yield
    finally:
        await asyncio.to_thread(target.unlock)


def _read_all(
    target: IngestTarget,
    run: Tally,
    items: Iterable[SourceItem],
    flush: Callable[[], None],
    on_progress: OnProgress,
) -> None:
    """Read and cut what is new or changed; `flush` takes each batch of it from `run.pending`."""
    for count, item in enumerate(items, 1):
        take(target, run, item)
        if len(run.pending) >= _BATCH:
            flush()
        if count % 20 == 0:
            on_progress(Progress("read", count, None))
    flush()
    on_progress(Progress("read", len(run.seen), len(run.seen)))


def _flush(target: IngestTarget, run: Tally) -> None:
    while since := target.put(run.pending, pulled=run.pulled):
        leave_out(run, since)
    run.pending.clear()
    if run.touched:
        target.touch(run.touched)
        run.touched.clear()


def _gone(run: Tally, paths: Sequence[Path], root: str | None = None) -> list[str]:
    """Live documents of the given roots that were not found again. A document that is refused now is gone too: what it said before may no
    longer be true.
    """
    scope = {root, *(str(path.resolve()) for path in paths)}  # a single file is no root: those of its folder stay
    return [doc_id for doc_id, (root, _, _) in run.known.items() if root in scope and doc_id not in run.kept]
