"""The conditional logit finds what decides a choice, and is told nothing by what all candidates share."""

from __future__ import annotations

import numpy as np
import pytest

from tools.fitting.choice import choice


def test_what_decides_is_found_and_what_all_candidates_share_has_no_say() -> None:
    draw = np.random.default_rng(3)
    features, right = [], []
    for _ in range(60):
        x = np.column_stack([draw.normal(size=8), draw.normal(size=8), np.full(8, draw.normal())])
        features.append(x)
        right.append((x[:, 0] == x[:, 0].max()).astype(float))
    decides, noise, shared = choice(features, right, ridge=0.01)
    assert decides > 5 * abs(noise)
    assert shared == pytest.approx(0, abs=1e-6)


def test_a_choice_of_many_weighs_as_much_as_one_of_few() -> None:
    few, many = np.array([[1.0], [0.0]]), np.array([[1.0], *[[0.0]] * 9])
    first, second = np.eye(2)[0], np.eye(10)[0]
    against = 1 - second  # of the many any but the first is right
    assert choice([few, many], [first, second], ridge=0.1)[0] > choice([few, many], [first, against], ridge=0.1)[0]
