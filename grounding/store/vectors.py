"""Tables of the chunks' vectors, by the fingerprint of the model that made them, and of the changes that a vector index follows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import sqlalchemy as sa

from grounding.store.chunks import embedding_text, live_chunks
from grounding.store.documents import OF_CHUNK
from grounding.store.meta import Meta
from grounding.store.tables import CHANGES, CHUNKS, DOCUMENTS, VECTORS, parts

# plain SQL: each search or each vector waits for it
_ROWS = f"""
    SELECT c.pk, d.groups, d.product, v.vector FROM {{among}}
    CROSS {OF_CHUNK}
    CROSS JOIN vectors v ON v.chunk_id = c.chunk_id AND v.fingerprint = :f
    ORDER BY c.pk"""  # noqa: S608 - put together of our own words
_CHANGED = (
    "(SELECT DISTINCT pk FROM changes WHERE seq > :after AND seq <= :until AND NOT gone) j "
    "CROSS JOIN chunks c ON c.pk = j.pk"
)
_FOLLOWED = f"""
    SELECT DISTINCT c.chunk_id, d.version, d.title,
        EXISTS (SELECT 1 FROM vectors v WHERE v.chunk_id = c.chunk_id AND v.fingerprint = ?)
    FROM chunks c {OF_CHUNK}
    WHERE c.chunk_id > ? ORDER BY c.chunk_id LIMIT ?"""  # noqa: S608 - likewise
_BY_ID = """
    SELECT v.chunk_id, v.vector FROM json_each(?) j CROSS JOIN vectors v ON v.chunk_id = j.value AND v.fingerprint = ?"""
_BARE = f"""
    SELECT count(*), coalesce(sum(EXISTS (
        SELECT 1 FROM vectors v WHERE v.chunk_id = c.chunk_id AND v.fingerprint NOT LIKE ? || '%')), 0)
    FROM chunks c {OF_CHUNK}
    WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.chunk_id = c.chunk_id AND v.fingerprint = ?)"""  # noqa: S608 - likewise
_PUT = sa.text("INSERT OR REPLACE INTO vectors (chunk_id, fingerprint, vector) VALUES (:c, :f, :v)")
_HAVE_VECTORS = sa.text(
    "INSERT INTO changes (pk, gone) SELECT pk, 0 FROM chunks c WHERE pk >= :first "
    "AND EXISTS (SELECT 1 FROM vectors v WHERE v.chunk_id = c.chunk_id)"
)
_HAS_A_VECTOR = sa.text("INSERT INTO changes (pk, gone) SELECT pk, 0 FROM chunks WHERE chunk_id = :c")


class VectorRow(NamedTuple):
    """A live chunk's vector as float16 bytes, with its primary key and the rights of its document: groups as JSON."""

    pk: int
    groups: str | None
    product: str | None
    vector: bytes


class FollowedChunk(NamedTuple):
    """A live chunk: its id, its document's version and title, and whether it has a vector of the model asked about."""

    chunk_id: str
    version: str
    title: str
    has_vector: bool


class ChunkVectors:
    """Repository of the tables `vectors` and `changes`, over one connection."""

    def __init__(self, db: sa.Connection) -> None:
        self._db = db

    def missing(self, fingerprint: str) -> list[tuple[str, str]]:
        """(chunk_id, text with its title) of live chunks that have no vector of this model yet."""
        has = sa.exists().where(VECTORS.c.chunk_id == CHUNKS.c.chunk_id, VECTORS.c.fingerprint == fingerprint)
        query = live_chunks(CHUNKS.c.chunk_id, DOCUMENTS.c.title, CHUNKS.c.text).where(~has)
        return [(r.chunk_id, embedding_text(r.title, r.text)) for r in self._db.execute(query)]

    def missing_of_any(self) -> int:
        """Number of live chunks that have no vector of any model."""
        has = sa.exists().where(VECTORS.c.chunk_id == CHUNKS.c.chunk_id)
        return int(self._db.execute(live_chunks(sa.func.count()).where(~has)).scalar() or 0)

    def missing_count(self, fingerprint: str) -> tuple[int, int]:
        """Number of live chunks that have no vector of this model, and how many of them have one of another."""
        count, other = self._db.exec_driver_sql(_BARE, (fingerprint, fingerprint)).one()
        return int(count), int(other)

    def put(self, fingerprint: str, vectors: Sequence[tuple[str, bytes]]) -> None:
        """Insert vectors, given as (chunk_id, float16 bytes), and record the changes for the vector index."""
        self._db.execute(_PUT, [{"c": c, "f": fingerprint, "v": v} for c, v in vectors])
        self._db.execute(_HAS_A_VECTOR, [{"c": c} for c, _ in vectors])

    def chunks_came(self, first: int) -> None:
        """Record for the vector index those new chunks, `first` and after, that have a vector already."""
        self._db.execute(_HAVE_VECTORS, {"first": first})

    def chunks_go(self, doc_ids: Sequence[str]) -> None:
        """Record for the vector index that the chunks of these documents are about to be deleted."""
        for part in parts(doc_ids):
            pks = sa.select(CHUNKS.c.pk, sa.true()).where(CHUNKS.c.doc_id.in_(part))
            self._db.execute(CHANGES.insert().from_select(["pk", "gone"], pks))

    def changes_until(self) -> int:
        """Number of the newest change that an index of vectors has to follow; 0 if there was none."""
        return int(self._db.execute(sa.select(sa.func.max(CHANGES.c.seq))).scalar() or 0)

    def gone(self, after: int, until: int) -> list[int]:
        """Primary keys of chunks deleted by changes number `after` + 1 to `until`."""
        query = sa.select(CHANGES.c.pk).where(CHANGES.c.seq > after, CHANGES.c.seq <= until, CHANGES.c.gone)
        return list(self._db.execute(query).scalars())

    def rows(self, fingerprint: str, after: int | None = None, until: int = 0) -> Iterator[list[VectorRow]]:
        """Live chunks that have a vector of this model, by rising primary key, in parts of 10,000.

        All of them, or those that changes number `after` + 1 to `until` speak of.
        """
        query = sa.text(_ROWS.format(among="chunks c" if after is None else _CHANGED))
        bounds = {} if after is None else {"after": after, "until": until}
        for part in self._db.execute(query, {"f": fingerprint, **bounds}).partitions(10_000):
            yield [VectorRow(*row) for row in part]

    def count(self, fingerprint: str) -> int:
        """Number of vectors of this model, also of chunks that are gone."""
        query = sa.select(sa.func.count()).select_from(VECTORS).where(VECTORS.c.fingerprint == fingerprint)
        return int(self._db.execute(query).scalar() or 0)

    def by_pk(self, fingerprint: str, pks: Sequence[int]) -> dict[int, bytes]:
        """Vectors of these chunks as float16 bytes, by primary key, for chunks that have one."""
        query = sa.select(CHUNKS.c.pk, VECTORS.c.vector).join(VECTORS, VECTORS.c.chunk_id == CHUNKS.c.chunk_id)
        rows = self._db.execute(query.where(VECTORS.c.fingerprint == fingerprint, CHUNKS.c.pk.in_(pks)))
        return {r.pk: r.vector for r in rows}

    def by_id(self, fingerprint: str, chunk_ids: Sequence[str]) -> dict[str, bytes]:
        """Vectors of these chunks as float16 bytes, by id, for chunks that have one."""
        rows = self._db.exec_driver_sql(_BY_ID, (json.dumps(list(chunk_ids)), fingerprint))
        return {r.chunk_id: r.vector for r in rows}

    def followed(self, fingerprint: str, after: str, count: int) -> list[FollowedChunk]:
        """At most `count` live chunks whose id comes after `after`, sorted by id; whether each has a vector of model `fingerprint`."""
        rows = self._db.exec_driver_sql(_FOLLOWED, (fingerprint, after, count))
        return [FollowedChunk(chunk_id, version, title, bool(has)) for chunk_id, version, title, has in rows]

    def saved_index(self, fingerprint: str) -> str | None:
        """Name of the saved index of vectors that belongs to this store; None if there is none."""
        return Meta(self._db).value(f"vectors {fingerprint}")

    def name_saved_index(self, fingerprint: str, name: str) -> None:
        """Set the name of the saved index of vectors that belongs to this store."""
        Meta(self._db).put(f"vectors {fingerprint}", name)
