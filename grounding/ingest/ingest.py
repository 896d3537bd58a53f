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
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol

from grounding.errors import InputError, ServiceError
from grounding.ingest.chunk import cut
from grounding.ingest.chunk_settings import DEFAULT, READ_AT_ONCE, Chunking, marked, unmarked
from grounding.ingest.history import ChangeKind, OnChange
from grounding.ingest.sources import SourceItem, find
from grounding.records import Chunk, Document, IngestPlan, IngestReport, Progress, Refusal
from grounding.tokens import count_tokens

LOG = logging.getLogger("attest")
_BATCH = 512
_VECTOR_BATCH = 64


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

    def put(self, items: Sequence[tuple[Document, tuple[Chunk, ...], str, str]]) -> None:
        """Insert or replace documents, each with its chunks, root and stamp, in one transaction."""
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


@dataclass(slots=True)
class _Run:
    """Tally of one run. `known` is (root, stamp, version) by doc_id of what is there; `rechunked` maps the documents that are cut anew to
    the chunking that they had.
    """

    chunking: Chunking
    known: dict[str, tuple[str, str, str]]
    pulled: dict[str, tuple[str, str]]
    seen: set[str] = field(default_factory=set)
    kept: set[str] = field(default_factory=set)
    roots: set[str] = field(default_factory=set)
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    refused: list[Refusal] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)
    changes: list[tuple[ChangeKind, str]] = field(default_factory=list)
    pending: list[tuple[Document, tuple[Chunk, ...], str, str]] = field(default_factory=list)
    touched: dict[str, str] = field(default_factory=dict)
    rechunked: dict[str, str] = field(default_factory=dict)
    long_chunks: int = 0


async def ingest(
    target: IngestTarget,
    paths: Sequence[Path],
    *,
    acl: Path | None = None,
    lexical_only: bool = False,
    chunking: Chunking = DEFAULT,
    on_progress: Callable[[Progress], None] = lambda _: None,
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
        run = _Run(chunking, await asyncio.to_thread(target.stamps), await asyncio.to_thread(target.pulled))
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
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> IngestPlan:
    """What `ingest` of the same arguments would do: everything is read and cut, and nothing is written, embedded or locked. What a person removes meanwhile is
    not seen.

    Raises InputError as `ingest` does.
    """
    run = _Run(chunking, await asyncio.to_thread(target.stamps), await asyncio.to_thread(target.pulled))
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

    await asyncio.to_thread(_read_all, target, run, find(paths, acl), tally, on_progress)
    deleted = _gone(run, paths)
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


async def rebuild(
    target: IngestTarget, on_progress: Callable[[Progress], None] = lambda _: None
) -> ServiceError | None:
    """Derive word index and missing vectors again from the store. Returns why passages are left without vectors, None if none is. Raises
    StoreError.
    """
    async with _writing(target):
        await asyncio.to_thread(target.rebuild, lambda done, total: on_progress(Progress("words", done, total)))
        return await _embed(target, on_progress)


async def _embed(target: IngestTarget, on_progress: Callable[[Progress], None]) -> ServiceError | None:
    """Embed what has no vector. A service that fails is reported, not raised: everything else of the ingest stands and is made use of."""
    try:
        await target.embed_missing(_VECTOR_BATCH, lambda done, total: on_progress(Progress("vectors", done, total)))
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
    run: _Run,
    items: Iterable[SourceItem],
    flush: Callable[[], None],
    on_progress: Callable[[Progress], None],
) -> None:
    """Read and cut what is new or changed; `flush` takes each batch of it from `run.pending`."""
    for count, item in enumerate(items, 1):
        _take(target, run, item)
        if len(run.pending) >= _BATCH:
            flush()
        if count % 20 == 0:
            on_progress(Progress("read", count, None))
    flush()
    on_progress(Progress("read", len(run.seen), len(run.seen)))


def _take(target: IngestTarget, run: _Run, item: SourceItem) -> None:
    run.roots.add(item.root)
    if (refusal := _refusal(run, item)) is not None:
        run.refused.append(refusal)
        return
    known = run.known.get(item.doc_id)
    stamp = marked(item.stamp, run.chunking)
    if known and known[:2] == (item.root, stamp):
        run.unchanged += 1
        run.kept.add(item.doc_id)
        return
    try:
        document = item.load()
    except InputError as error:
        run.refused.append(Refusal(item.doc_id, error.code, str(error)))
        return
    if run.pulled.get(item.doc_id, ("", ""))[1] == document.version:
        run.refused.append(_out(item.doc_id))
        run.touched[item.doc_id] = stamp
        return
    run.kept.add(item.doc_id)
    if known and known[0] == item.root and known[2] == document.version:
        run.unchanged += 1
        before = unmarked(known[1])[1]
        if before == str(run.chunking):
            run.touched[item.doc_id] = stamp
            return
        run.rechunked[item.doc_id] = before
    elif known:
        run.changed += 1
        run.changes.append(("changed", item.doc_id))
        if _is_wider(target.readers(item.doc_id), document.groups):
            run.opened.append(item.doc_id)
    else:
        run.added += 1
        run.changes.append(("added", item.doc_id))
    chunks = cut(document, run.chunking)
    run.long_chunks += sum(chunk.tokens > READ_AT_ONCE for chunk in chunks)
    run.pending.append((document, chunks, item.root, stamp))


def _refusal(run: _Run, item: SourceItem) -> Refusal | None:
    """Reason why a document is not even read, or None."""
    if item.doc_id in run.seen:
        return Refusal(item.doc_id, "duplicate_id", "another document of this run has the same id")
    run.seen.add(item.doc_id)
    if unmarked(run.pulled.get(item.doc_id, ("", ""))[0])[0] == item.stamp:
        return _out(item.doc_id)
    known = run.known.get(item.doc_id)
    if known and known[0] != item.root and known[0] not in run.roots and Path(known[0]).exists():
        return Refusal(item.doc_id, "duplicate_id", f"the id is taken by a document ingested from {known[0]}")
    return None


def _out(doc_id: str) -> Refusal:
    reason = (
        "was removed by hand; it comes back when its content or its rights change, or by `attest documents restore`"
    )
    return Refusal(doc_id, "removed", reason)


def _is_wider(before: tuple[str, ...] | None, after: tuple[str, ...] | None) -> bool:
    """True if someone may read the document now who could not before."""
    return before is not None and (after is None or not set(after) <= set(before))


def _flush(target: IngestTarget, run: _Run) -> None:
    if run.pending:
        _leave_out(run, set(target.pulled()) - set(run.pulled))
        target.put(run.pending)
        run.pending.clear()
    if run.touched:
        target.touch(run.touched)
        run.touched.clear()


def _leave_out(run: _Run, pulled_meanwhile: set[str]) -> None:
    """Drop from the run what a person removed since it began, although it was read before."""
    for document, _, _, _ in [item for item in run.pending if item[0].doc_id in pulled_meanwhile]:
        run.refused.append(_out(document.doc_id))
        if run.rechunked.pop(document.doc_id, None) is not None:
            run.unchanged -= 1
        elif document.doc_id in run.known:
            run.changed -= 1
        else:
            run.added -= 1
    run.changes[:] = [change for change in run.changes if change[1] not in pulled_meanwhile]
    run.pending[:] = [item for item in run.pending if item[0].doc_id not in pulled_meanwhile]


def _gone(run: _Run, paths: Sequence[Path]) -> list[str]:
    """Live documents of the given roots that were not found again. A document that is refused now is gone too: what it said before may no
    longer be true.
    """
    folders = {str(path.resolve()) for path in paths if path.is_dir() or path.suffix == ".jsonl"}
    scope = folders | (run.roots & {root for root in run.roots if Path(root).suffix == ".jsonl"})
    return [doc_id for doc_id, (root, _, _) in run.known.items() if root in scope and doc_id not in run.kept]
