"""Incremental ingest: what was added, changed or deleted under the given paths, and nothing else, becomes searchable.

The order makes every kill harmless: documents are committed to the store, then the word index catches up, then vectors
follow. What an earlier, killed run left behind is finished first. One ingest at a time; servers read meanwhile.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from grounding.chunk import split
from grounding.errors import InputError
from grounding.records import Chunk, Document, IngestReport, Progress, Refusal
from grounding.sources import SourceItem, find

_BATCH = 512
_VECTOR_BATCH = 64


class IngestTarget(Protocol):
    """What ingest needs of an index; the embedded one is `grounding.embedded.index.EmbeddedIndex`."""

    def lock(self) -> None:
        """Become the one writer. Raises StoreError if another is at work."""
        ...

    def stamps(self) -> dict[str, tuple[str, str, str]]:
        """doc_id to (root, stamp, version) of every live document."""
        ...

    def readers(self, doc_id: str) -> tuple[str, ...] | None:
        """Groups that may read a live document; None is everyone."""
        ...

    def pulled(self) -> dict[str, str]:
        """Stamp by id of documents that a person removed; they stay out until their stamp changes."""
        ...

    def put(self, items: Sequence[tuple[Document, tuple[Chunk, ...], str, str]]) -> None: ...
    def touch(self, stamps: dict[str, str]) -> None: ...
    def drop(self, doc_ids: Sequence[str]) -> None: ...

    def catch_up(self, on_done: Callable[[int, int], None]) -> None:
        """Bring the word index to what the store holds."""
        ...

    async def embed_missing(self, batch: int, on_done: Callable[[int, int], None]) -> int:
        """Give every chunk its vector; returns how many were made."""
        ...

    def counts(self) -> tuple[int, int]: ...
    def kb_version(self) -> str: ...


@dataclass(slots=True)
class _Run:
    """The tally of one run."""

    known: dict[str, tuple[str, str, str]]
    pulled: dict[str, str]
    seen: set[str] = field(default_factory=set)
    kept: set[str] = field(default_factory=set)
    roots: set[str] = field(default_factory=set)
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    refused: list[Refusal] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)
    pending: list[tuple[Document, tuple[Chunk, ...], str, str]] = field(default_factory=list)
    touched: dict[str, str] = field(default_factory=dict)


async def ingest(
    target: IngestTarget,
    paths: Sequence[Path],
    *,
    acl: Path | None = None,
    lexical_only: bool = False,
    chunk_tokens: tuple[int, int] = (100, 200),
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> IngestReport:
    """Make the knowledge base hold exactly what stands under `paths` now, besides what came from elsewhere.

    Deletions are scoped to the roots given: a file that is gone from a folder vanishes, other folders stay.
    Raises InputError for a path or metadata file that cannot be used, StoreError if another ingest is at work.
    """
    began = time.monotonic()
    await asyncio.to_thread(target.lock)
    await asyncio.to_thread(target.catch_up, lambda *_: None)
    run = _Run(await asyncio.to_thread(target.stamps), await asyncio.to_thread(target.pulled))
    await asyncio.to_thread(_read_all, target, run, find(paths, acl), chunk_tokens, on_progress)
    deleted = _gone(run, paths)
    await asyncio.to_thread(target.drop, deleted)
    await asyncio.to_thread(target.catch_up, lambda done, total: on_progress(Progress("words", done, total)))
    embedded = 0
    if not lexical_only:
        embedded = await target.embed_missing(
            _VECTOR_BATCH, lambda done, total: on_progress(Progress("vectors", done, total))
        )
    return IngestReport(
        added=run.added, changed=run.changed, unchanged=run.unchanged, deleted=len(deleted), refused=tuple(run.refused),
        chunks=target.counts()[1], embedded=embedded, kb_version=target.kb_version(), seconds=round(time.monotonic() - began, 3),
        opened=tuple(run.opened),
    )  # fmt: skip


def _read_all(
    target: IngestTarget,
    run: _Run,
    items: Iterable[SourceItem],
    chunk_tokens: tuple[int, int],
    on_progress: Callable[[Progress], None],
) -> None:
    for count, item in enumerate(items, 1):
        _take(target, run, item, chunk_tokens)
        if len(run.pending) >= _BATCH:
            _flush(target, run)
        if count % 20 == 0:
            on_progress(Progress("read", count, None))
    _flush(target, run)
    on_progress(Progress("read", len(run.seen), len(run.seen)))


def _take(target: IngestTarget, run: _Run, item: SourceItem, chunk_tokens: tuple[int, int]) -> None:
    run.roots.add(item.root)
    if item.doc_id in run.seen:
        run.refused.append(Refusal(item.doc_id, "duplicate_id", "another document of this run has the same id"))
        return
    run.seen.add(item.doc_id)
    if run.pulled.get(item.doc_id) == item.stamp:
        run.refused.append(
            Refusal(item.doc_id, "removed", "was removed by hand; it comes back when the file or its rights change")
        )
        return
    known = run.known.get(item.doc_id)
    if known and known[0] != item.root and known[0] not in run.roots and Path(known[0]).exists():
        run.refused.append(
            Refusal(item.doc_id, "duplicate_id", f"the id is taken by a document ingested from {known[0]}")
        )
        return
    if known and known[:2] == (item.root, item.stamp):
        run.unchanged += 1
        run.kept.add(item.doc_id)
        return
    try:
        document = item.load()
    except InputError as error:
        run.refused.append(Refusal(item.doc_id, error.code, str(error)))
        return
    run.kept.add(item.doc_id)
    if known and known[0] == item.root and known[2] == document.version:
        run.unchanged += 1
        run.touched[item.doc_id] = item.stamp
        return
    if known:
        run.changed += 1
        if _is_wider(target.readers(item.doc_id), document.groups):
            run.opened.append(item.doc_id)
    else:
        run.added += 1
    run.pending.append(
        (document, split(document, minimum=chunk_tokens[0], maximum=chunk_tokens[1]), item.root, item.stamp)
    )


def _is_wider(before: tuple[str, ...] | None, after: tuple[str, ...] | None) -> bool:
    """True if someone may read it now who could not before."""
    return before is not None and (after is None or not set(after) <= set(before))


def _flush(target: IngestTarget, run: _Run) -> None:
    if run.pending:
        target.put(run.pending)
        run.pending.clear()
    if run.touched:
        target.touch(run.touched)
        run.touched.clear()


def _gone(run: _Run, paths: Sequence[Path]) -> list[str]:
    """Live documents of the roots given that were not found again. A document that is refused now is gone too:
    what it said before may no longer be true.
    """
    folders = {str(path.resolve()) for path in paths if path.is_dir() or path.suffix == ".jsonl"}
    scope = folders | (run.roots & {root for root in run.roots if Path(root).suffix == ".jsonl"})
    return [doc_id for doc_id, (root, _, _) in run.known.items() if root in scope and doc_id not in run.kept]
