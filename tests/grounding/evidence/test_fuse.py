"""Fusion of word and meaning scores."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounding.evidence.fuse import (
    SELECTS,
    SEMANTIC_WEIGHT_IDENTIFIER,
    SEMANTIC_WEIGHT_NAMED,
    SEMANTIC_WEIGHT_PROSE,
    exclusiveness,
    fuse,
    semantic_weight,
)

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


SHARES = st.dictionaries(st.integers(0, 25), st.floats(0, 1), max_size=12)


@pytest.mark.parametrize(
    ("titled", "spoken_of", "share"),
    [
        (0, 0, 0.0),
        (0, 9, 0.0),
        (1, 0, 2**-8),
        (7, 0, (7 / 8) ** 8),
        (79, 0, (79 / 80) ** 8),
        (5, 4, 2**-8),
        (99, 20, (99 / 120) ** 8),
    ],
)
def test_how_far_a_name_tells_its_passages_from_others(titled: int, spoken_of: int, share: float) -> None:
    assert exclusiveness(titled, spoken_of) == pytest.approx(share)


def test_seven_pages_of_its_own_make_a_name_select_and_an_equal_number_of_others_do_not() -> None:
    assert exclusiveness(7, 0) > SELECTS > exclusiveness(7, 7)


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_exclusiveness_falls_with_every_other_passage_that_speaks_of_the_name(titled: int, spoken_of: int) -> None:
    here = exclusiveness(titled, spoken_of)
    assert 0 <= exclusiveness(titled, spoken_of + 1) <= here <= exclusiveness(titled + 1, spoken_of) <= 1


def test_where_a_name_selects_meaning_decides() -> None:
    """Unless an identifier is asked for, which is a matter of words whatever else is named."""
    question = "is there parking at the gonville hotel"
    assert semantic_weight(question, SELECTS) == SEMANTIC_WEIGHT_NAMED > SEMANTIC_WEIGHT_PROSE
    assert semantic_weight(question, SELECTS - 0.01) == SEMANTIC_WEIGHT_PROSE
    assert semantic_weight("E-42 at the gonville hotel", 1.0) == semantic_weight("E-42 at the gonville hotel")


@given(SCORES, COSINES, SHARES, st.floats(0, 1), st.integers(1, 40))
def test_names_keep_scores_bounded_and_the_order_stable(
    bm25: dict[int, float], semantic: dict[int, float], named: dict[int, float], weight: float, k: int
) -> None:
    """Passages that only a name brought along are among them, without scores of their own."""
    fused = fuse(bm25, semantic, weight, k, named)
    assert len(fused) == min(k, len(bm25.keys() | semantic.keys() | named.keys()))
    assert all(0 <= f.score <= 1 + 1e-9 for f in fused)
    assert [(-f.score, f.key) for f in fused] == sorted((-f.score, f.key) for f in fused)
    turned = [dict(reversed(scores.items())) for scores in (bm25, semantic, named)]
    assert fuse(turned[0], turned[1], weight, k, turned[2]) == fused
    for f in fused:
        assert (f.bm25, f.semantic) == (bm25.get(f.key), semantic.get(f.key))


@given(SCORES, COSINES, st.floats(0, 1))
def test_a_name_that_all_carry_changes_no_order(
    bm25: dict[int, float], semantic: dict[int, float], weight: float
) -> None:
    named = dict.fromkeys(bm25.keys() | semantic.keys(), 0.5)
    plain = {f.key: f.score for f in fuse(bm25, semantic, weight, 50)}
    order = [plain[f.key] for f in fuse(bm25, semantic, weight, 50, named)]
    assert order == pytest.approx(sorted(order, reverse=True), abs=1e-9)


def test_a_name_that_nothing_else_speaks_of_outweighs_words_and_meaning() -> None:
    """Of two passages alike the one that goes by the name is first; far better words still win over a weak name."""
    assert [f.key for f in fuse({1: 9.0, 2: 9.0}, {1: 0.8, 2: 0.8}, 0.7, 2, {2: 1.0})] == [2, 1]
    assert [f.key for f in fuse({1: 9.0, 2: 3.0}, {1: 0.8, 2: 0.3}, 0.7, 2, {2: 1.0})] == [2, 1]
    assert [f.key for f in fuse({1: 9.0, 2: 3.0}, {1: 0.8, 2: 0.3}, 0.7, 2, {2: 0.25})] == [1, 2]
    assert fuse({}, {}, 0.7, 5, {3: 1.0})[0].key == 3
