"""Teaches the weights of words: logistic regression over words and pairs of words, by accelerated descent; the same lessons give the same weights."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rai.embedded.words import Table, norm, terms
from tools.screen_lessons.expand import Lesson

STRENGTH = 10.0
"""How much the lessons weigh against the wish for small weights."""
STEPS = 1500
FEWEST = 4
"""Fewest lessons that a term stands in."""
Numbers = NDArray[np.float64]
Entries = tuple[NDArray[np.int64], NDArray[np.int64], Numbers]
"""Rows, columns and values of a table that is zero elsewhere."""


def taught(
    table: Table, lessons: Sequence[Lesson], wanted: Sequence[bool], weights: Sequence[float]
) -> dict[str, NDArray[np.generic]]:
    """The arrays `terms`, `rarity`, `weight` and `bias` that tell the wanted lessons from the others; both sides weigh the same in all."""
    counts = [terms(lesson.text, table) for lesson in lessons]
    stands_in = Counter(t for found in counts for t in found)
    names = sorted(t for t, n in stands_in.items() if n >= FEWEST)
    place = {t: i for i, t in enumerate(names)}
    rarity = np.array([math.log((1 + len(lessons)) / (1 + stands_in[t])) + 1 for t in names])
    entries = _sparse(counts, place, rarity)
    truth = np.array(wanted, np.float64)
    pull = np.array(weights, np.float64)
    for side in (0.0, 1.0):
        pull[truth == side] *= len(lessons) / (2 * (truth == side).sum())
    weight, bias = _descended(entries, truth, STRENGTH * pull, len(names))
    return {
        "terms": np.frombuffer("\n".join(names).encode(), np.uint8),
        "rarity": rarity.astype(np.float16),
        "weight": weight.astype(np.float16),
        "bias": np.array(bias, np.float32),
    }


def _sparse(counts: Sequence[Counter[str]], place: dict[str, int], rarity: Numbers) -> Entries:
    rows: list[int] = []
    columns: list[int] = []
    values: list[float] = []
    for i, found in enumerate(counts):
        known = [
            (place[t], (1 + math.log(n)) * float(rarity[place[t]])) for t, n in sorted(found.items()) if t in place
        ]
        length = norm(v for _, v in known)
        rows += [i] * len(known)
        columns += [c for c, _ in known]
        values += [v / length for _, v in known]
    return np.array(rows), np.array(columns), np.array(values)


def _descended(entries: Entries, truth: Numbers, pull: Numbers, width: int) -> tuple[Numbers, float]:
    """Nesterov's descent; the step is one over the steepest curvature, found by powers."""
    rows, columns, values = entries

    def along(w: Numbers) -> Numbers:
        found: Numbers = np.bincount(rows, values * w[columns], len(truth)) + w[-1]
        return found

    def back(slope: Numbers) -> Numbers:
        found: Numbers = np.append(np.bincount(columns, values * slope[rows], width), slope.sum())
        return found

    curve = np.ones(width + 1)
    for _ in range(20):
        curve = back(0.25 * pull * along(curve))
        steepest = float(np.linalg.norm(curve))
        curve /= steepest
    keep = np.append(np.ones(width), 0.0)
    w = ahead = np.zeros(width + 1)
    for step in range(STEPS):
        chance = 1.0 / (1.0 + np.exp(-along(ahead)))
        slope = back(pull * (chance - truth)) + keep * ahead
        after = ahead - slope / (1.05 * steepest + 1.0)
        ahead = after + step / (step + 3) * (after - w)
        w = after
    return w[:-1], float(w[-1])
