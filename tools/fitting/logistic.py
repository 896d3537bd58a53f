"""Penalised logistic regression by Newton's method: what the fits of the embedded models share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
FURTHEST = 30.0
"""Log odds beyond which a chance counts as 0 or 1."""


def newton(design: Matrix, y: Matrix, weight: Matrix, penalty: Matrix, rounds: int) -> Matrix:
    """Coefficients, shape (k,), of the weighted logistic loss plus penalty · w² / 2, after `rounds` steps from zero.

    `design` (n, k), an intercept being a column of ones; `y` in {0, 1} and `weight` ≥ 0, both (n,); `penalty` (k,). Known as iteratively
    reweighted least squares (Hastie, Tibshirani & Friedman, The Elements of Statistical Learning, 2009, 4.4.1).
    """
    w = np.zeros(design.shape[1])
    for _ in range(rounds):
        p = 1 / (1 + np.exp(-np.clip(design @ w, -FURTHEST, FURTHEST)))
        slope = design.T @ (weight * (p - y)) + penalty * w
        hessian = (design * (weight * p * (1 - p))[:, None]).T @ design + np.diag(penalty)
        w -= np.linalg.solve(hessian, slope)
    return w


def logistic(x: Matrix, y: Matrix, weight: Matrix, rounds: int = 30, ridge: float = 0.5) -> Matrix:
    """Intercept and coefficients, shape (k + 1,), of features `x` (n, k); the ridge spares the intercept."""
    design = np.hstack([np.ones((len(x), 1)), x])
    return newton(design, y, weight, np.r_[0.0, np.full(x.shape[1], ridge)], rounds)
