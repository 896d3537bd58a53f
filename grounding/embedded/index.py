"""The embedded index as ingest writes it: store of record, word index and vectors in one folder, under one writer's lock."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import logging
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import IO

from grounding.database.postgres import Postgres
from grounding.embedded.hypotheticals import fingerprints
from grounding.embedded.indexes.vector_index import approximate, is_behind, path_beside
from grounding.embedded.indexes.word_index import DamagedWordsError, WordIndex
from grounding.embedded.vectors.fill_by_jobs import fill_by_jobs
from grounding.embedded.vectors.fill_vectors import fill
from grounding.errors import StoreError
from grounding.ingest.runs import Lease
from grounding.ports import Embedder
from grounding.records import Chunk, Document, DocumentInfo
from grounding.services.embedding_jobs import EmbeddingJobs
from grounding.store.chunks import embedding_text
from grounding.store.history import StoreHistory
from grounding.store.store import Store
from grounding.store.store_reader import StoreReader

LOG = logging.getLogger("attest")
_WORDS_BATCH = 2000
_AT_WORK = "another ingest is at work on this knowledge base; wait for it to end"
LOCK_WAIT_S = 15.0
"""Seconds that an ingest waits for a server of this machine whose indexes follow a shared store: it writes what is new and no more."""


class EmbeddedIndex:
    """The embedded knowledge base over `folder`, as ingest's target (IngestTarget) and as Library. Opening never changes what stands there.

    `shared`: the database that the store lies in, of which the folder has the indexes alone; None for a file beside them. `at_once`: batches of passages that
    are embedded at the same time; `jobs`: a service that embeds them within a day, in place of at once.
    """

    def __init__(
        self,
        folder: Path,
        embedder: Embedder | None,
        shared: Postgres | None = None,
        *,
        at_once: int = 1,
        jobs: EmbeddingJobs | None = None,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)  # restricted documents lie in it
        self.store = Store(folder / "store.db" if shared is None else shared, folder)
        self.past = StoreHistory(self.store.place)
        self.words = WordIndex(folder / "words")
        self._embedder, self._at_once, self._jobs = embedder, at_once, jobs
        self._lock_path = folder / "ingest.lock"
        self._wait_s = 0.0 if shared is None else LOCK_WAIT_S
        self._kept_up = -1
        self._stack = contextlib.ExitStack()

    def close(self) -> None:
        """Release the lock, if held, and the store."""
        self._stack.close()
        self.store.close()

    # --- what ingest needs

    def lock(self, wait_s: float | None = None) -> None:
        """Take the writer's lock until `unlock`, waited for `wait_s` seconds, or as long as is usual. The kernel drops the lock of a killed process. Raises StoreError."""
        self._lock(self._wait_s if wait_s is None else wait_s)

    def _lock(self, wait_s: float) -> None:
        handle = self._stack.enter_context(self._lock_path.open("w"))
        until = time.monotonic() + wait_s
        while not _locked(handle):
            if time.monotonic() >= until:
                handle.close()
                raise StoreError(_AT_WORK)
            time.sleep(0.1)
        if self.words.count() and self.store.words_are_foreign():
            self.words.clear()
        if self.words_lost():
            self.store.mark_all_unindexed()
            self.words.fresh = False  # from now on the marks say what it lacks

    def words_lost(self) -> bool:
        """True if the word index holds nothing of what the store believes to be in it. Whoever opened a lost index made
        an empty one in its place, and may have been killed before it was filled.
        """
        return self.words.fresh or (self.words.count() == 0 and self.store.indexed_chunks() > 0)

    def finish(self) -> bool:
        """Complete what a killed ingest left: index what it stored and did not index, make again a word index or vector codes that were
        lost. True if there was anything.

        For whoever only reads. While an ingest is at work, that is its own to do.
        """
        lost = self.counts()[0] > 0 and self.words_lost()
        behind = bool(self._codes_behind())
        if not (lost or behind or self.store.unindexed()):
            return False
        if lost and self.store.is_shared:
            LOG.info("there is no word index on this machine yet: building it from the store")
        elif lost:
            LOG.warning("the word index is missing: building it again from the store")
        try:
            self._lock(0.0)
        except StoreError:
            return False
        try:
            self.catch_up(lambda *_: None)
            if behind:
                LOG.warning("the file of vector codes is missing or behind: building it again from the store")
                self.follow_vectors()
        finally:
            self.unlock()
        return True

    def keep_up(self) -> bool:
        """Bring the word index and the vector codes up to a store that others write to, if that changed since this was last done. True if there was anything. Raises
        StoreError.

        Removals and narrower rights need not wait for this: the store is asked about each passage that is found.
        """
        generation = self.store.generation()
        if generation == self._kept_up:
            return False
        self.store.refuse_another()
        self.words.reload()  # another process of this machine may have been faster
        done = self.finish()
        if not self.store.unindexed():
            self._kept_up = generation
        return done

    def rebuild(self, on_done: Callable[[int, int], None]) -> None:
        """Delete the word index and make it again from the store, under the lock. If killed, the next ingest goes on."""
        self.store.mark_all_unindexed()
        self.words.clear()
        self.words.fresh = False
        self._catch_up(on_done)

    def unlock(self) -> None:
        """Release the writer's lock."""
        self._stack.close()

    def stamps(self, doc_ids: Sequence[str] | None = None) -> dict[str, tuple[str, str, str]]:
        """doc_id to (root, stamp, version) of every live document, or of these."""
        return {doc_id: (k.root, k.stamp, k.version) for doc_id, k in self.store.known(doc_ids).items()}

    def readers(self, doc_id: str) -> tuple[str, ...] | None:
        """Groups that may read a live document; None is everyone."""
        document = self.store.document(doc_id)
        return document.groups if document else ()

    def pulled(self) -> dict[str, tuple[str, str]]:
        """doc_id to (stamp, version) of documents that a person removed."""
        return self.store.pulled()

    def removed(self, doc_id: str) -> tuple[Document, str, str] | None:
        """A document that was taken out, with its root and stamp."""
        found = self.past.tombstone(doc_id)
        document = self.store.document(doc_id, found.version) if found else None
        return (document, found.root, found.stamp) if found and document else None

    def put(
        self,
        items: Sequence[tuple[Document, tuple[Chunk, ...], str, str]],
        lease: Lease | None = None,
        result: str = "",
        *,
        pulled: Collection[str] | None = None,
    ) -> set[str]:
        """Insert or replace documents, each with its chunks, root and stamp, in one transaction. `lease`: of the batch of a planned run that they are of, `result`: what
        becomes of that. `pulled`: what a person had removed when they were read; if one was removed since, nothing is written, and those that were are returned.
        """
        with self.beside_others(lease):
            return self.store.put(items, lease, result, pulled=pulled)

    def touch(self, stamps: dict[str, str], lease: Lease | None = None) -> None:
        """Keep new stamps of documents that did not change otherwise."""
        self.store.touch(stamps, lease)

    def drop(self, doc_ids: Sequence[str], lease: Lease | None = None) -> None:
        """Delete documents, in one transaction."""
        self.store.drop(doc_ids, lease=lease)

    @contextlib.contextmanager
    def beside_others(self, lease: Lease | None) -> Iterator[None]:
        """What is written by one of several that take part in a run, who have no lock: not while the word index of a file catches up, whose marks would then be wrong."""
        if lease is None or self.store.is_shared:
            yield
            return
        with self._lock_path.open("w") as handle:
            until = time.monotonic() + LOCK_WAIT_S
            while not _locked(handle, fcntl.LOCK_SH):
                if time.monotonic() >= until:
                    raise StoreError(_AT_WORK)
                time.sleep(0.1)
            yield

    def catch_up(self, on_done: Callable[[int, int], None]) -> None:
        """Bring the word index up to what the store holds; one that is damaged is made again."""
        try:
            self._catch_up(on_done)
        except DamagedWordsError as error:
            LOG.warning("%s: building it again from the store", error)
            self.rebuild(on_done)

    def _catch_up(self, on_done: Callable[[int, int], None]) -> None:
        pending = self.store.unindexed()
        for begin in range(0, len(pending), _WORDS_BATCH):
            part = pending[begin : begin + _WORDS_BATCH]
            ids = [document.doc_id for document in part]
            self.words.replace(ids, self.store.chunks_of(ids))
            self.store.mark_indexed(part)
            on_done(min(begin + _WORDS_BATCH, len(pending)), len(pending))

    def chunks_without_vector(self) -> tuple[int, int]:
        """Number of live chunks without a vector of the embedding model in use, and how many of them have one of another; 0, 0 without a
        model.
        """
        return (
            StoreReader(self.store.place).chunks_without_vector(self._embedder.fingerprint)
            if self._embedder
            else (0, 0)
        )

    def unembedded(self, chunks: Sequence[tuple[str, Chunk]]) -> list[str]:
        """Of these chunks, each with the title of its document, those without a vector of the model in use, as the texts that would be embedded; none
        without a model.
        """
        if self._embedder is None:
            return []
        ids = [chunk.chunk_id for _, chunk in chunks]
        held = StoreReader(self.store.place).vectors(self._embedder.fingerprint, ids)
        return [embedding_text(title, chunk.text) for title, chunk in chunks if chunk.chunk_id not in held]

    def waiting(self, without: Collection[str]) -> list[str]:
        """Texts, as they are embedded, of live chunks without a vector, those of the documents `without` left out; none without a model."""
        if self._embedder is None:
            return []
        bare = self.store.without_vectors(self._embedder.fingerprint)
        held = StoreReader(self.store.place).rows([chunk_id for chunk_id, _ in bare]) if without and bare else {}
        return [text for chunk_id, text in bare if chunk_id not in held or held[chunk_id].chunk.doc_id not in without]

    async def embed_missing(self, batch: int, on_done: Callable[[int, int], None]) -> int:
        """Embed every live chunk that has no vector; without a model nothing is done.

        Raises ServiceError for what a service did not embed; what it did is kept, and the next call does the rest.
        """
        if self._embedder is None:
            return 0
        made = 0
        try:
            if self._jobs is not None:
                made = await fill_by_jobs(self.store, self._embedder.fingerprint, self._jobs, on_done)
            # what a job left out, too long a text for one, goes as ever
            return made + await fill(
                self.store, self._embedder, batch, on_done, self.follow_vectors, at_once=self._at_once
            )
        finally:
            await asyncio.to_thread(self.follow_vectors)

    async def embed(self, doc_ids: Sequence[str], lease: Lease, batch: int) -> int:
        """Embed the chunks of these documents that have no vector, written under `lease`; returns how many were made. Raises ServiceError."""
        if self._embedder is None or self._jobs is not None:  # jobs take all that is missing, at the end of the run
            return 0
        nothing: Callable[..., None] = lambda *_: None  # noqa: E731 - the codes follow at the end of the run
        return await fill(
            self.store,
            self._embedder,
            batch,
            nothing,
            nothing,
            at_once=self._at_once,
            doc_ids=doc_ids,
            lease=lease,
        )

    def vectors(self) -> int:
        """Number of vectors of the embedding model in use, also of chunks that are gone; 0 without a model."""
        return self.store.vector_count(self._embedder.fingerprint) if self._embedder else 0

    def bare(self) -> set[str]:
        """Ids of live documents of which a chunk has no vector of the embedding model in use; none without a model."""
        return self.store.documents_without_vectors(self._embedder.fingerprint) if self._embedder else set()

    def follow_vectors(self) -> float | None:
        """Write the file of vector codes where it is missing, damaged or far behind the store.

        Returns the recall measured against exact search; None if there was nothing to do. A minute at a million vectors.
        """
        first: float | None = None
        width = self._embedder.width if self._embedder else 0
        for fingerprint, path in self._codes_behind():
            recall: float | None = approximate().build(self.store, fingerprint, width, path)
            if recall is not None:
                LOG.info("approximate vectors written: recall@50 %.3f of exact search over 200 sampled queries", recall)
            first = recall if first is None else first
        return first

    def _codes_behind(self) -> list[tuple[str, Path]]:
        """Fingerprint and file of the vector codes that have to be written, the passages' own first."""
        if self._embedder is None:
            return []
        own, width = self._embedder.fingerprint, self._embedder.width
        files = [(name, path_beside(self.store, name)) for name in (own, *fingerprints(own))]
        return [(name, path) for name, path in files if is_behind(self.store, name, width, path)]

    def counts(self) -> tuple[int, int]:
        """Number of live documents and of live chunks."""
        return self.store.counts()

    def kb_version(self) -> str:
        """Version of the knowledge base: equal where its content is."""
        return self.store.kb_version()

    # --- Library

    async def documents(self) -> tuple[DocumentInfo, ...]:
        """Every live document."""
        return await asyncio.to_thread(self.store.documents)

    async def document(self, doc_id: str, version: str | None = None) -> Document | None:
        """The document now, or as it stood at `version`."""
        return await asyncio.to_thread(self.store.document, doc_id, version)

    async def last(self, doc_id: str) -> Document | None:
        """The document as it is, or as it was when it was taken out."""
        return await asyncio.to_thread(self.store.last, doc_id)

    async def remove(self, doc_id: str) -> bool:
        """Take one document out at once; it stays out until its file or its rights change."""
        if doc_id not in await asyncio.to_thread(self.store.known):
            return False
        await asyncio.to_thread(self.store.drop, [doc_id], pulled=True)
        return True


def _locked(handle: IO[str], kind: int = fcntl.LOCK_EX) -> bool:
    """True if the lock of the file is ours now."""
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
