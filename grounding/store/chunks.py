"""Table of chunks in the store, each read together with its document's title, rights and version."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from grounding.database.text import storable
from grounding.records import Access, Chunk, Passage, Trust
from grounding.store import dialects
from grounding.store.documents import OF_CHUNK, TOLD_OF_CHUNK, groups_of
from grounding.store.meta import Meta
from grounding.store.tables import CHUNKS, DOCUMENTS, parts

_WHOLE = f'SELECT c.pk, c.chunk_id, c.doc_id, c.start, c."end", c.text, c.tokens, c.locator, {TOLD_OF_CHUNK}'
_BY_PK = dialects.forms(f"{_WHOLE} FROM {{numbers}} {{then}} chunks c ON c.pk = j.value {OF_CHUNK}")
_BY_ID = dialects.forms(f"{_WHOLE} FROM {{texts}} {{then}} chunks c ON c.chunk_id = j.value {OF_CHUNK}")


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """A live chunk with the title, address, rights, version and trust of its document."""

    pk: int
    chunk: Chunk
    title: str
    url: str | None
    groups: tuple[str, ...] | None
    product: str | None
    internal: bool
    updated: str | None
    version: str
    trust: Trust

    def readable_by(self, access: Access) -> bool:
        """Whether `access` may read the chunk's document, and its product is one that is searched."""
        return access.may_read(self.groups) and access.in_scope(self.product)

    @property
    def repetition_key(self) -> tuple[str, str, tuple[str, ...] | None, str | None]:
        """Key that is equal for chunks of which a reader needs only one: same title, text, rights and product.

        Equal text under other rights or another title differs: it is another's to read, or about another thing.
        """
        return self.title, self.chunk.text, self.groups, self.product

    def as_passage(
        self,
        score: float,
        *,
        bm25: float | None = None,
        semantic: float | None = None,
        reranked: float | None = None,
        caption: str | None = None,
    ) -> Passage:
        """The chunk as a search result with these scores; their ranges are those of `Passage`."""
        return Passage(
            chunk_id=self.chunk.chunk_id,
            doc_id=self.chunk.doc_id,
            title=self.title,
            text=self.chunk.text,
            start=self.chunk.start,
            url=self.url,
            locator=self.chunk.locator,
            internal=self.internal,
            updated=self.updated,
            version=self.version,
            tokens=self.chunk.tokens,
            score=score,
            bm25=bm25,
            semantic=semantic,
            reranked=reranked,
            caption=caption,
            trust=self.trust,
        )


class Chunks:
    """Repository of the table `chunks`, over one connection."""

    def __init__(self, db: sa.Connection) -> None:
        self._db = db

    def by_pk(self, pks: Sequence[int]) -> dict[int, ChunkRow]:
        """Live chunks by primary key; what was deleted meanwhile is left out."""
        rows = self._db.exec_driver_sql(_BY_PK[self._db.dialect.name], (dialects.of(self._db).given(pks),))
        return {r.pk: _row(r) for r in rows}

    def by_id(self, chunk_ids: Sequence[str]) -> dict[str, ChunkRow]:
        """Live chunks by id; what was deleted meanwhile is left out."""
        ids = [storable(chunk_id) for chunk_id in chunk_ids]
        rows = self._db.exec_driver_sql(_BY_ID[self._db.dialect.name], (dialects.of(self._db).given(ids),))
        return {r.chunk_id: _row(r) for r in rows}

    def size(self) -> tuple[int, int]:
        """Characters of the texts of all live chunks, and the number of these."""
        query = live_chunks(sa.func.coalesce(sa.func.sum(sa.func.length(CHUNKS.c.text)), 0), sa.func.count())
        characters, count = self._db.execute(query).one()
        return int(characters), int(count)

    def of_documents(self, doc_ids: Sequence[str]) -> list[ChunkRow]:
        """Live chunks of these documents."""
        d = DOCUMENTS.c
        whole = live_chunks(CHUNKS, d.title, d.url, d.groups, d.product, d.internal, d.updated, d.version, d.trust)
        return [_row(r) for part in parts(doc_ids) for r in self._db.execute(whole.where(CHUNKS.c.doc_id.in_(part)))]

    def add(self, chunks: Sequence[Chunk]) -> int:
        """Insert new chunks under consecutive primary keys; returns the first."""
        first = self._take_numbers(len(chunks))
        self._db.execute(CHUNKS.insert(), [_columns(chunk, pk) for pk, chunk in enumerate(chunks, first)])
        return first

    def delete(self, doc_ids: Sequence[str]) -> None:
        """Delete the chunks of these documents."""
        for part in parts(doc_ids):
            self._db.execute(CHUNKS.delete().where(CHUNKS.c.doc_id.in_(part)))

    def _take_numbers(self, count: int) -> int:
        """Reserve `count` primary keys and return the first. None is given twice: indexes know chunks by them, also after they are gone."""
        meta = Meta(self._db)
        after_all = int(self._db.execute(sa.select(sa.func.max(CHUNKS.c.pk))).scalar() or 0) + 1
        first = max(after_all, meta.number("next_pk"))
        meta.put("next_pk", str(first + count))
        return first


def live_chunks(*columns: Any) -> sa.Select[Any]:
    """SELECT of `columns` over the chunks of live documents, joined with these documents."""
    joined = CHUNKS.join(DOCUMENTS, DOCUMENTS.c.doc_id == CHUNKS.c.doc_id)
    return sa.select(*columns).select_from(joined).where(DOCUMENTS.c.live)


def embedding_text(title: str, text: str) -> str:
    """Text that is embedded for a chunk: its text with the document's title in front, unless it begins with it."""
    return text if text.startswith(title) else f"{title}\n{text}"


def _columns(c: Chunk, pk: int) -> dict[str, object]:
    return {
        "pk": pk,
        "chunk_id": c.chunk_id,
        "doc_id": c.doc_id,
        "start": c.start,
        "end": c.end,
        "text": c.text,
        "tokens": c.tokens,
        "locator": c.locator,
    }


def _row(r: Any) -> ChunkRow:
    chunk = Chunk(r.chunk_id, r.doc_id, r.start, r.end, r.text, r.tokens, r.locator)
    return ChunkRow(
        r.pk, chunk, r.title, r.url, groups_of(r.groups), r.product, bool(r.internal), r.updated, r.version, r.trust
    )
