"""Bootstrap confidence intervals of a mean over questions: how far it could be off by the luck of which were asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SEED = 20
RESAMPLES = 10_000
LEVEL = 0.95
_AT_ONCE = 2_000_000
"""Drawn questions held in memory at a time."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean of `n` values and the ends of its 95 % percentile interval over `resamples` draws from `seed`."""

    mean: float
    low: float
    high: float
    n: int
    seed: int = SEED
    resamples: int = RESAMPLES


def interval(values: Sequence[float], *, seed: int = SEED, resamples: int = RESAMPLES) -> Interval | None:
    """Percentile bootstrap of the mean (Efron & Tibshirani, 1993, ch. 13). None without values.

    With differences of pairs as `values` it is the paired bootstrap of two systems on the same questions
    (Sakai, SIGIR 2006). The same values, seed and number of resamples give the same interval.
    """
    if not values:
        return None
    given = np.asarray(values, dtype=np.float64)
    means = _resampled_means(given, seed, resamples)
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(means, (tail, 1 - tail))
    return Interval(float(given.mean()), float(low), float(high), len(values), seed, resamples)


def balanced_interval(
    groups: Sequence[Sequence[float]], *, seed: int = SEED, resamples: int = RESAMPLES
) -> Interval | None:
    """Percentile bootstrap of the mean of group means (stratified: each group is resampled on its own). None without groups, or with an empty one."""
    if not groups or not all(groups):
        return None
    given = [np.asarray(values, dtype=np.float64) for values in groups]
    means = np.mean([_resampled_means(values, seed + i, resamples) for i, values in enumerate(given)], axis=0)
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(means, (tail, 1 - tail))
    middle = float(np.mean([values.mean() for values in given]))
    return Interval(middle, float(low), float(high), sum(map(len, groups)), seed, resamples)


def _resampled_means(values: NDArray[np.float64], seed: int, resamples: int) -> NDArray[np.float64]:
    draws = np.random.default_rng(seed)
    step = max(1, _AT_ONCE // len(values))
    parts = [
        values[draws.integers(0, len(values), (min(step, resamples - done), len(values)))].mean(axis=1)
        for done in range(0, resamples, step)
    ]
    return np.concatenate(parts)
