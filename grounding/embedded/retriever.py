"""The embedded retriever: BM25 and semantic search over one store, trimmed inside both, fused per query."""

from __future__ import annotations

import asyncio
import threading

from grounding.embedded.store import Row, Store
from grounding.embedded.vectors import VectorIndex
from grounding.embedded.words import Words
from grounding.fuse import Fused, fuse, semantic_weight
from grounding.ports import Embedder, Vectors
from grounding.records import Access, Passage, Retrieval

_DEPTH = 100
"""Candidates from each side before fusion, at least."""


class EmbeddedRetriever:
    """Retriever over store, word index and vectors; follows the store's generation before each search."""

    def __init__(self, store: Store, words: Words, vectors: VectorIndex | None, embedder: Embedder | None) -> None:
        self._store, self._words, self._vectors, self._embedder = store, words, vectors, embedder
        self._seen = -1
        self._kb_version = ""
        self._lock = threading.Lock()

    async def retrieve(self, query: str, access: Access, k: int) -> Retrieval:
        """At most `k` passages that `access` may read, best first. Raises StoreError."""
        vector = (await self._embedder.embed([query]))[0] if self._embedder and self._vectors is not None else None
        return await asyncio.to_thread(self._search, query, vector, access, k)

    def _search(self, query: str, vector: Vectors | None, access: Access, k: int) -> Retrieval:
        version = self._follow()
        depth = max(k, _DEPTH)
        bm25 = dict(self._words.search(query, access, depth))
        semantic: dict[int, float] = {}
        if vector is not None and self._vectors is not None:
            semantic = dict(self._vectors.search(vector, access, depth))
            semantic |= self._vectors.cosines(vector, [pk for pk in bm25 if pk not in semantic])
        fused = fuse(bm25, semantic, semantic_weight(query), k)
        rows = self._store.rows([f.key for f in fused])
        passages = tuple(
            _passage(rows[f.key], f) for f in fused if f.key in rows and access.may_read(rows[f.key].groups)
        )
        notes = () if semantic or not passages else ("no vectors: searched by words only",)
        return Retrieval(passages, version, "hybrid" if semantic else "lexical", notes)

    def _follow(self) -> str:
        generation = self._store.generation()
        if generation != self._seen:
            with self._lock:
                if generation != self._seen:
                    self._words.reload()
                    if self._vectors is not None:
                        self._vectors.refresh()
                    self._kb_version = self._store.kb_version()
                    self._seen = generation
        return self._kb_version


def _passage(row: Row, fused: Fused) -> Passage:
    chunk = row.chunk
    return Passage(
        chunk_id=chunk.chunk_id, doc_id=chunk.doc_id, title=row.title, text=chunk.text, start=chunk.start, url=row.url,
        locator=chunk.locator, internal=row.internal, updated=row.updated, version=row.version, tokens=chunk.tokens,
        score=round(fused.score, 6), bm25=fused.bm25, semantic=fused.semantic,
    )  # fmt: skip
