"""The corrective decision at its thresholds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounding.decide import decide
from grounding.grade import binary_of, label_of
from grounding.policy import Policy
from grounding.records import Action, Grade, Grading


def graded(*scores: float) -> Grading:
    grades = [Grade(f"c{i}", s, label_of(s), binary_of(s), None, "") for i, s in enumerate(scores)]
    return Grading("graded", tuple(grades))


@pytest.mark.row("0-14")
@pytest.mark.row("0-15")
@pytest.mark.row("0-16")
@pytest.mark.parametrize(
    ("scores", "action", "kept"),
    [
        ((0.8, 0.79), Action.CORRECT, ("c0",)),
        ((0.79, 0.4, 0.39), Action.AMBIGUOUS, ("c0", "c1")),
        ((0.5, 0.9, 0.8), Action.CORRECT, ("c1", "c2")),
        ((0.39, 0.1), Action.INCORRECT, ()),
        ((0.4,), Action.AMBIGUOUS, ("c0",)),
        ((1.0,), Action.CORRECT, ("c0",)),
        ((0.0,), Action.INCORRECT, ()),
    ],
)
def test_thresholds(scores: tuple[float, ...], action: Action, kept: tuple[str, ...]) -> None:
    decision = decide(graded(*scores), Policy())
    assert (decision.action, decision.kept) == (action, kept)


@pytest.mark.row("0-13")
def test_nothing_retrieved_counts_as_zero() -> None:
    decision = decide(graded(), Policy())
    assert decision.action is Action.INCORRECT
    assert decision.margin == pytest.approx(0.4)


def test_ungraded_is_ambiguous_and_keeps_all_in_order() -> None:
    grading = Grading("ungraded", graded(0.1, 0.9).grades, "the grader did not answer")
    decision = decide(grading, Policy())
    assert (decision.action, decision.kept) == (Action.AMBIGUOUS, ("c0", "c1"))


@given(st.lists(st.floats(0, 1), max_size=12))
def test_what_is_kept_reached_its_threshold(scores: list[float]) -> None:
    """The rule that fired, its threshold and margin always agree with the scores; ties keep the order of retrieval."""
    decision = decide(graded(*scores), Policy())
    by_id = {f"c{i}": s for i, s in enumerate(scores)}
    least = 0.8 if decision.action is Action.CORRECT else 0.4
    assert set(decision.kept) == ({i for i, s in by_id.items() if s >= least})
    order = [(-by_id[i], int(i[1:])) for i in decision.kept]
    assert order == sorted(order)
    assert decision.margin >= 0


@pytest.mark.row("3-05")
def test_labels_cover_the_scale() -> None:
    assert [label_of(s) for s in (0.0, 0.19, 0.2, 0.59, 0.6, 0.79, 0.8, 1.0)] == [
        "Awful", "Awful", "Poor", "Poor", "Good", "Good", "Perfect", "Perfect",
    ]  # fmt: skip
