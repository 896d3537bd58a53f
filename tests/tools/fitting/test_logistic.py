"""Newton's method against what can be worked out by hand, and against the condition that every optimum meets."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tools.fitting.logistic import logistic, newton


def test_an_intercept_alone_is_the_log_odds_of_the_weighted_share() -> None:
    y, weight = np.array([1.0, 0.0, 0.0]), np.array([3.0, 1.0, 1.0])
    found = newton(np.ones((3, 1)), y, weight, np.zeros(1), rounds=20)
    assert found == pytest.approx([math.log(3 / 2)])


def test_the_slope_of_the_penalised_loss_is_zero_where_it_ends() -> None:
    draw = np.random.default_rng(7)
    x, weight = draw.normal(size=(200, 3)), draw.uniform(0.5, 2.0, 200)
    y = (draw.uniform(size=200) < 1 / (1 + np.exp(-x @ [1.0, -2.0, 0.0]))).astype(float)
    w = logistic(x, y, weight, ridge=0.5)
    p = 1 / (1 + np.exp(-(w[0] + x @ w[1:])))
    assert (weight * (p - y)).sum() == pytest.approx(0, abs=1e-8)
    assert x.T @ (weight * (p - y)) + 0.5 * w[1:] == pytest.approx(np.zeros(3), abs=1e-8)
    assert w[1] > 0 > w[2]


def test_a_penalty_keeps_what_can_be_told_apart_without_error_finite() -> None:
    x, y = np.array([[-1.0], [1.0]]), np.array([0.0, 1.0])
    loose, tight = (logistic(x, y, np.ones(2), ridge=ridge)[1] for ridge in (0.1, 10.0))
    assert 0 < tight < loose < 10
