"""The corrective decision (CRAG, arXiv 2401.15884) by the thresholds of hybrid CRAG, with the rule that fired and its margin."""

from __future__ import annotations

from dataclasses import dataclass

from grounding.policy import Policy
from grounding.records import Action, Grading


@dataclass(frozen=True, slots=True)
class Decision:
    """What the grades decide. `kept` are chunk ids, best first; `margin` is the distance to the threshold, >= 0."""

    action: Action
    kept: tuple[str, ...]
    rule: str
    threshold: float
    margin: float


def decide(grading: Grading, policy: Policy) -> Decision:
    """Correct if the best grade reaches `correct_at`: those passages, no web. Otherwise passages from `keep_at` on, and the web.

    No passage counts as a best grade of 0. Ungraded passages are ambiguous and all kept, best rank first.
    """
    if grading.status == "ungraded":
        return Decision(Action.AMBIGUOUS, tuple(g.chunk_id for g in grading.grades), "ungraded", 0.0, 0.0)
    ranked = sorted(grading.grades, key=lambda g: -g.score)  # stable: ties keep the order of retrieval
    best = ranked[0].score if ranked else 0.0
    if best >= policy.correct_at:
        kept = tuple(g.chunk_id for g in ranked if g.score >= policy.correct_at)
        return Decision(
            Action.CORRECT, kept, "max_at_least_correct", policy.correct_at, round(best - policy.correct_at, 4)
        )
    kept = tuple(g.chunk_id for g in ranked if g.score >= policy.keep_at)
    if kept:
        return Decision(
            Action.AMBIGUOUS, kept, "max_below_correct", policy.correct_at, round(policy.correct_at - best, 4)
        )
    return Decision(Action.INCORRECT, (), "max_below_keep", policy.keep_at, round(policy.keep_at - best, 4))
