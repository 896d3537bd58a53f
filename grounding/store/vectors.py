"""Tables of the chunks' vectors, by the fingerprint of the model that made them, and of the changes that a vector index follows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa

from grounding.database.text import storable
from grounding.store import dialects
from grounding.store.chunks import embedding_text, live_chunks
from grounding.store.documents import OF_CHUNK
from grounding.store.meta import Meta
from grounding.store.tables import CHANGES, CHUNKS, DOCUMENTS, VECTORS, parts

_ROWS = f"""
    SELECT c.pk, d.groups, d.product, v.vector FROM {{among}}
    {{then}} {OF_CHUNK.removeprefix("JOIN ")}
    {{then}} vectors v ON v.chunk_id = c.chunk_id AND v.fingerprint = {{param}}
    ORDER BY c.pk"""  # noqa: S608 - put together of our own words
_ALL_ROWS = dialects.forms(_ROWS.replace("{among}", "chunks c"))
_CHANGED_ROWS = dialects.forms(
    _ROWS.replace(
        "{among}",
        "(SELECT DISTINCT pk FROM changes WHERE seq > {param} AND seq <= {param} AND NOT gone) j "
        "{then} chunks c ON c.pk = j.pk",
    )
)
# the page first: asked beside it, PostgreSQL would read all vectors for each page
_FOLLOWED = dialects.forms(f"""
    SELECT p.chunk_id, p.version, p.title,
        EXISTS (SELECT 1 FROM vectors v WHERE v.chunk_id = p.chunk_id AND v.fingerprint = {{param}})
    FROM (
        SELECT DISTINCT c.chunk_id, d.version, d.title FROM chunks c {OF_CHUNK}
        WHERE c.chunk_id > {{param}} ORDER BY c.chunk_id LIMIT {{param}}) p
    ORDER BY p.chunk_id""")  # noqa: S608 - likewise
_FOLLOWED_BY_ID = dialects.forms(f"""
    SELECT DISTINCT c.chunk_id, d.version, d.title,
        EXISTS (SELECT 1 FROM vectors v WHERE v.chunk_id = c.chunk_id AND v.fingerprint = {{param}})
    FROM {{texts}} {{then}} chunks c ON c.chunk_id = j.value {OF_CHUNK}""")  # noqa: S608 - likewise
_BY_ID = dialects.forms("""
    SELECT v.chunk_id, v.vector FROM {texts} {then} vectors v ON v.chunk_id = j.value AND v.fingerprint = {param}""")
_BARE = dialects.forms(f"""
    SELECT count(*), count(CASE WHEN EXISTS (
        SELECT 1 FROM vectors v
        WHERE v.chunk_id = c.chunk_id AND substr(v.fingerprint, 1, length({{param}})) <> {{param}}) THEN 1 END)
    FROM chunks c {OF_CHUNK}
    WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.chunk_id = c.chunk_id AND v.fingerprint = {{param}})""")  # noqa: S608 - likewise
_PUT = sa.text(
    "INSERT INTO vectors (chunk_id, fingerprint, vector) VALUES (:c, :f, :v) "
    "ON CONFLICT (chunk_id, fingerprint) DO UPDATE SET vector = excluded.vector"
)
_HAVE_VECTORS = sa.text(
    "INSERT INTO changes (pk, gone) SELECT pk, false FROM chunks c WHERE pk >= :first "
    "AND EXISTS (SELECT 1 FROM vectors v WHERE v.chunk_id = c.chunk_id)"
)
_HAS_A_VECTOR = sa.text("INSERT INTO changes (pk, gone) SELECT pk, false FROM chunks WHERE chunk_id = :c")
AT_ONCE = 10_000
"""Vectors of a part, when all are read."""


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

    def missing(self, fingerprint: str, doc_ids: Sequence[str] | None = None) -> list[tuple[str, str]]:
        """(chunk_id, text with its title) of live chunks that have no vector of this model yet, of these documents alone where they are named."""
        has = sa.exists().where(VECTORS.c.chunk_id == CHUNKS.c.chunk_id, VECTORS.c.fingerprint == fingerprint)
        query = live_chunks(CHUNKS.c.chunk_id, DOCUMENTS.c.title, CHUNKS.c.text).where(~has)
        asked = [query] if doc_ids is None else [query.where(CHUNKS.c.doc_id.in_(part)) for part in parts(doc_ids)]
        rows = (row for one in asked for row in self._db.execute(one))
        return [(r.chunk_id, embedding_text(r.title, r.text)) for r in rows]

    def documents_without(self, fingerprint: str) -> set[str]:
        """Ids of live documents of which a chunk has no vector of this model."""
        has = sa.exists().where(VECTORS.c.chunk_id == CHUNKS.c.chunk_id, VECTORS.c.fingerprint == fingerprint)
        return set(self._db.execute(live_chunks(CHUNKS.c.doc_id).where(~has).distinct()).scalars())

    def missing_of_any(self) -> int:
        """Number of live chunks that have no vector of any model."""
        has = sa.exists().where(VECTORS.c.chunk_id == CHUNKS.c.chunk_id)
        return int(self._db.execute(live_chunks(sa.func.count()).where(~has)).scalar() or 0)

    def missing_count(self, fingerprint: str) -> tuple[int, int]:
        """Number of live chunks that have no vector of this model, and how many of them have one of another."""
        count, other = self._run(_BARE, fingerprint, fingerprint, fingerprint).one()
        return int(count), int(other)

    def put(self, fingerprint: str, vectors: Sequence[tuple[str, bytes]]) -> None:
        """Insert vectors, given as (chunk_id, float16 bytes), and record the changes for the vector index."""
        self._db.execute(_PUT, [{"c": storable(c), "f": fingerprint, "v": v} for c, v in vectors])
        self._db.execute(_HAS_A_VECTOR, [{"c": storable(c)} for c, _ in vectors])

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
        # a part at a time from a server, too, which sends all at once unless told
        found = self._run(
            _ALL_ROWS if after is None else _CHANGED_ROWS,
            *(() if after is None else (after, until)),
            fingerprint,
            options={"stream_results": True, "max_row_buffer": AT_ONCE},
        )
        for part in found.partitions(AT_ONCE):
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
        rows = self._run(_BY_ID, dialects.of(self._db).given([storable(c) for c in chunk_ids]), fingerprint)
        return {r.chunk_id: r.vector for r in rows}

    def followed(self, fingerprint: str, after: str, count: int) -> list[FollowedChunk]:
        """At most `count` live chunks whose id comes after `after`, sorted by id; whether each has a vector of model `fingerprint`."""
        rows = self._run(_FOLLOWED, fingerprint, storable(after), count)
        return [FollowedChunk(chunk_id, version, title, bool(has)) for chunk_id, version, title, has in rows]

    def followed_by_id(self, fingerprint: str, chunk_ids: Sequence[str]) -> list[FollowedChunk]:
        """Those of these chunks that are live; whether each has a vector of model `fingerprint`."""
        rows = self._run(_FOLLOWED_BY_ID, fingerprint, dialects.of(self._db).given([storable(c) for c in chunk_ids]))
        return [FollowedChunk(chunk_id, version, title, bool(has)) for chunk_id, version, title, has in rows]

    def saved_index(self, fingerprint: str) -> str | None:
        """Name of the saved index of vectors that belongs to this store; None if there is none."""
        return Meta(self._db).value(f"vectors {fingerprint}")

    def name_saved_index(self, fingerprint: str, name: str) -> None:
        """Set the name of the saved index of vectors that belongs to this store."""
        Meta(self._db).put(f"vectors {fingerprint}", name)

    def jobs(self, fingerprint: str) -> dict[str, str]:
        """The jobs that embed for this model: ids by their tokens, empty for one whose id is not known."""
        return dict(json.loads(Meta(self._db).value(f"embedding jobs {fingerprint}") or "{}"))

    def note_job(self, fingerprint: str, token: str, job: str | None) -> None:
        """Note one of these jobs, or, with None, note it no more."""
        others = {t: j for t, j in self.jobs(fingerprint).items() if t != token}
        noted = others if job is None else {**others, token: job}
        Meta(self._db).put(f"embedding jobs {fingerprint}", json.dumps(noted))

    def _run(
        self, statement: Mapping[str, str], *values: object, options: Mapping[str, Any] | None = None
    ) -> sa.CursorResult[*tuple[Any, ...]]:
        return self._db.exec_driver_sql(statement[self._db.dialect.name], values, execution_options=options)
