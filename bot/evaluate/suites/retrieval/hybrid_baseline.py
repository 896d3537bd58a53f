"""Baseline of retrieval: the last turn as the query, BM25 and vector search merged by reciprocal rank fusion."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bot.system import System
from grounding.query.conversation import last_asked
from grounding.records import Access, Passage, Query, Turn

DEPTH = 100
"""Passages that each ranking gives to the fusion."""
LOOKED_AT = 1000
CONSTANT = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke & Büttcher, SIGIR 2009)."""


async def plain_hybrid(system: System, turns: Sequence[Turn], access: Access) -> list[str] | None:
    """Distinct ids of documents, best first, for the last question as it was said; None where the search tells no scores.

    Both scores come from the system's own indexes, over the best `LOOKED_AT` passages. Where there are no vectors it is BM25 alone.
    """
    found = await system.retriever.retrieve(Query(turns[last_asked(turns)].text), access, LOOKED_AT)
    if found.passages and all(p.bm25 is None and p.semantic is None for p in found.passages):
        return None
    return fused(found.passages)


def fused(passages: Sequence[Passage], constant: int = CONSTANT) -> list[str]:
    """Reciprocal rank fusion: ids of documents by the sum of 1 / (constant + rank) over both rankings, best first; ties keep the order given."""
    places: dict[str, float] = {}
    for score in (_bm25, _semantic):
        for rank, passage in enumerate(_ranking(passages, score), start=1):
            places[passage.chunk_id] = places.get(passage.chunk_id, 0.0) + 1 / (constant + rank)
    ordered = sorted((p for p in passages if p.chunk_id in places), key=lambda p: -places[p.chunk_id])
    return list(dict.fromkeys(p.doc_id for p in ordered))


def _ranking(passages: Sequence[Passage], score: Callable[[Passage], float | None]) -> list[Passage]:
    scored = [(value, passage) for passage in passages if (value := score(passage)) is not None]
    return [passage for _, passage in sorted(scored, key=lambda pair: -pair[0])[:DEPTH]]


def _bm25(passage: Passage) -> float | None:
    return passage.bm25


def _semantic(passage: Passage) -> float | None:
    return passage.semantic
