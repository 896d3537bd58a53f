"""How sure it is that what would be quoted answers the question: whether to quote at all.

How well the best block scores tells little of that (it is high for a near miss as well); how far it stands out from all others does, and what kind of
block it is: a row has siblings, a step a procedure around it. Fitted as `tools/fit_sureness.py` fits, over companies and over lessons kept aside; figures stand in docs/decisions/0014-quoting.md and 0026.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from grounding.grading.features import YES_AT
from grounding.query.answer_kind import holds
from grounding.quoting.features import BlockCandidate
from grounding.quoting.question_parts import Reading

NAMES = ("dominance", "row", "step", "list", "typed", "near")
NEAR, SPREAD = 0.42, 10.0
"""Nearness in meaning of a best block in the middle (median of four companies), and what makes a tenth of it 1: without a reader a block counts as that near."""
INTERCEPT = -0.54
COEFFICIENTS: Mapping[str, float] = {
    "dominance": 2.28,
    "row": -0.06,
    "step": 0.80,
    "list": 0.69,
    "typed": -0.27,
    "near": 0.53,
}
SURE: tuple[tuple[float, float], ...] = ((YES_AT, 0.3), (0.0, 0.4))
"""(grade, sureness): what is needed where the best passage has at least that grade. Less brings a few more right answers and more beside the point."""
LEAST: tuple[tuple[float, float], ...] = ((YES_AT, 0.25), (0.0, 0.3))
"""(grade, score): the score that the best block needs however alone it stands: where there are few blocks one always stands out."""
_NEVER = 1e-4


def sure_features(
    reading: Reading, found: Sequence[BlockCandidate], scores: Sequence[Sequence[float]], near: Sequence[float]
) -> tuple[float, ...]:
    """Features as in `NAMES`, about 0 to 1. `scores`: for each part one for each candidate.

    `dominance`: of the odds of all blocks the share of the best one; `typed`: it holds a value of the kind that some part wants; `near`: the best block in
    meaning.
    """
    best_of = [max(part[i] for part in scores) for i in range(len(found))]
    odds = [p / (1 - p) for p in (min(max(score, _NEVER), 1 - _NEVER) for score in best_of)]
    best = max(range(len(found)), key=lambda i: best_of[i])
    block = found[best].block
    typed = any(part.wants is not None and holds(block.text, part.wants) for part in reading.parts)
    return (
        odds[best] / sum(odds),
        float(block.kind == "row"),
        float(block.kind == "step"),
        float(reading.form == "list"),
        float(typed),
        SPREAD * (near[best] - NEAR),
    )


def sureness(
    reading: Reading, found: Sequence[BlockCandidate], scores: Sequence[Sequence[float]], near: Sequence[float]
) -> float:
    """Probability that an answer of quotes is right, by the fitted score."""
    values = zip(NAMES, sure_features(reading, found, scores, near), strict=True)
    z = INTERCEPT + sum(COEFFICIENTS[name] * value for name, value in values)
    return 1 / (1 + math.exp(-z))


def may_quote(
    reading: Reading,
    found: Sequence[BlockCandidate],
    scores: Sequence[Sequence[float]],
    near: Sequence[float],
    grade: float,
) -> bool:
    """True if it is sure enough, `grade` being that of the best passage in [0, 1]."""
    high = max(max(part) for part in scores)
    return high >= needed(LEAST, grade) and sureness(reading, found, scores, near) >= needed(SURE, grade)


def needed(table: Sequence[tuple[float, float]], grade: float) -> float:
    """What a table of (grade, value) asks for at a grade."""
    return next(value for least, value in table if grade >= least)
