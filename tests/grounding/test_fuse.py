"""Fusion of word and meaning scores."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounding.fuse import SEMANTIC_WEIGHT_IDENTIFIER, SEMANTIC_WEIGHT_PROSE, fuse, semantic_weight

SCORES = st.dictionaries(st.integers(0, 20), st.floats(0.01, 40), max_size=12)
COSINES = st.dictionaries(st.integers(0, 20), st.floats(-1, 1), max_size=12)


@pytest.mark.parametrize("query", ["WRN-X2-PSU", "error E-42", "firmware 4.2.1", "order 4155552671"])
def test_identifiers_are_a_matter_of_words(query: str) -> None:
    assert semantic_weight(query) < SEMANTIC_WEIGHT_PROSE


def test_prose_is_a_matter_of_meaning() -> None:
    assert semantic_weight("how long may I keep a router before I return it") == SEMANTIC_WEIGHT_PROSE


def test_more_prose_around_an_identifier_moves_the_weight_back() -> None:
    bare, dressed = (
        semantic_weight("E-42"),
        semantic_weight("my old router blinks and shows error E-42 after the last storm, what should happen next"),
    )
    assert SEMANTIC_WEIGHT_IDENTIFIER <= bare < dressed < SEMANTIC_WEIGHT_PROSE


@given(SCORES, COSINES, st.floats(0, 1), st.integers(1, 30))
def test_fused_lists_are_ordered_and_bounded(
    bm25: dict[int, float], semantic: dict[int, float], weight: float, k: int
) -> None:
    fused = fuse(bm25, semantic, weight, k)
    assert len(fused) == min(k, len(bm25.keys() | semantic.keys()))
    assert all(0 <= f.score <= 1 + 1e-9 for f in fused)
    assert [(-f.score, f.key) for f in fused] == sorted((-f.score, f.key) for f in fused)
    for f in fused:
        assert (f.bm25, f.semantic) == (bm25.get(f.key), semantic.get(f.key))


@given(SCORES)
def test_without_vectors_words_alone_decide(bm25: dict[int, float]) -> None:
    keys = [f.key for f in fuse(bm25, {}, 0.7, 50)]
    assert keys == sorted(bm25, key=lambda key: (-(bm25[key] / max(bm25.values())), key))
