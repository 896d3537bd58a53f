"""Fusion of BM25 and semantic scores into one order.

A convex combination of scores scaled to [0, 1] keeps what plain reciprocal rank fusion throws away, the distance between
scores (Bruch, Gai & Ingber 2023, "An Analysis of Fusion Functions for Hybrid Retrieval"). The weight is decided per query:
a query that names an identifier (a part number, a version, an error code) is a matter of words, prose is a matter of meaning.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from grounding.text import terms

SEMANTIC_WEIGHT_PROSE = 0.7
SEMANTIC_WEIGHT_IDENTIFIER = 0.35
_IDENTIFIER = re.compile(r"\b(?=[\w.\-/]*\d)(?=[\w.\-/]*[A-Za-z])[\w.\-/]{3,}\b|\b\d{4,}\b|\bv?\d+\.\d+(?:\.\d+)*\b")


@dataclass(frozen=True, slots=True)
class Fused:
    """One fused result. `score` in [0, 1]; `bm25` raw or None, `semantic` cosine or None."""

    key: int
    score: float
    bm25: float | None
    semantic: float | None


def semantic_weight(query: str) -> float:
    """Weight of meaning against words for this query, in [0, 1]."""
    identifiers = len(_IDENTIFIER.findall(query))
    if identifiers == 0:
        return SEMANTIC_WEIGHT_PROSE
    share = min(1.0, 4 * identifiers / max(1, len(terms(query))))
    return SEMANTIC_WEIGHT_PROSE - share * (SEMANTIC_WEIGHT_PROSE - SEMANTIC_WEIGHT_IDENTIFIER)


def fuse(bm25: Mapping[int, float], semantic: Mapping[int, float], weight: float, k: int) -> list[Fused]:
    """The best `k` of both, best first; equal scores in order of key, so that the order is stable.

    BM25 is divided by its best, cosines are clipped below at 0 and divided by their best; what one side did not find
    counts 0 there. Without semantic scores, words alone decide.
    """
    if not semantic:
        weight = 0.0
    best_words = max(bm25.values(), default=0.0) or 1.0
    best_meaning = max(max(semantic.values(), default=0.0), 1e-6)
    fused = []
    for key in bm25.keys() | semantic.keys():
        words = bm25.get(key, 0.0) / best_words
        meaning = max(0.0, semantic.get(key, 0.0)) / best_meaning
        fused.append(Fused(key, (1 - weight) * words + weight * meaning, bm25.get(key), semantic.get(key)))
    fused.sort(key=lambda f: (-f.score, f.key))
    return fused[:k]
