"""Measures against hand-worked examples and against their definitions computed the slow way."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.evaluate.statistics import metrics

SCORES = st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 1.0]), min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("positives", "negatives", "expected"),
    [
        ([0.9, 0.8], [0.1, 0.2], 1.0),
        ([0.1], [0.9], 0.0),
        ([0.5], [0.5], 0.5),
        ([0.8, 0.4], [0.4, 0.2], 0.875),  # pairs: 1, 1, 1/2, 1
        ([], [0.5], None),
        ([0.5], [], None),
    ],
)
def test_auroc_by_hand(positives: list[float], negatives: list[float], expected: float | None) -> None:
    assert metrics.auroc(positives, negatives) == expected


@given(SCORES, SCORES)
def test_auroc_is_the_chance_that_a_positive_wins(positives: list[float], negatives: list[float]) -> None:
    pairs = [1.0 if p > n else 0.5 if p == n else 0.0 for p, n in itertools.product(positives, negatives)]
    found = metrics.auroc(positives, negatives)
    assert found is not None
    assert math.isclose(found, sum(pairs) / len(pairs))


@pytest.mark.parametrize(
    ("ranked", "relevant", "k", "expected"),
    [
        (["a", "b", "c"], {"a"}, 10, 1.0),
        (["b", "a"], {"a"}, 10, 1 / math.log2(3)),
        (["x", "a", "b"], {"a", "b"}, 10, (1 / math.log2(3) + 1 / 2) / (1 + 1 / math.log2(3))),
        (["x", "a"], {"a"}, 1, 0.0),
        (["a"], {"a", "b", "c"}, 1, 1.0),  # one place, filled
        ([], {"a"}, 10, 0.0),
        (["a"], set(), 10, None),
    ],
)
def test_ndcg_by_hand(ranked: list[str], relevant: set[str], k: int, expected: float | None) -> None:
    assert metrics.ndcg(ranked, relevant, k) == pytest.approx(expected)


@given(
    st.permutations(["a", "b", "c", "d"]), st.sets(st.sampled_from(["a", "b", "c", "d"]), min_size=1), st.integers(1, 4)
)
def test_ndcg_is_the_gain_over_the_best_of_all_orders(ranked: list[str], relevant: set[str], k: int) -> None:
    def gain(order: tuple[str, ...] | list[str]) -> float:
        return sum((item in relevant) / math.log2(place + 2) for place, item in enumerate(order[:k]))

    best = max(gain(order) for order in itertools.permutations(ranked))
    assert metrics.ndcg(ranked, relevant, k) == pytest.approx(gain(ranked) / best)


@pytest.mark.parametrize(
    ("ranked", "relevant", "k", "recall", "reciprocal"),
    [
        (["a", "x", "b"], {"a", "b"}, 2, 0.5, 1.0),
        (["x", "y", "b"], {"a", "b"}, 3, 0.5, 1 / 3),
        (["x"], {"a"}, 5, 0.0, 0.0),
        (["x"], set(), 5, None, None),
    ],
)
def test_recall_and_reciprocal_rank_by_hand(
    ranked: list[str], relevant: set[str], k: int, recall: float | None, reciprocal: float | None
) -> None:
    assert metrics.recall_at(ranked, relevant, k) == recall
    assert metrics.reciprocal_rank(ranked, relevant) == reciprocal


@pytest.mark.parametrize(
    ("candidate", "reference", "expected"),
    [
        ("the cat", "The CAT!", 1.0),
        ("the cat sat", "the dog", 0.4),  # one of 3, one of 2
        ("the the the", "the", 0.5),  # clipped: 1 of 3, 1 of 1
        ("E-4032", "e 4032", 1.0),
        ("naïve", "na ve", 1.0),  # letters beyond a-z divide words, as in the figure that this is compared with
        ("", "the", 0.0),
        ("?!", "?!", 0.0),
    ],
)
def test_rouge_1_by_hand(candidate: str, reference: str, expected: float) -> None:
    assert metrics.rouge_1(candidate, reference) == pytest.approx(expected)


@given(st.text("ab c", max_size=12), st.text("ab c", max_size=12))
def test_rouge_1_is_the_same_both_ways_and_in_bounds(one: str, other: str) -> None:
    assert metrics.rouge_1(one, other) == metrics.rouge_1(other, one)
    assert 0 <= metrics.rouge_1(one, other) <= 1


@pytest.mark.parametrize(
    ("recall", "false_flags", "expected"),
    [(1.0, 0.0, 1.0), (0.5, 0.5, 0.5), (0.8, 0.1, 0.85), (None, 0.1, None), (1.0, None, None)],
)
def test_balanced_accuracy(recall: float | None, false_flags: float | None, expected: float | None) -> None:
    assert metrics.balanced_accuracy(recall, false_flags) == pytest.approx(expected)


@given(SCORES, SCORES, st.sampled_from([0.0, 0.02, 0.1, 0.25, 0.5, 1.0]))
def test_recall_at_false_flags_is_the_best_of_all_thresholds(
    positives: list[float], negatives: list[float], limit: float
) -> None:
    best = max(
        sum(p > threshold for p in positives) / len(positives)
        for threshold in [-math.inf, *positives, *negatives]
        if sum(n > threshold for n in negatives) / len(negatives) <= limit
    )
    assert metrics.recall_at_false_flags(positives, negatives, limit) == best


def test_what_is_not_defined_is_left_out() -> None:
    assert metrics.defined(a=None, b=0.0) == {"b": 0.0}
    assert metrics.share([]) is None
    assert metrics.mean([]) is None
    assert metrics.share([True, False, False, True]) == 0.5
