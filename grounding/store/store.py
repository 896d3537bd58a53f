"""Store of record: SQLite, or a PostgreSQL that many share, through SQLAlchemy. Documents, their versions, chunks, vectors. Every index is rebuilt from it.

Each method is one look at the database or one transaction; the statements are those of the repositories beside it (`documents`, `chunks`,
`vectors`, `meta`), and what the two databases have of their own is in `databases`. A write of documents is one transaction, so a killed
ingest leaves whole documents or none. What the word index has not caught up with is done again, which is idempotent. `generation` counts
commits that changed what can be found; a running server follows it.

How far an index in a folder has followed the store is a matter of that folder. A file has one, and says it itself; beside a shared store it is noted in the folder.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from threading import Lock

import sqlalchemy as sa

from grounding.ingest.runs import LEASE_S, Lease
from grounding.records import Chunk, Document, DocumentInfo
from grounding.store.chunks import ChunkRow, Chunks
from grounding.store.databases.places import Place, opened
from grounding.store.documents import Documents, KnownDocument, Unindexed, mark
from grounding.store.meta import Meta
from grounding.store.once import once
from grounding.store.outbox import Outbox, Waiting
from grounding.store.runs import SharedRuns, note_result, require
from grounding.store.vectors import ChunkVectors, VectorRow

_WORDS = "words"
"""The note on the word index."""


class Store:
    """The store of record at `place`: one SQLite file, made if it is not there, or a PostgreSQL database whose owner has made the tables. `folder`: where the indexes
    of a shared store lie, of this program alone; those of a file lie beside it.

    Safe for many readers and writers, of whom one at a time writes. Raises StoreError when it cannot be used; a connection that was lost is made
    anew some times. Where the answer to a commit was lost (ConnectionLost) nobody knows whether it is stored, and doing the same again is right.
    """

    def __init__(self, place: Place, folder: Path | None = None) -> None:
        self.place = place
        self._database = opened(place, folder)
        self._notes = self._database.notes
        self.folder = self._database.folder
        """Where the indexes lie."""
        self._asked, self._newest, self._noting = count(1), (0, 0), Lock()

    @property
    def is_shared(self) -> bool:
        """True if other machines may write to it."""
        return self._notes is not None

    def close(self) -> None:
        """Close all connections."""
        self._database.close()

    def refuse_another(self) -> None:
        """Raises StoreError if an older state of a shared store was put back since it was opened: indexes followed what is no longer there."""
        self._database.refuse_another()

    # --- what stands

    def generation(self) -> int:
        """Number of commits that changed what can be found; within `asked_once` as it was asked for last, by whomever."""
        return once(self, self._ask_generation, lambda: self._newest[1])

    def _ask_generation(self) -> int:
        asked = next(self._asked)  # of two that ask at the same time the later has the newer
        found = self._database.ask(lambda db: Meta(db).number("generation"))
        with self._noting:
            self._newest = max(self._newest, (asked, found))
        return found

    def kb_version(self) -> str:
        """Version of the knowledge base: equal documents give equal versions, whatever their order."""
        kept = self._database.ask(lambda db: Meta(db).values())
        return f"kb-{int(kept.get('digest', '0')):016x}-g{kept.get('generation', '0')}"

    def known(self, doc_ids: Sequence[str] | None = None) -> dict[str, KnownDocument]:
        """All live documents by id, or those of these."""
        return self._database.read(lambda db: Documents(db).known(doc_ids))

    def pulled(self) -> dict[str, tuple[str, str]]:
        """doc_id to (stamp, version) of documents that a person removed."""
        return self._database.read(lambda db: Documents(db).pulled())

    def documents(self) -> tuple[DocumentInfo, ...]:
        """All live documents, sorted by id."""
        return self._database.read(lambda db: Documents(db).live())

    def document(self, doc_id: str, version: str | None = None) -> Document | None:
        """The document at `version`, also when it is no longer live; without `version` only if it is live."""

        def look(db: sa.Connection) -> Document | None:
            documents = Documents(db)
            return documents.at(doc_id, documents.version_of(doc_id, live=True) if version is None else version)

        return self._database.read(look)

    def last(self, doc_id: str) -> Document | None:
        """The document as it is, or as it was when it was taken out."""

        def look(db: sa.Connection) -> Document | None:
            documents = Documents(db)
            return documents.at(doc_id, documents.version_of(doc_id, live=False))

        return self._database.read(look)

    def counts(self) -> tuple[int, int]:
        """Number of live documents and of live chunks."""
        return self._database.read(lambda db: Documents(db).counts())

    def text_size(self) -> tuple[int, int]:
        """Characters of the texts of all live chunks, and the number of these."""
        return self._database.read(lambda db: Chunks(db).size())

    def rows(self, pks: Sequence[int]) -> dict[int, ChunkRow]:
        """Live chunks by primary key; what was deleted meanwhile is left out."""
        return self._database.ask(lambda db: Chunks(db).by_pk(pks))

    def chunks_of(self, doc_ids: Sequence[str]) -> list[ChunkRow]:
        """Live chunks of these documents."""
        return self._database.read(lambda db: Chunks(db).of_documents(doc_ids))

    # --- changes

    def runs(self, lease_s: float = LEASE_S) -> SharedRuns:
        """The planned runs beside the store. `lease_s`: seconds that a lease holds. What is written under a lease raises LeaseLost where that was outbid."""
        return SharedRuns(self._database, lease_s)

    def touch(self, stamps: Mapping[str, str], lease: Lease | None = None) -> None:
        """Keep new stamps of documents whose content did not change."""

        def work(db: sa.Connection) -> None:
            _require(db, lease)
            Documents(db).touch(stamps)

        self._database.write(work)

    def put(
        self,
        items: Sequence[tuple[Document, tuple[Chunk, ...], str, str]],
        lease: Lease | None = None,
        result: str = "",
        *,
        pulled: Collection[str] | None = None,
    ) -> set[str]:
        """Insert or replace documents, given as (document, chunks, root, stamp), all in one transaction. `result`: what becomes of the batch under `lease`, kept with
        them. `pulled`: what a person had removed when they were read, None if that is no matter; if one of them was removed since, nothing is written, and those that
        were are returned.
        """
        if not items:
            return set()
        doc_ids = [d.doc_id for d, _, _, _ in items]
        now = datetime.now(UTC).isoformat(timespec="seconds")
        pieces = [c for _, chunks, _, _ in items for c in chunks]

        def work(db: sa.Connection) -> set[str]:
            if pulled is not None and (since := Documents(db).pulled_of(doc_ids).difference(pulled)):
                return since
            _require(db, lease, result)
            digest = _forget(db, doc_ids)
            for d, _, _, _ in items:
                digest ^= mark(d.doc_id, d.version)
            Documents(db).replace(items, now)
            if pieces:
                ChunkVectors(db).chunks_came(Chunks(db).add(pieces))
                Outbox(db).documents_change(doc_ids)
            _advance(db, digest)
            return set()

        return self._database.write(work)

    def drop(self, doc_ids: Sequence[str], *, pulled: bool = False, lease: Lease | None = None) -> None:
        """Take documents out of every answer. Their versions stay for replay. `pulled`: a person removed them."""
        if not doc_ids:
            return

        def work(db: sa.Connection) -> None:
            _require(db, lease)
            digest = _forget(db, doc_ids)
            Documents(db).take_out(doc_ids, pulled=pulled)
            _advance(db, digest)

        self._database.write(work)

    # --- the word index

    def unindexed(self) -> list[Unindexed]:
        """Documents that the word index in the folder has not caught up with, live or gone, in the order in which it should."""
        return self._database.read(lambda db: Documents(db).unindexed(self._followed(db)))

    def indexed_chunks(self) -> int:
        """Number of live chunks that the word index should hold."""
        return self._database.read(lambda db: Documents(db).indexed_chunks(self._followed(db)))

    def words_are_foreign(self) -> bool:
        """True if nothing is known of what the word index in the folder has followed: then it may hold what this store never had."""
        return self._notes is not None and self._database.read(self._followed) == 0

    def mark_indexed(self, done: Sequence[Unindexed]) -> None:
        """Mark these documents, the first of those that are unindexed, as indexed as they were then; a running server may look."""
        if self._notes is not None and done:
            self._notes.put(_WORDS, str(done[-1].change))

        def work(db: sa.Connection) -> None:
            if self._notes is None:
                Documents(db).mark_indexed(done)
            Meta(db).bump()

        self._database.write(work)

    def mark_all_unindexed(self) -> None:
        """Mark all documents as not indexed: the word index is gone or of another form."""
        if self._notes is None:
            self._database.write(lambda db: Documents(db).mark_all_unindexed())
        else:
            self._notes.put(_WORDS, "0")

    def _followed(self, db: sa.Connection) -> int | None:
        """Number of the newest change of a document that the word index in the folder has; None where marks in the table say it. One that is yet to come is of a
        store that was put back to what it was earlier.
        """
        if self._notes is None:
            return None
        noted = int(self._notes.value(_WORDS) or 0)
        return noted if noted <= Documents(db).newest_change() else 0

    # --- vectors

    def without_vectors(self, fingerprint: str, doc_ids: Sequence[str] | None = None) -> list[tuple[str, str]]:
        """(chunk_id, text with its title) of live chunks that have no vector of this model yet, of these documents alone where they are named."""
        return self._database.read(lambda db: ChunkVectors(db).missing(fingerprint, doc_ids))

    def documents_without_vectors(self, fingerprint: str) -> set[str]:
        """Ids of live documents of which a chunk has no vector of this model yet."""
        return self._database.read(lambda db: ChunkVectors(db).documents_without(fingerprint))

    def chunks_without_vector(self) -> int:
        """Number of live chunks that have no vector of any model."""
        return self._database.read(lambda db: ChunkVectors(db).missing_of_any())

    def put_vectors(self, fingerprint: str, vectors: Sequence[tuple[str, bytes]], lease: Lease | None = None) -> None:
        """Insert vectors of this model, given as (chunk_id, float16 bytes)."""

        def work(db: sa.Connection) -> None:
            _require(db, lease)
            ChunkVectors(db).put(fingerprint, vectors)
            Outbox(db).chunks_change([chunk_id for chunk_id, _ in vectors])
            Meta(db).bump()

        self._database.write(work)

    def embedding_jobs(self, fingerprint: str) -> dict[str, str]:
        """The jobs that are noted to embed for this model: ids by their tokens, empty for one whose id is not known."""
        return self._database.read(lambda db: ChunkVectors(db).jobs(fingerprint))

    def note_embedding_job(self, fingerprint: str, token: str, job: str | None) -> None:
        """Note a job that embeds for this model; None: it is noted no more. Others may note theirs at the same time."""
        self._database.write(lambda db: ChunkVectors(db).note_job(fingerprint, token, job))

    def changes_until(self) -> int:
        """Number of the newest change that an index of vectors has to follow; 0 if there was none."""
        return self._database.read(lambda db: ChunkVectors(db).changes_until())

    def vector_rows(self, fingerprint: str, after: int | None = None, until: int = 0) -> Iterator[list[VectorRow]]:
        """Live chunks that have a vector of this model, by rising primary key, in parts of 10,000.

        All of them, or those that changes number `after` + 1 to `until` speak of.
        """
        with self._database.reading() as db:
            yield from ChunkVectors(db).rows(fingerprint, after, until)

    def vector_keys(self, fingerprint: str) -> list[int]:
        """Primary keys of live chunks that have a vector of this model."""
        return [row.pk for part in self.vector_rows(fingerprint) for row in part]

    def vector_count(self, fingerprint: str) -> int:
        """Number of vectors of this model, also of chunks that are gone."""
        return self._database.read(lambda db: ChunkVectors(db).count(fingerprint))

    def vectors_of(self, fingerprint: str, pks: Sequence[int]) -> dict[int, bytes]:
        """Vectors of these chunks as float16 bytes, by primary key, for chunks that have one."""
        return self._database.read(lambda db: ChunkVectors(db).by_pk(fingerprint, pks))

    def gone_chunks(self, after: int, until: int) -> list[int]:
        """Primary keys of chunks deleted by changes number `after` + 1 to `until`."""
        return self._database.read(lambda db: ChunkVectors(db).gone(after, until))

    def vector_mark(self, fingerprint: str) -> str | None:
        """Name of the saved index of vectors in the folder that belongs to this store; None if there is none."""
        if self._notes is not None:
            return self._notes.value(fingerprint)
        return self._database.read(lambda db: ChunkVectors(db).saved_index(fingerprint))

    def set_vector_mark(self, fingerprint: str, mark: str) -> None:
        """Set the name of the saved index of vectors in the folder that belongs to this store; running servers look at their next search."""
        if self._notes is not None:
            self._notes.put(fingerprint, mark)

        def work(db: sa.Connection) -> None:
            if self._notes is None:
                ChunkVectors(db).name_saved_index(fingerprint, mark)
            Meta(db).bump()

        self._database.write(work)

    # --- an index elsewhere

    def in_step(self) -> tuple[str | None, int]:
        """The mark of the index elsewhere that is told of each change, None if there is none, and the number of the newest change that it has yet to be told of."""
        return self._database.read(lambda db: (Outbox(db).mark(), Outbox(db).until()))

    def step_with(self, mark: str) -> None:
        """Note each change from now on for the index elsewhere under `mark`, and forget what waited for another."""
        self._database.write(lambda db: Outbox(db).begin(mark))

    def stay_in_step_with(self, mark: str) -> None:
        """The index elsewhere that is told of each change is under `mark` from now on; what waits for it still does."""
        self._database.write(lambda db: Outbox(db).go_on(mark))

    def out_of_step(self) -> None:
        """No index elsewhere is told of changes until one is compared in whole."""
        self._database.write(lambda db: Outbox(db).end())

    def untold(self, after: int, until: int, count: int) -> list[Waiting]:
        """At most `count` of the passages that the index elsewhere has yet to be told of since changes number `after` + 1 to `until`, in the order of these."""
        return self._database.read(lambda db: Outbox(db).waiting(after, until, count))

    def untold_of(self, doc_ids: Sequence[str], until: int) -> list[str]:
        """Ids of the passages of these documents, live or gone, of which the index elsewhere has yet to be told since changes up to number `until`."""
        return self._database.read(lambda db: Outbox(db).waiting_of(doc_ids, until))

    def told(self, until: int, doc_ids: Sequence[str] | None = None) -> None:
        """Forget what the index elsewhere was told: changes up to number `until`, of these documents alone where they are named."""
        self._database.write(lambda db: Outbox(db).done(until, doc_ids))


def _require(db: sa.Connection, lease: Lease | None, result: str = "") -> None:
    """Raises LeaseLost unless what is written is nobody's, or that of the newest lease, whose batch gets a `result`."""
    if lease is not None:
        require(db, lease)
        if result:
            note_result(db, lease, result)


def _forget(db: sa.Connection, doc_ids: Sequence[str]) -> int:
    """Delete the chunks of documents and take the marks of those that are live out of the digest, which is returned."""
    Outbox(db).documents_change(doc_ids)
    ChunkVectors(db).chunks_go(doc_ids)
    Chunks(db).delete(doc_ids)
    return Meta(db).number("digest") ^ Documents(db).marks(doc_ids)


def _advance(db: sa.Connection, digest: int) -> None:
    """Store the new digest and count the commit."""
    meta = Meta(db)
    meta.put("digest", str(digest))
    meta.bump()
