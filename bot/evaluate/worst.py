"""The questions to look at first."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from bot.evaluate.questions import Question

_WORD = re.compile(r"[a-z0-9]+")
_PERFECT = 1 - 1e-9


def worst_first(questions: Sequence[Question], metric: str) -> list[Question]:
    """Questions whose figure is below 1, lowest first.

    Of equals first the severest, then those whose first right document stands lowest or was not found at all, then those with most reasons,
    then in the order given.
    """
    below = [q for q in questions if q.metrics.get(metric, 1.0) < _PERFECT]
    return sorted(below, key=lambda q: (q.metrics[metric], -q.severity, -_depth(q), -len(q.why)))


def answered_though_absent(questions: Sequence[Question]) -> list[Question]:
    """Questions that were answered from passages that cannot hold the answer, the surest first."""
    found = [q for q in questions if q.where == "absent" and q.answered]
    return sorted(found, key=lambda q: -best_grade(q))


def refused_though_present(questions: Sequence[Question]) -> list[Question]:
    """Questions for which nothing was kept although the answer is there, the nearest to the threshold first."""
    found = [q for q in questions if q.where == "present" and q.answered is False]
    return sorted(found, key=lambda q: -best_grade(q))


def best_grade(question: Question) -> float:
    """The best grade among the passages shown, 0 without any."""
    return max((hit.grade for hit in question.hits if hit.grade is not None), default=0.0)


def words_apart(have: str, want: str) -> tuple[list[str], list[str]]:
    """Words of `want` that `have` lacks, and words of `have` that `want` has not; each once, in order."""
    mine, theirs = ([*dict.fromkeys(_WORD.findall(text.lower()))] for text in (have, want))
    return [w for w in theirs if w not in mine], [w for w in mine if w not in theirs]


def _depth(question: Question) -> float:
    return math.inf if question.first_rank is None else float(question.first_rank)
