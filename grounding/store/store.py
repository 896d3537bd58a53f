"""Store of record: SQLite through SQLAlchemy. Documents, their versions, chunks, vectors. Every index is rebuilt from it.

Each method is one look at the file or one transaction; the statements are those of the repositories beside it (`documents`, `chunks`,
`vectors`, `meta`). A write of documents is one transaction, so a killed ingest leaves whole documents or none. `indexed` says whether
the word index has caught up with a document; what has not is done again, which is idempotent. `generation` counts commits that changed
what can be found; a running server follows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import sqlalchemy as sa

from grounding.records import Chunk, Document, DocumentInfo
from grounding.store.chunks import ChunkRow, Chunks
from grounding.store.connection import StoreFile
from grounding.store.documents import Documents, KnownDocument, mark
from grounding.store.meta import Meta
from grounding.store.vectors import ChunkVectors, VectorRow


class Store:
    """The store of record in one SQLite file. Safe for many readers and one writer; raises StoreError when it cannot be used."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = StoreFile(path)

    def close(self) -> None:
        """Close all connections."""
        self._file.close()

    # --- what stands

    def generation(self) -> int:
        """Number of commits that changed what can be found."""
        with self._file.reading() as db:
            return Meta(db).number("generation")

    def kb_version(self) -> str:
        """Version of the knowledge base: equal documents give equal versions, whatever their order."""
        with self._file.reading() as db:
            kept = Meta(db).values()
        return f"kb-{int(kept.get('digest', '0')):016x}-g{kept.get('generation', '0')}"

    def known(self) -> dict[str, KnownDocument]:
        """All live documents by id."""
        with self._file.reading() as db:
            return Documents(db).known()

    def pulled(self) -> dict[str, tuple[str, str]]:
        """doc_id to (stamp, version) of documents that a person removed."""
        with self._file.reading() as db:
            return Documents(db).pulled()

    def documents(self) -> tuple[DocumentInfo, ...]:
        """All live documents, sorted by id."""
        with self._file.reading() as db:
            return Documents(db).live()

    def document(self, doc_id: str, version: str | None = None) -> Document | None:
        """The document at `version`, also when it is no longer live; without `version` only if it is live."""
        with self._file.reading() as db:
            documents = Documents(db)
            wanted = documents.version_of(doc_id, live=True) if version is None else version
            return documents.at(doc_id, wanted)

    def last(self, doc_id: str) -> Document | None:
        """The document as it is, or as it was when it was taken out."""
        with self._file.reading() as db:
            documents = Documents(db)
            return documents.at(doc_id, documents.version_of(doc_id, live=False))

    def counts(self) -> tuple[int, int]:
        """Number of live documents and of live chunks."""
        with self._file.reading() as db:
            return Documents(db).counts()

    def text_size(self) -> tuple[int, int]:
        """Characters of the texts of all live chunks, and the number of these."""
        with self._file.reading() as db:
            return Chunks(db).size()

    def rows(self, pks: Sequence[int]) -> dict[int, ChunkRow]:
        """Live chunks by primary key; what was deleted meanwhile is left out."""
        with self._file.reading() as db:
            return Chunks(db).by_pk(pks)

    def unindexed(self) -> list[str]:
        """Ids of documents that the word index has not caught up with, live or gone."""
        with self._file.reading() as db:
            return Documents(db).unindexed()

    def indexed_chunks(self) -> int:
        """Number of live chunks that the word index should hold."""
        with self._file.reading() as db:
            return Documents(db).indexed_chunks()

    def chunks_of(self, doc_ids: Sequence[str]) -> list[ChunkRow]:
        """Live chunks of these documents."""
        with self._file.reading() as db:
            return Chunks(db).of_documents(doc_ids)

    # --- changes

    def touch(self, stamps: Mapping[str, str]) -> None:
        """Keep new stamps of documents whose content did not change."""
        with self._file.writing() as db:
            Documents(db).touch(stamps)

    def put(self, items: Sequence[tuple[Document, tuple[Chunk, ...], str, str]]) -> None:
        """Insert or replace documents, given as (document, chunks, root, stamp), all in one transaction."""
        if not items:
            return
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with self._file.writing() as db:
            digest = _forget(db, [d.doc_id for d, _, _, _ in items])
            for d, _, _, _ in items:
                digest ^= mark(d.doc_id, d.version)
            Documents(db).replace(items, now)
            pieces = [c for _, chunks, _, _ in items for c in chunks]
            if pieces:
                ChunkVectors(db).chunks_came(Chunks(db).add(pieces))
            _advance(db, digest)

    def drop(self, doc_ids: Sequence[str], *, pulled: bool = False) -> None:
        """Take documents out of every answer. Their versions stay for replay. `pulled`: a person removed them."""
        if not doc_ids:
            return
        with self._file.writing() as db:
            digest = _forget(db, doc_ids)
            Documents(db).take_out(doc_ids, pulled=pulled)
            _advance(db, digest)

    def mark_indexed(self, doc_ids: Sequence[str]) -> None:
        """Mark these documents as indexed by the word index as they are; a running server may look."""
        with self._file.writing() as db:
            Documents(db).mark_indexed(doc_ids)
            Meta(db).bump()

    def mark_all_unindexed(self) -> None:
        """Mark all documents as not indexed: the word index is gone or of another form."""
        with self._file.writing() as db:
            Documents(db).mark_all_unindexed()

    # --- vectors

    def without_vectors(self, fingerprint: str) -> list[tuple[str, str]]:
        """(chunk_id, text with its title) of live chunks that have no vector of this model yet."""
        with self._file.reading() as db:
            return ChunkVectors(db).missing(fingerprint)

    def chunks_without_vector(self) -> int:
        """Number of live chunks that have no vector of any model."""
        with self._file.reading() as db:
            return ChunkVectors(db).missing_of_any()

    def put_vectors(self, fingerprint: str, vectors: Sequence[tuple[str, bytes]]) -> None:
        """Insert vectors of this model, given as (chunk_id, float16 bytes)."""
        with self._file.writing() as db:
            ChunkVectors(db).put(fingerprint, vectors)
            Meta(db).bump()

    def changes_until(self) -> int:
        """Number of the newest change that an index of vectors has to follow; 0 if there was none."""
        with self._file.reading() as db:
            return ChunkVectors(db).changes_until()

    def vector_rows(self, fingerprint: str, after: int | None = None, until: int = 0) -> Iterator[list[VectorRow]]:
        """Live chunks that have a vector of this model, by rising primary key, in parts of 10,000.

        All of them, or those that changes number `after` + 1 to `until` speak of.
        """
        with self._file.reading() as db:
            yield from ChunkVectors(db).rows(fingerprint, after, until)

    def vector_keys(self, fingerprint: str) -> list[int]:
        """Primary keys of live chunks that have a vector of this model."""
        return [row.pk for part in self.vector_rows(fingerprint) for row in part]

    def vector_count(self, fingerprint: str) -> int:
        """Number of vectors of this model, also of chunks that are gone."""
        with self._file.reading() as db:
            return ChunkVectors(db).count(fingerprint)

    def vectors_of(self, fingerprint: str, pks: Sequence[int]) -> dict[int, bytes]:
        """Vectors of these chunks as float16 bytes, by primary key, for chunks that have one."""
        with self._file.reading() as db:
            return ChunkVectors(db).by_pk(fingerprint, pks)

    def gone_chunks(self, after: int, until: int) -> list[int]:
        """Primary keys of chunks deleted by changes number `after` + 1 to `until`."""
        with self._file.reading() as db:
            return ChunkVectors(db).gone(after, until)

    def vector_mark(self, fingerprint: str) -> str | None:
        """Name of the saved index of vectors that belongs to this store; None if there is none."""
        with self._file.reading() as db:
            return ChunkVectors(db).saved_index(fingerprint)

    def set_vector_mark(self, fingerprint: str, mark: str) -> None:
        """Set the name of the saved index of vectors that belongs to this store; running servers look at their next search."""
        with self._file.writing() as db:
            ChunkVectors(db).name_saved_index(fingerprint, mark)
            Meta(db).bump()


def _forget(db: sa.Connection, doc_ids: Sequence[str]) -> int:
    """Delete the chunks of documents and take the marks of those that are live out of the digest, which is returned."""
    ChunkVectors(db).chunks_go(doc_ids)
    Chunks(db).delete(doc_ids)
    return Meta(db).number("digest") ^ Documents(db).marks(doc_ids)


def _advance(db: sa.Connection, digest: int) -> None:
    """Store the new digest and count the commit."""
    meta = Meta(db)
    meta.put("digest", str(digest))
    meta.bump()
