"""Rank fusion: BM25 and semantic scores, or several result lists, into one order.

A convex combination of scores scaled to [0, 1] keeps what plain reciprocal rank fusion throws away, the distance between scores (Bruch, Gai
& Ingber 2023, "An Analysis of Fusion Functions for Hybrid Retrieval"). The weight is decided per query: a query that names an identifier (a
part number, a version, an error code) is a matter of words, prose is a matter of meaning.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from grounding.records import Passage
from grounding.text import terms

SEMANTIC_WEIGHT_PROSE = 0.7
SEMANTIC_WEIGHT_NAMED = 0.85
"""Where a name has selected the passages, its words no longer tell them apart."""
SELECTS = 0.25
"""Exclusiveness from which a name selects: five of six passages that hold it are titled by it."""
UNSEEN = 1
"""Passages that speak of a name and have not been written yet: one title proves nothing."""
SEMANTIC_WEIGHT_IDENTIFIER = 0.35
NAMED = 0.8
"""What a name that nothing else speaks of adds to a score, where words and meaning together give 1 at most."""
_IDENTIFIER = re.compile(
    r"\b(?=[\w.\-/]{0,80}\d)(?=[\w.\-/]{0,80}[A-Za-z])[\w.\-/]{3,}\b|\b\d{4,}\b|\bv?\d+\.\d+(?:\.\d+)*\b"
)


@dataclass(frozen=True, slots=True)
class Fused:
    """One fused result. `key` names the passage; `score` in [0, 1]; `bm25` raw or None, `semantic` cosine or None."""

    key: int
    score: float
    bm25: float | None
    semantic: float | None


def semantic_weight(query: str, exclusive: float = 0.0) -> float:
    """Weight of the semantic score against BM25 for this query, in [0, 1]. `exclusive`: the greatest exclusiveness of its names."""
    identifiers = len(_IDENTIFIER.findall(query))
    if identifiers == 0:
        return SEMANTIC_WEIGHT_NAMED if exclusive >= SELECTS else SEMANTIC_WEIGHT_PROSE
    share = min(1.0, 4 * identifiers / max(1, len(terms(query))))
    return SEMANTIC_WEIGHT_PROSE - share * (SEMANTIC_WEIGHT_PROSE - SEMANTIC_WEIGHT_IDENTIFIER)


def exclusiveness(titled: int, spoken_of: int) -> float:
    """How well a name tells its passages from all others, in [0, 1]: the eighth power of titled / (titled + spoken_of + UNSEEN).

    `titled`: number of passages that carry the name in their title; `spoken_of`: of others that only mention it. A guest house is named in
    the titles of its own pages only; "home" and even "the Great Wall" stand in other articles too, and there the title is one word of the
    question among others. The power was chosen on the development parts of DSTC11 and MTRAG-UN.
    """
    return float((titled / (titled + spoken_of + UNSEEN)) ** 8) if titled else 0.0


def fuse(
    bm25: Mapping[int, float],
    semantic: Mapping[int, float],
    weight: float,
    k: int,
    named: Mapping[int, float] = MappingProxyType({}),
) -> list[Fused]:
    """The best `k` results of BM25 and cosines combined, best first; equal scores in order of key, so that the order is stable.

    BM25 is divided by its best, cosines are clipped below at 0 and divided by their best; what one side did not find counts 0 there.
    `weight` is that of the cosines. Without semantic scores, words alone decide. `named`: exclusiveness in [0, 1] of the name of the query
    that a passage goes by; it adds `NAMED` times that, and the sum is scaled back to [0, 1].
    """
    if not semantic:
        weight = 0.0
    best_words = max(bm25.values(), default=0.0) or 1.0
    best_meaning = max(max(semantic.values(), default=0.0), 1e-6)
    scored = []
    scale = 1 + NAMED * max(named.values(), default=0.0)
    for key in bm25.keys() | semantic.keys() | named.keys():
        words = bm25.get(key, 0.0) / best_words
        meaning = max(0.0, semantic.get(key, 0.0)) / best_meaning
        scored.append((-((1 - weight) * words + weight * meaning + NAMED * named.get(key, 0.0)) / scale, key))
    scored.sort()
    return [Fused(key, -score, bm25.get(key), semantic.get(key)) for score, key in scored[:k]]


def reciprocal_ranks(lists: Sequence[Sequence[Passage]], constant: int = 60) -> tuple[Passage, ...]:
    """Several result lists merged into one, best first: reciprocal rank fusion (Cormack, Clarke & Buettcher 2009, whose constant is 60).

    Scores of different queries cannot be compared, places can. `score` becomes the sum of 1 / (constant + place), scaled to [0, 1] by that
    of a passage which is first everywhere; every passage keeps the words and cosines of the list that ranked it best.
    """
    sums: dict[str, float] = {}
    best: dict[str, tuple[int, Passage]] = {}
    for results in lists:
        for place, passage in enumerate(results, 1):
            sums[passage.chunk_id] = sums.get(passage.chunk_id, 0.0) + 1 / (constant + place)
            if passage.chunk_id not in best or place < best[passage.chunk_id][0]:
                best[passage.chunk_id] = place, passage
    first_everywhere = len(lists) / (constant + 1)
    ordered = sorted(best, key=lambda key: (-sums[key], best[key][0]))
    return tuple(replace(best[key][1], score=round(sums[key] / first_everywhere, 6)) for key in ordered)
