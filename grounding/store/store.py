"""The store of record: SQLite through SQLAlchemy. Documents, their versions, chunks, vectors. Every index is rebuilt from it.

A write of documents is one transaction, so a killed ingest leaves whole documents or none. `indexed` says whether the
word index has caught up with a document; what has not is done again, which is idempotent. `generation` counts commits
that changed what can be found; a running server follows it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.exc import DatabaseError, OperationalError

from grounding.errors import StoreError
from grounding.ingest.chunking import unmarked
from grounding.records import Chunk, Document, DocumentInfo
from grounding.store.rows import (
    KnownDocument,
    body,
    chunk_row,
    document,
    document_row,
    embedding_text,
    groups_of,
    mark,
    parts,
)
from grounding.store.statements import CHANGED, HAS_A_VECTOR, HAVE_VECTORS, ROWS_BY_PK, VECTOR_ROWS
from grounding.store.tables import CHANGES, CHUNKS, DOCUMENTS, META, METADATA, SCHEMA, VECTORS, VERSIONS, pragmas


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """A live chunk with what its document says about it."""

    pk: int
    chunk: Chunk
    title: str
    url: str | None
    groups: tuple[str, ...] | None
    product: str | None
    internal: bool
    updated: str | None
    version: str


class VectorRow(NamedTuple):
    """A live chunk's vector as float16 bytes, with the rights of its document: groups as JSON."""

    pk: int
    groups: str | None
    product: str | None
    vector: bytes


class Store:
    """One SQLite file. Safe for many readers and one writer; raises StoreError when it cannot be used."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._engine = sa.create_engine(f"sqlite:///{path}", connect_args={"timeout": 30, "check_same_thread": False})
        sa.event.listen(self._engine, "connect", pragmas)
        found = self._schema()
        if found in (None, "1"):  # the tables that 2 added are right when empty
            self._make_tables()
            found = self._schema()
        if found != str(SCHEMA):
            raise StoreError(
                f"the store has schema {found}, this program reads {SCHEMA}; ingest into a new ATTEST_HOME"
            )

    def _schema(self) -> str | None:
        """The number of the tables' form; None if there are none yet. Opening a store that is there waits for no writer."""
        try:
            with self._engine.connect() as db:
                return db.execute(sa.select(META.c.value).where(META.c.name == "schema")).scalar()
        except OperationalError:
            return None
        except DatabaseError as error:
            raise StoreError(f"the store cannot be read ({type(error.orig).__name__}: {error.orig})") from error

    def _make_tables(self) -> None:
        """Two programs may open a new home at once: whoever loses the race finds the tables made."""
        for last in (False, False, True):
            try:
                with self._writing() as db:
                    METADATA.create_all(db)
                    _put(db, "schema", str(SCHEMA))
            except StoreError:
                if last:
                    raise
                time.sleep(0.1)
            else:
                return

    def close(self) -> None:
        """Give every connection back."""
        self._engine.dispose()

    @contextmanager
    def _reading(self) -> Iterator[sa.Connection]:
        try:
            with self._engine.connect() as db:
                yield db
        except DatabaseError as error:
            raise StoreError(f"the store cannot be read ({type(error.orig).__name__}: {error.orig})") from error

    @contextmanager
    def _writing(self) -> Iterator[sa.Connection]:
        """One transaction that is the writer from its first look on: a digest that is read is not overtaken by another's."""
        try:
            with self._engine.begin() as db:
                db.exec_driver_sql("BEGIN IMMEDIATE")
                yield db
        except DatabaseError as error:
            raise StoreError(f"the store cannot be written ({type(error.orig).__name__}: {error.orig})") from error

    # --- what stands

    def generation(self) -> int:
        """Number of commits that changed what can be found."""
        with self._reading() as db:
            return int(db.execute(sa.select(META.c.value).where(META.c.name == "generation")).scalar() or 0)

    def kb_version(self) -> str:
        """Names the state of the knowledge base: equal documents give equal digests, whatever their order."""
        with self._reading() as db:
            rows = dict(db.execute(sa.select(META.c.name, META.c.value)).all())
        return f"kb-{int(rows.get('digest', '0')):016x}-g{rows.get('generation', '0')}"

    def known(self) -> dict[str, KnownDocument]:
        """Every live document by id."""
        query = sa.select(DOCUMENTS.c.doc_id, DOCUMENTS.c.root, DOCUMENTS.c.stamp, DOCUMENTS.c.version)
        with self._reading() as db:
            return {
                r.doc_id: KnownDocument(r.root, r.stamp, r.version) for r in db.execute(query.where(DOCUMENTS.c.live))
            }

    def pulled(self) -> dict[str, tuple[str, str]]:
        """doc_id to (stamp, version) of documents that a person removed."""
        d = DOCUMENTS.c
        with self._reading() as db:
            rows = db.execute(sa.select(d.doc_id, d.stamp, d.version).where(d.pulled, ~d.live))
            return {r.doc_id: (r.stamp, r.version) for r in rows}

    def documents(self) -> tuple[DocumentInfo, ...]:
        """Every live document, by id."""
        with self._reading() as db:
            rows = db.execute(sa.select(DOCUMENTS).where(DOCUMENTS.c.live).order_by(DOCUMENTS.c.doc_id)).all()
        return tuple(
            DocumentInfo(
                r.doc_id,
                r.title,
                r.content_type,
                r.version,
                r.chunks,
                r.url,
                groups_of(r.groups),
                r.product,
                r.internal,
                r.updated,
                r.root,
                r.ingested_at,
                unmarked(r.stamp)[1],
            )
            for r in rows
        )

    def document(self, doc_id: str, version: str | None = None) -> Document | None:
        """The document at `version`, also when it is no longer live; without `version` only if it is live."""
        with self._reading() as db:
            if version is None:
                live = sa.select(DOCUMENTS.c.version).where(DOCUMENTS.c.doc_id == doc_id, DOCUMENTS.c.live)
                version = db.execute(live).scalar()
            kept = db.execute(
                sa.select(VERSIONS.c.body).where(VERSIONS.c.doc_id == doc_id, VERSIONS.c.version == version)
            ).scalar()
        return document(kept) if kept else None

    def last(self, doc_id: str) -> Document | None:
        """The document as it stands, or as it stood when it was taken out."""
        with self._reading() as db:
            version = db.execute(sa.select(DOCUMENTS.c.version).where(DOCUMENTS.c.doc_id == doc_id)).scalar()
        return self.document(doc_id, version) if version else None

    def counts(self) -> tuple[int, int]:
        """Live documents and live chunks."""
        query = sa.select(sa.func.count(), sa.func.coalesce(sa.func.sum(DOCUMENTS.c.chunks), 0)).where(DOCUMENTS.c.live)
        with self._reading() as db:
            documents, chunks = db.execute(query).one()
        return int(documents), int(chunks)

    def rows(self, pks: Sequence[int]) -> dict[int, ChunkRow]:
        """Live chunks by primary key; what was deleted meanwhile is left out."""
        found: dict[int, ChunkRow] = {}
        with self._reading() as db:
            # plain SQL: each search waits for it, and building the statement took four times as long as running it
            for r in db.exec_driver_sql(ROWS_BY_PK, (json.dumps(list(pks)),)).all():
                found[r.pk] = _row(r)
        return found

    def unindexed(self) -> list[str]:
        """Ids of documents that the word index has not caught up with, live or gone."""
        with self._reading() as db:
            return list(db.execute(sa.select(DOCUMENTS.c.doc_id).where(~DOCUMENTS.c.indexed)).scalars())

    def indexed_chunks(self) -> int:
        """Live chunks of documents that the word index should hold."""
        query = sa.select(sa.func.coalesce(sa.func.sum(DOCUMENTS.c.chunks), 0)).where(DOCUMENTS.c.live)
        with self._reading() as db:
            return int(db.execute(query.where(DOCUMENTS.c.indexed)).scalar() or 0)

    def chunks_of(self, doc_ids: Sequence[str]) -> list[ChunkRow]:
        """Live chunks of these documents."""
        out: list[ChunkRow] = []
        with self._reading() as db:
            for part in parts(doc_ids):
                out.extend(_row(r) for r in db.execute(_live_rows().where(CHUNKS.c.doc_id.in_(part))))
        return out

    # --- changes

    def touch(self, stamps: Mapping[str, str]) -> None:
        """Remember new stamps of documents whose content did not change."""
        with self._writing() as db:
            for doc_id, stamp in stamps.items():
                db.execute(DOCUMENTS.update().where(DOCUMENTS.c.doc_id == doc_id).values(stamp=stamp))

    def put(self, items: Sequence[tuple[Document, tuple[Chunk, ...], str, str]]) -> None:
        """Replace documents by (document, chunks, root, stamp), all in one transaction."""
        if not items:
            return
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with self._writing() as db:
            digest = self._forget(db, [d.doc_id for d, _, _, _ in items])
            for d, _, _, _ in items:
                digest ^= mark(d.doc_id, d.version)
            db.execute(DOCUMENTS.delete().where(DOCUMENTS.c.doc_id.in_([d.doc_id for d, _, _, _ in items])))
            db.execute(DOCUMENTS.insert(), [document_row(d, c, root, stamp, now) for d, c, root, stamp in items])
            keep = sa.text("INSERT OR IGNORE INTO versions (doc_id, version, body) VALUES (:doc_id, :version, :body)")
            db.execute(keep, [{"doc_id": d.doc_id, "version": d.version, "body": body(d)} for d, _, _, _ in items])
            pieces = [c for _, chunks, _, _ in items for c in chunks]
            if pieces:
                first = _take_numbers(db, len(pieces))
                db.execute(CHUNKS.insert(), [chunk_row(c, pk) for pk, c in enumerate(pieces, first)])
                db.execute(HAVE_VECTORS, {"first": first})
            self._advance(db, digest)

    def drop(self, doc_ids: Sequence[str], *, pulled: bool = False) -> None:
        """Take documents out of every answer. Their versions stay for replay. `pulled`: a person did it."""
        if not doc_ids:
            return
        with self._writing() as db:
            digest = self._forget(db, doc_ids)
            for part in parts(doc_ids):
                gone = DOCUMENTS.update().where(DOCUMENTS.c.doc_id.in_(part))
                db.execute(gone.values(live=False, indexed=False, chunks=0, pulled=pulled))
            self._advance(db, digest)

    def _forget(self, db: sa.Connection, doc_ids: Sequence[str]) -> int:
        """Delete the chunks of live documents and take their marks out of the digest, which is returned."""
        digest = int(db.execute(sa.select(META.c.value).where(META.c.name == "digest")).scalar() or 0)
        for part in parts(doc_ids):
            live = sa.select(DOCUMENTS.c.doc_id, DOCUMENTS.c.version).where(
                DOCUMENTS.c.doc_id.in_(part), DOCUMENTS.c.live
            )
            for doc_id, version in db.execute(live).all():
                digest ^= mark(doc_id, version)
            pks = sa.select(CHUNKS.c.pk, sa.true()).where(CHUNKS.c.doc_id.in_(part))
            db.execute(CHANGES.insert().from_select(["pk", "gone"], pks))
            db.execute(CHUNKS.delete().where(CHUNKS.c.doc_id.in_(part)))
        return digest

    def _advance(self, db: sa.Connection, digest: int) -> None:
        _put(db, "digest", str(digest))
        _bump(db)

    def mark_indexed(self, doc_ids: Sequence[str]) -> None:
        """The word index has these documents as they stand; a running server may look."""
        with self._writing() as db:
            for part in parts(doc_ids):
                db.execute(DOCUMENTS.update().where(DOCUMENTS.c.doc_id.in_(part)).values(indexed=True))
            _bump(db)

    def mark_all_unindexed(self) -> None:
        """The word index is gone or of another form: everything has to be indexed again."""
        with self._writing() as db:
            db.execute(DOCUMENTS.update().values(indexed=False))

    # --- vectors

    def without_vectors(self, fingerprint: str) -> list[tuple[str, str]]:
        """(chunk_id, text with its title) of live chunks that have no vector of this model yet."""
        has = sa.exists().where(VECTORS.c.chunk_id == CHUNKS.c.chunk_id, VECTORS.c.fingerprint == fingerprint)
        query = sa.select(CHUNKS.c.chunk_id, DOCUMENTS.c.title, CHUNKS.c.locator, CHUNKS.c.text).join(
            DOCUMENTS, DOCUMENTS.c.doc_id == CHUNKS.c.doc_id
        )
        with self._reading() as db:
            return [
                (r.chunk_id, embedding_text(r.title, r.text)) for r in db.execute(query.where(DOCUMENTS.c.live, ~has))
            ]

    def chunks_without_vector(self) -> int:
        """Live chunks that have no vector of any model."""
        has = sa.exists().where(VECTORS.c.chunk_id == CHUNKS.c.chunk_id)
        query = sa.select(sa.func.count()).select_from(CHUNKS.join(DOCUMENTS, DOCUMENTS.c.doc_id == CHUNKS.c.doc_id))
        with self._reading() as db:
            return int(db.execute(query.where(DOCUMENTS.c.live, ~has)).scalar() or 0)

    def put_vectors(self, fingerprint: str, vectors: Sequence[tuple[str, bytes]]) -> None:
        """Keep (chunk_id, float16 bytes)."""
        insert = sa.text("INSERT OR REPLACE INTO vectors (chunk_id, fingerprint, vector) VALUES (:c, :f, :v)")
        rows = [{"c": c, "f": fingerprint, "v": v} for c, v in vectors]
        with self._writing() as db:
            db.execute(insert, rows)
            db.execute(HAS_A_VECTOR, [{"c": row["c"]} for row in rows])
            _bump(db)

    def changes_until(self) -> int:
        """Number of the newest change that an index of vectors has to follow; 0 if there was none."""
        with self._reading() as db:
            return int(db.execute(sa.select(sa.func.max(CHANGES.c.seq))).scalar() or 0)

    def vector_rows(self, fingerprint: str, after: int | None = None, until: int = 0) -> Iterator[list[VectorRow]]:
        """Live chunks that have a vector of this model, by rising primary key, in parts of 10,000.

        All of them, or those that changes number `after` + 1 to `until` speak of.
        """
        among = "chunks c" if after is None else CHANGED
        query = sa.text(VECTOR_ROWS.format(among=among))
        with self._reading() as db:
            result = db.execute(query, {"f": fingerprint} | ({} if after is None else {"after": after, "until": until}))
            for part in result.partitions(10_000):
                yield [VectorRow(*row) for row in part]

    def vector_keys(self, fingerprint: str) -> list[int]:
        """Primary keys of live chunks that have a vector of this model."""
        return [row.pk for part in self.vector_rows(fingerprint) for row in part]

    def vector_count(self, fingerprint: str) -> int:
        """Vectors of this model, also of chunks that are gone."""
        query = sa.select(sa.func.count()).select_from(VECTORS).where(VECTORS.c.fingerprint == fingerprint)
        with self._reading() as db:
            return int(db.execute(query).scalar() or 0)

    def vectors_of(self, fingerprint: str, pks: Sequence[int]) -> dict[int, bytes]:
        """Float16 bytes of the vectors of these chunks, of those that have one."""
        query = sa.select(CHUNKS.c.pk, VECTORS.c.vector).join(VECTORS, VECTORS.c.chunk_id == CHUNKS.c.chunk_id)
        with self._reading() as db:
            rows = db.execute(query.where(VECTORS.c.fingerprint == fingerprint, CHUNKS.c.pk.in_(pks)))
            return {r.pk: r.vector for r in rows}

    def gone_chunks(self, after: int, until: int) -> list[int]:
        """Primary keys that changes number `after` + 1 to `until` took away."""
        query = sa.select(CHANGES.c.pk).where(CHANGES.c.seq > after, CHANGES.c.seq <= until, CHANGES.c.gone)
        with self._reading() as db:
            return list(db.execute(query).scalars())

    def vector_mark(self, fingerprint: str) -> str | None:
        """Name of the saved index of vectors that belongs to this store; None if there is none."""
        with self._reading() as db:
            return db.execute(sa.select(META.c.value).where(META.c.name == f"vectors {fingerprint}")).scalar()

    def set_vector_mark(self, fingerprint: str, mark: str) -> None:
        """Say which saved index belongs to this store; running servers look at their next search."""
        with self._writing() as db:
            _put(db, f"vectors {fingerprint}", mark)
            _bump(db)


def _put(db: sa.Connection, name: str, value: str) -> None:
    db.execute(sa.text("INSERT OR REPLACE INTO meta (name, value) VALUES (:n, :v)"), {"n": name, "v": value})


def _bump(db: sa.Connection) -> None:
    current = db.execute(sa.select(META.c.value).where(META.c.name == "generation")).scalar()
    _put(db, "generation", str(int(current or 0) + 1))


def _take_numbers(db: sa.Connection, count: int) -> int:
    """The first of `count` primary keys of chunks. None is given twice: indexes know chunks by them, also after they are gone."""
    after_all = int(db.execute(sa.select(sa.func.max(CHUNKS.c.pk))).scalar() or 0) + 1
    first = max(after_all, int(db.execute(sa.select(META.c.value).where(META.c.name == "next_pk")).scalar() or 0))
    _put(db, "next_pk", str(first + count))
    return first


def _live_rows() -> sa.Select[Any]:
    d = DOCUMENTS.c
    return (
        sa.select(CHUNKS, d.title, d.url, d.groups, d.product, d.internal, d.updated, d.version)
        .join(DOCUMENTS, d.doc_id == CHUNKS.c.doc_id)
        .where(d.live)
    )


def _row(r: Any) -> ChunkRow:
    chunk = Chunk(r.chunk_id, r.doc_id, r.start, r.end, r.text, r.tokens, r.locator)
    return ChunkRow(r.pk, chunk, r.title, r.url, groups_of(r.groups), r.product, bool(r.internal), r.updated, r.version)
