"""Embedded hybrid retriever: BM25 and vector search over one store, filtered by rights inside both, fused per query.

A name of the knowledge base in the query that few other passages speak of selects the passages titled by it, and the meaning searched for
is that of the question alone; any other name is a word of the question like others.

`Query.by` may ask for one side alone: words are BM25 and nothing else, meaning is the order of cosines and nothing else. `Query.imagined`
moves the meaning searched for half-way to that of a hypothetical answer (`grounding.query.query_vector`). An embedder that does not answer
costs the meaning: words alone are searched, with a note. Hypotheticals written at ingest are searched beside the passages: a passage is as
near as the nearest of itself and its own, and is what comes back.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from grounding.embedded.indexes.vector_index import VectorIndex
from grounding.embedded.indexes.word_index import WordIndex
from grounding.evidence.fuse import SELECTS, Fused, exclusiveness, fuse, semantic_weight
from grounding.ports import Embedder, Linker, Vectors
from grounding.query.conversation import question_of
from grounding.query.query_vector import BY_WORDS, QueryVector, query_vector, question_texts
from grounding.records import Access, Linked, Passage, Query, Retrieval
from grounding.store.chunks import ChunkRow
from grounding.store.store import Store

_DEPTH = 100
"""Candidates from each side before fusion, at least."""
_TITLED = 400
"""Candidates that a name brings along."""
_NAMES = 4
_TELLS = 0.01
"""Exclusiveness below which a name is not worth a search for its passages: it would move a score by less than 0.008."""
_NO_VECTORS = f"no vectors: {BY_WORDS}"
_NONE_OF_THIS_MODEL = f"no vectors of the embedding model in use: {BY_WORDS}; run attest ingest"
_SOME_BARE = (
    "{0:,} of {1:,} passages have no vectors of the embedding model in use: found by words only; run attest ingest"
)
_SPARE = 20
"""Results beyond those wanted that may take the place of repetitions, at least; a quarter of those wanted otherwise."""


@dataclass(frozen=True, slots=True)
class _Near:
    """Cosines by primary key: a passage's `own`, and the `best` of its own and those of its hypotheticals."""

    own: dict[int, float]
    best: dict[int, float]


class EmbeddedRetriever:
    """Retriever over store, word index and vectors; follows the store's generation before each search.

    `vectors` or `embedder` None: words alone. `linker` finds names of the knowledge base in the query. `hypotheticals`: vectors of what was
    imagined of the passages at ingest (`grounding.embedded.hypotheticals`).
    """

    def __init__(
        self,
        store: Store,
        words: WordIndex,
        vectors: VectorIndex | None,
        embedder: Embedder | None,
        linker: Linker | None = None,
        *,
        hypotheticals: Sequence[VectorIndex] = (),
    ) -> None:
        self._store, self._words, self._vectors, self._embedder = store, words, vectors, embedder
        self._hypotheticals = hypotheticals
        self._linker = linker
        self._seen = -1
        self._kb_version = ""
        self._bare = (0, 0)
        self._lock = threading.Lock()

    async def retrieve(self, query: Query, access: Access, k: int) -> Retrieval:
        """At most `k` passages that `access` may read, best first. Raises StoreError.

        `mode` is "hybrid", "lexical" or "semantic", with "+hyde" where an imagined answer was searched for.
        """
        await asyncio.to_thread(self._follow)
        version = self._kb_version
        if query.by == "words":
            found = await asyncio.to_thread(self._by_words, query, access, k)
        elif query.by == "meaning":
            found = await self._by_meaning(query, access, k)
        else:
            found = await self._by_both(query, access, k)
        mode = f"{found.mode}+hyde" if query.imagined and found.mode != "lexical" else found.mode
        return replace(found, kb_version=version, mode=mode, notes=() if query.by == "words" else self._notes(found))

    def _notes(self, found: Retrieval) -> tuple[str, ...]:
        """Notes on what this search lacks: vectors of the embedding model in use, for all passages or for some."""
        if found.notes or not found.passages:
            return found.notes
        if found.mode == "lexical":
            return (_NO_VECTORS if self._embedder is None else _NONE_OF_THIS_MODEL,)
        return (_SOME_BARE.format(*self._bare),) if self._bare[0] > 0 else ()

    def _by_words(self, query: Query, access: Access, k: int) -> Retrieval:
        """Search by BM25 alone; names do not select."""
        bm25 = dict(self._words.search(query.text, access, max(k, _DEPTH)))
        return self._retrieval(fuse(bm25, {}, 0.0, _with_spare(k)), {}, access, k)

    async def _by_meaning(self, query: Query, access: Access, k: int) -> Retrieval:
        """Search by cosine alone, names do not select; a score is the cosine, 0 at least. By words where there are no vectors."""
        vector, note = await self._vector(query, {})
        near = await asyncio.to_thread(self._near, vector, access, max(k, _DEPTH), ())
        if not near.best:
            return _noted(await asyncio.to_thread(self._by_words, query, access, k), note)
        ordered = sorted(near.best.items(), key=lambda item: (-item[1], item[0]))[: _with_spare(k)]
        fused = [Fused(pk, min(1.0, max(0.0, cosine)), None, cosine) for pk, cosine in ordered]
        return await asyncio.to_thread(self._retrieval, fused, near.own, access, k, "semantic")

    async def _by_both(self, query: Query, access: Access, k: int) -> Retrieval:
        linked = (await self._linker.link([query.text], access))[0][:_NAMES] if self._linker else []
        selecting = await asyncio.to_thread(self._selecting, linked, access) if linked else {}
        vector, note = await self._vector(query, selecting)
        return _noted(await asyncio.to_thread(self._fused, query.text, vector, access, k, selecting=selecting), note)

    def _selecting(self, linked: Sequence[Linked], access: Access) -> dict[Linked, float]:
        """Names that tell their passages from all others, with their exclusiveness."""
        shares = {name: exclusiveness(*self._words.named(name.name, access)) for name in linked}
        return {name: share for name, share in shares.items() if share >= _TELLS}

    async def _vector(self, query: Query, selecting: Mapping[Linked, float]) -> QueryVector:
        """The vector to search for: question, and question with the names that do not select, half and half; of that and of an imagined
        answer half and half again.

        None without a model, without vectors of its, or where it does not answer.
        """
        if self._embedder is None or self._vectors is None or len(self._vectors) == 0:
            return QueryVector(None)
        topical = [e for e in query.entities if not _selected(query, e, selecting)]
        return await query_vector(self._embedder, question_texts(question_of(query), topical), query.imagined)

    def _fused(
        self, text: str, vector: Vectors | None, access: Access, k: int, *, selecting: Mapping[Linked, float]
    ) -> Retrieval:
        depth = max(k, _DEPTH)
        bm25 = dict(self._words.search(text, access, depth))
        named: dict[int, float] = {}
        for name, share in selecting.items():
            for pk in self._words.titled(name.name, text, access, max(k, _TITLED)):
                named[pk] = max(named.get(pk, 0.0), share)
        near = self._near(vector, access, depth, {**bm25, **named})
        weight = semantic_weight(text, max(selecting.values(), default=0.0))
        fused = fuse(bm25, near.best, weight, _with_spare(k), named)
        return self._retrieval(fused, near.own, access, k, "hybrid" if near.best else "lexical")

    def _near(self, vector: Vectors | None, access: Access, depth: int, also: Iterable[int]) -> _Near:
        """Cosines of the `depth` nearest that `access` may read, and of what was found otherwise (`also`)."""
        if vector is None or self._vectors is None:
            return _Near({}, {})
        own = dict(self._vectors.search(vector, access, depth))
        keys = {*own, *also}
        for index in self._hypotheticals:
            keys.update(pk for pk, _ in index.search(vector, access, depth))
        own |= self._vectors.cosines(vector, [pk for pk in keys if pk not in own])
        best = dict(own)
        for index in self._hypotheticals:
            for pk, cosine in index.cosines(vector, list(keys)).items():
                best[pk] = max(best.get(pk, -1.0), cosine)
        return _Near(own, best)

    def _retrieval(
        self, fused: Sequence[Fused], own: Mapping[int, float], access: Access, k: int, mode: str = "lexical"
    ) -> Retrieval:
        """The fused results that the store lets `access` read, as passages. A passage tells its own cosine: what was imagined of it is not
        in it.
        """
        rows = self._store.rows([f.key for f in fused[:k]])
        kept = _readable(fused[:k], rows, access)
        if len(kept) < min(k, len(fused)):  # repetitions, or rights that the indexes have not followed yet
            rows |= self._store.rows([f.key for f in fused[k:]])
            kept = _readable(fused, rows, access)
        passages = tuple(_passage(row, replace(f, semantic=own.get(f.key))) for row, f in kept[:k])
        return Retrieval(passages, self._kb_version, mode)

    def _follow(self) -> None:
        generation = self._store.generation()
        if generation != self._seen:
            with self._lock:
                if generation != self._seen:
                    self._words.reload()
                    for index in (*([self._vectors] if self._vectors is not None else []), *self._hypotheticals):
                        index.refresh()
                    chunks = self._store.counts()[1]
                    self._bare = chunks - (0 if self._vectors is None else len(self._vectors)), chunks
                    self._kb_version = self._store.kb_version()
                    self._seen = generation


def _noted(found: Retrieval, note: str) -> Retrieval:
    return replace(found, notes=(note,)) if note else found


def _with_spare(k: int) -> int:
    return k + max(_SPARE, k // 4)


def _readable(fused: Sequence[Fused], rows: Mapping[int, ChunkRow], access: Access) -> list[tuple[ChunkRow, Fused]]:
    """The rows that the store lets `access` read now, without those that repeat a better passage of the same title and the same rights."""
    kept: list[tuple[ChunkRow, Fused]] = []
    seen: set[tuple[object, ...]] = set()
    for f in fused:
        row = rows.get(f.key)
        if row is not None and row.readable_by(access) and row.repetition_key not in seen:
            seen.add(row.repetition_key)
            kept.append((row, f))
    return kept


def _selected(query: Query, entity: str, selecting: Mapping[Linked, float]) -> bool:
    """True if a selecting name stands in this entity of the query's text."""
    start = query.text.find(entity)
    return any(share >= SELECTS and start <= name.start < start + len(entity) for name, share in selecting.items())


def _passage(row: ChunkRow, fused: Fused) -> Passage:
    return row.as_passage(round(fused.score, 6), bm25=fused.bm25, semantic=fused.semantic)
