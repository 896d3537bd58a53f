"""The decision of corrective RAG (CRAG, arXiv 2401.15884): from grades to an action, with the rule that fired, its threshold and the
margin.

Each source document has its own rule. Counts are compared as integers and means with a tolerance: three passages labelled "Good" have a
mean of 0.6999999999999998 in doubles, and the commonest good outcome would go to the web.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grounding.policy import Policy
from grounding.records import Action, Grade, Grading, Passage

TOLERANCE = 1e-9
"""Of means (requirement 3-10)."""
_TOO_MANY = 7
"""Tenths of the passages: more irrelevant ones, or no more relevant ones, and the evidence is not enough (2-04, 2-05)."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The action that the grades lead to. `kept`: chunk ids, best first; `value`: what was compared with `threshold`; `margin` >= 0: their
    distance.
    """

    action: Action
    kept: tuple[str, ...]
    rule: str
    threshold: float
    margin: float
    value: float = 0.0


def value_of(grade: Grade, policy: Policy) -> float:
    """A grade as a number in [0, 1], as the policy's style reads it: the label's number, 1 for yes, or the score."""
    if policy.style == "label":
        return policy.labels[grade.label]
    if policy.style == "binary":
        return float(grade.binary == "yes")
    return grade.score


def decide(grading: Grading, policy: Policy) -> Decision:
    """Decide by the policy's rule. Nothing retrieved is incorrect whatever the rule; ungraded passages are ambiguous and all kept, best
    rank first.
    """
    if grading.status == "ungraded":
        return Decision(Action.AMBIGUOUS, tuple(g.chunk_id for g in grading.grades), "ungraded", 0.0, 0.0)
    if not grading.grades:
        return _decision(Action.INCORRECT, (), "nothing_retrieved", policy.keep_at, 0.0)
    ranked = sorted(
        ((value_of(g, policy), g) for g in grading.grades), key=lambda pair: -pair[0]
    )  # stable: ties keep rank
    return _RULES[policy.rule](ranked, policy)


Ranked = Sequence[tuple[float, Grade]]


def _max_score(ranked: Ranked, policy: Policy) -> Decision:
    """Rule: correct if the best grade reaches `correct_at`, and the passages that do are kept; otherwise those that reach `keep_at` (0-13
    to 0-16).
    """
    best = ranked[0][0]
    if best >= policy.correct_at:
        return _decision(
            Action.CORRECT, _ids(ranked, policy.correct_at), "max_at_least_correct", policy.correct_at, best
        )
    kept = _ids(ranked, policy.keep_at)
    if kept:
        return _decision(Action.AMBIGUOUS, kept, "max_below_correct", policy.correct_at, best)
    return _decision(Action.INCORRECT, (), "max_below_keep", policy.keep_at, best)


def _irrelevant_over_70(ranked: Ranked, policy: Policy) -> Decision:
    """Rule: not correct if more than seven tenths of the passages are irrelevant (2-04, the document's text)."""
    kept = _ids(ranked, policy.keep_at)
    irrelevant = len(ranked) - len(kept)
    fires = irrelevant * 10 > _TOO_MANY * len(ranked)
    return _decision(_acted(fires, kept), kept, policy.rule, _TOO_MANY / 10, irrelevant / len(ranked))


def _relevant_at_most_70(ranked: Ranked, policy: Policy) -> Decision:
    """Rule: not correct if at most seven tenths of the passages are relevant (2-05, the document's code)."""
    kept = _ids(ranked, policy.keep_at)
    fires = len(kept) * 10 <= _TOO_MANY * len(ranked)
    return _decision(_acted(fires, kept), kept, policy.rule, _TOO_MANY / 10, len(kept) / len(ranked))


def _mean_kept(ranked: Ranked, policy: Policy) -> Decision:
    """Rule: not correct if nothing is kept, or the mean grade of what is kept lies below `correct_at` (3-10, 3-11)."""
    kept = _ids(ranked, policy.keep_at)
    if not kept:
        return _decision(Action.INCORRECT, (), "max_below_keep", policy.keep_at, ranked[0][0])
    mean = sum(value for value, _ in ranked[: len(kept)]) / len(kept)
    return _decision(_acted(mean < policy.correct_at - TOLERANCE, kept), kept, policy.rule, policy.correct_at, mean)


def _mean_all_retrieved(ranked: Ranked, policy: Policy) -> Decision:
    """Rule: not correct if nothing is kept, or the mean grade of everything retrieved lies below `correct_at` (C-02: what the workshop may
    have meant).
    """
    kept = _ids(ranked, policy.keep_at)
    if not kept:
        return _decision(Action.INCORRECT, (), "max_below_keep", policy.keep_at, ranked[0][0])
    mean = sum(value for value, _ in ranked) / len(ranked)
    fires = mean < policy.correct_at - TOLERANCE
    return _decision(_acted(fires, kept), kept, policy.rule, policy.correct_at, mean)


def _top_k(ranked: Ranked, policy: Policy) -> Decision:
    """Rule: always correct, with what reaches `keep_at`, best first (1-06, 4-14); the check decides what leaves."""
    return _decision(Action.CORRECT, _ids(ranked, policy.keep_at), policy.rule, policy.keep_at, ranked[0][0])


_RULES = {
    "max_score": _max_score,
    "irrelevant_over_70": _irrelevant_over_70,
    "relevant_at_most_70": _relevant_at_most_70,
    "mean_kept": _mean_kept,
    "mean_all_retrieved": _mean_all_retrieved,
    "top_k": _top_k,
}


def _ids(ranked: Ranked, at: float) -> tuple[str, ...]:
    return tuple(grade.chunk_id for value, grade in ranked if value >= at)


def _acted(fires: bool, kept: tuple[str, ...]) -> Action:  # whether the corrective rule fires
    if not kept:
        return Action.INCORRECT
    return Action.AMBIGUOUS if fires else Action.CORRECT


def _decision(action: Action, kept: tuple[str, ...], rule: str, threshold: float, value: float) -> Decision:
    return Decision(action, kept, rule, threshold, round(abs(value - threshold), 4), round(value, 4))


def taken_as_found(passages: Sequence[Passage]) -> Grading:
    """Grading of style "none", for which nobody judges: a passage's grade is its score in the search."""
    return Grading(
        "graded",
        tuple(
            Grade(
                p.chunk_id, min(1.0, max(0.0, p.score)), "Good", "yes", None, f"not graded: place {place} of the search"
            )
            for place, p in enumerate(passages, 1)
        ),
    )
