"""Conditional logit (McFadden 1974): a linear score by which the right one of several candidates is chosen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tools.fitting.logistic import Matrix

ROUNDS = 400
RATE, MEMORY, SPREAD = 0.05, 0.9, 0.999
"""Step and decay rates of Adam (Kingma & Ba 2015)."""


def choice(features: Sequence[Matrix], right: Sequence[Matrix], ridge: float) -> Matrix:
    """Coefficients (k,) that maximise the mean log probability of choosing a right candidate, less ridge · w² / 2 over spread features.

    For each choice `features` (n, k) of its candidates and `right` (n,) in {0, 1}, at least one of them 1. What is the same for all
    candidates of a choice has no say. A choice of many candidates weighs as much as one of few.
    """
    x, y = np.vstack(features), np.concatenate(right)
    spread = x.std(0) + 1e-6
    z = (x - x.mean(0)) / spread
    sizes = np.array([len(one) for one in features])
    starts, of = np.r_[0, np.cumsum(sizes)[:-1]], np.repeat(np.arange(len(sizes)), sizes)
    w, mean, square = (np.zeros(x.shape[1]) for _ in range(3))

    def shares(weights: Matrix) -> Matrix:
        return np.asarray(weights / (np.add.reduceat(weights, starts)[of] + 1e-12))

    for step in range(1, ROUNDS + 1):
        told = z @ w
        odds = np.exp(told - np.maximum.reduceat(told, starts)[of])
        slope = z.T @ (shares(odds) - shares(odds * y)) / len(sizes) + ridge * w
        mean = MEMORY * mean + (1 - MEMORY) * slope
        square = SPREAD * square + (1 - SPREAD) * slope**2
        w = w - RATE * (mean / (1 - MEMORY**step)) / (np.sqrt(square / (1 - SPREAD**step)) + 1e-8)
    return np.asarray(w / spread)
