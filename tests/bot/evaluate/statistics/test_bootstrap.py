"""Intervals: the same each time, and right where the distribution of the mean is known."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.evaluate.statistics.bootstrap import balanced_interval, interval


def test_five_of_ten_give_the_quantiles_of_the_binomial_distribution() -> None:
    """The mean of a resample is Binomial(10, 1/2) / 10, of which 2.5 % lie at or below 0.2 and 97.5 % at or below 0.8."""
    span = interval([0.0] * 5 + [1.0] * 5)
    assert span is not None
    assert (span.mean, span.low, span.high, span.n, span.resamples) == (0.5, 0.2, 0.8, 10, 10_000)


def test_a_hundred_halves_come_near_the_normal_interval() -> None:
    span = interval([0.0, 1.0] * 50)
    assert span is not None
    assert span.low == pytest.approx(0.5 - 1.96 * 0.05, abs=0.011)
    assert span.high == pytest.approx(0.5 + 1.96 * 0.05, abs=0.011)


def test_the_same_seed_gives_the_same_interval_and_another_seed_another() -> None:
    values = [n / 37 % 1 for n in range(50)]
    assert interval(values) == interval(values)
    first, second = interval(values, seed=1), interval(values, seed=2)
    assert first is not None
    assert second is not None
    assert (first.low, first.high) != (second.low, second.high)


def test_many_values_are_drawn_in_parts_and_all_resamples_are_made() -> None:
    span = interval([0.0, 1.0] * 1500, resamples=2001)
    assert span is not None
    assert (span.n, span.resamples) == (3000, 2001)
    assert 0.47 < span.low < 0.5 < span.high < 0.53


def test_without_values_there_is_none() -> None:
    assert interval([]) is None


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=20))
def test_the_interval_lies_within_the_values_and_is_a_point_when_they_are_equal(values: list[float]) -> None:
    span = interval(values, resamples=200)
    assert span is not None
    assert min(values) - 1e-9 <= span.low <= span.high <= max(values) + 1e-9
    same = interval([values[0]] * 5, resamples=50)
    assert same is not None
    assert same.low == pytest.approx(values[0])
    assert same.high == pytest.approx(values[0])


def test_the_interval_of_two_kinds_of_question_lets_each_kind_count_the_same() -> None:
    span = balanced_interval([[1.0] * 90 + [0.0] * 10, [1.0, 0.0] * 10])
    assert span is not None
    assert span.mean == pytest.approx(0.7)
    assert span.n == 120
    expected = math.sqrt(0.9 * 0.1 / 100 + 0.25 / 20) / 2 * 1.96
    assert span.high - span.mean == pytest.approx(expected, abs=0.015)
    assert span == balanced_interval([[1.0] * 90 + [0.0] * 10, [1.0, 0.0] * 10])
    assert balanced_interval([]) is None
    assert balanced_interval([[1.0], []]) is None
