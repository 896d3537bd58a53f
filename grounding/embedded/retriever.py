"""The embedded retriever: BM25 and semantic search over one store, trimmed inside both, fused per query.

A name of the knowledge base in the query that few other passages speak of selects the passages titled by it, and the
meaning searched for is that of the question alone; any other name is a word of the question like others.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence

import numpy as np

from grounding.embedded.store import Row, Store
from grounding.embedded.vectors import VectorIndex
from grounding.embedded.words import Words
from grounding.fuse import SELECTS, Fused, exclusiveness, fuse, semantic_weight
from grounding.ports import Embedder, Linker, Vectors
from grounding.query import question_of
from grounding.records import Access, Linked, Passage, Query, Retrieval

_DEPTH = 100
"""Candidates from each side before fusion, at least."""
_TITLED = 400
"""Candidates that a name brings along."""
_NAMES = 4
_TELLS = 0.01
"""Exclusiveness below which a name is not worth a search for its passages: it would move a score by less than 0.008."""
_SPARE = 20
"""Results beyond those wanted that may take the place of repetitions, at least; a quarter of those wanted otherwise."""


class EmbeddedRetriever:
    """Retriever over store, word index and vectors; follows the store's generation before each search."""

    def __init__(
        self,
        store: Store,
        words: Words,
        vectors: VectorIndex | None,
        embedder: Embedder | None,
        linker: Linker | None = None,
    ) -> None:
        self._store, self._words, self._vectors, self._embedder = store, words, vectors, embedder
        self._linker = linker
        self._seen = -1
        self._kb_version = ""
        self._lock = threading.Lock()

    async def retrieve(self, query: Query, access: Access, k: int) -> Retrieval:
        """At most `k` passages that `access` may read, best first. Raises StoreError."""
        await asyncio.to_thread(self._follow)
        linked = (await self._linker.link([query.text], access))[0][:_NAMES] if self._linker else []
        selecting = await asyncio.to_thread(self._selecting, linked, access) if linked else {}
        vector = await self._vector(query, selecting)
        return await asyncio.to_thread(self._search, query.text, vector, access, k, selecting=selecting)

    def _selecting(self, linked: Sequence[Linked], access: Access) -> dict[Linked, float]:
        """Names that tell their passages from all others, with their exclusiveness."""
        shares = {name: exclusiveness(*self._words.named(name.name, access)) for name in linked}
        return {name: share for name, share in shares.items() if share >= _TELLS}

    async def _vector(self, query: Query, selecting: Mapping[Linked, float]) -> Vectors | None:
        """The meaning of the question, and of the question with the names that do not select, half and half."""
        if self._embedder is None or self._vectors is None:
            return None
        question = question_of(query)
        topical = [e for e in query.entities if not _selected(query, e, selecting)]
        texts = [question, " ".join([*topical, question])] if topical else [question]
        both: Vectors = (await self._embedder.embed(texts)).sum(axis=0)
        both /= np.float32(max(float(np.linalg.norm(both)), 1e-6))
        return both

    def _search(
        self,
        text: str,
        vector: Vectors | None,
        access: Access,
        k: int,
        *,
        selecting: Mapping[Linked, float],
    ) -> Retrieval:
        version = self._kb_version
        depth = max(k, _DEPTH)
        bm25 = dict(self._words.search(text, access, depth))
        named: dict[int, float] = {}
        for name, share in selecting.items():
            for pk in self._words.titled(name.name, text, access, max(k, _TITLED)):
                named[pk] = max(named.get(pk, 0.0), share)
        semantic: dict[int, float] = {}
        if vector is not None and self._vectors is not None:
            semantic = dict(self._vectors.search(vector, access, depth))
            semantic |= self._vectors.cosines(vector, [pk for pk in {**bm25, **named} if pk not in semantic])
        weight = semantic_weight(text, max(selecting.values(), default=0.0))
        fused = fuse(bm25, semantic, weight, k + max(_SPARE, k // 4), named)
        rows = self._store.rows([f.key for f in fused[:k]])
        kept = _readable(fused[:k], rows, access)
        if len(kept) < min(k, len(fused)):  # repetitions, or rights that the indexes have not followed yet
            rows |= self._store.rows([f.key for f in fused[k:]])
            kept = _readable(fused, rows, access)
        passages = tuple(_passage(row, f) for row, f in kept[:k])
        notes = () if semantic or not passages else ("no vectors: searched by words only",)
        return Retrieval(passages, version, "hybrid" if semantic else "lexical", notes)

    def _follow(self) -> None:
        generation = self._store.generation()
        if generation != self._seen:
            with self._lock:
                if generation != self._seen:
                    self._words.reload()
                    if self._vectors is not None:
                        self._vectors.refresh()
                    self._kb_version = self._store.kb_version()
                    self._seen = generation


def _readable(fused: Sequence[Fused], rows: Mapping[int, Row], access: Access) -> list[tuple[Row, Fused]]:
    """What the store says `access` may read now, without what repeats a better passage of the same title and the same rights.

    Equal text under other rights or another title stays: it is another's to read, or about another thing.
    """
    kept: list[tuple[Row, Fused]] = []
    seen: set[tuple[str, str, tuple[str, ...] | None, str | None]] = set()
    for f in fused:
        row = rows.get(f.key)
        if row is None or not access.may_read(row.groups) or not access.in_scope(row.product):
            continue
        same = (row.title, row.chunk.text, row.groups, row.product)
        if same not in seen:
            seen.add(same)
            kept.append((row, f))
    return kept


def _selected(query: Query, entity: str, selecting: Mapping[Linked, float]) -> bool:
    """True if a selecting name stands in this entity of the query's text."""
    start = query.text.find(entity)
    return any(share >= SELECTS and start <= name.start < start + len(entity) for name, share in selecting.items())


def _passage(row: Row, fused: Fused) -> Passage:
    chunk = row.chunk
    return Passage(
        chunk_id=chunk.chunk_id, doc_id=chunk.doc_id, title=row.title, text=chunk.text, start=chunk.start, url=row.url,
        locator=chunk.locator, internal=row.internal, updated=row.updated, version=row.version, tokens=chunk.tokens,
        score=round(fused.score, 6), bm25=fused.bm25, semantic=fused.semantic,
    )  # fmt: skip
