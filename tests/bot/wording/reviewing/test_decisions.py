"""A decision in words: every rule reads as English, and its figures add up."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.wording.reviewing.decisions import decision_words, reason_words, step_line, step_words, turn_words
from grounding.corrective.decide import Decision, decide
from grounding.corrective.find import Correction
from grounding.policy import Policy, Rule, Style
from grounding.records import Action, Grade, Grading
from tests.tables import Tables

TABLES = Tables(__file__)


def decided(rule: Rule, *scores: float, **changes: Any) -> dict[str, Any]:
    """What the policy's rule decides on passages of these scores, as the ledger has it."""
    style: Style = "binary" if rule.endswith("_70") else "score"
    grades = tuple(
        Grade(f"c{n}", s, "Good", "yes" if s >= 0.4 else "no", None, "because") for n, s in enumerate(scores)
    )
    policy = Policy(rule=rule, style=style, **({"keep_at": 1.0} if style == "binary" else {}) | changes)
    return asdict(decide(Grading("graded", grades), policy))


@TABLES.each("decisions")
def test_every_rule_in_words(rule: Rule, scores: list[float], changes: dict[str, float] | None, words: str) -> None:
    assert decision_words(decided(rule, *scores, **(changes or {}))) == words


def test_grades_that_cannot_be_read_in_words() -> None:
    ungraded = Grading("ungraded", (Grade("c", 0.0, "Poor", "no", None, ""),))
    words = "uncertain: there is no readable grade, so every passage is kept"
    assert decision_words(asdict(decide(ungraded, Policy()))) == words


@given(
    rule=st.sampled_from(get_args(Rule)),
    scores=st.lists(st.floats(0, 1), max_size=12),
    bounds=st.tuples(st.floats(0, 1), st.floats(0, 1)),
)
def test_no_decision_is_without_words_and_a_margin_is_told_on_its_side(
    rule: Rule, scores: list[float], bounds: tuple[float, float]
) -> None:
    low, high = sorted(bounds)
    decision = decided(rule, *scores, correct_at=high, **({} if rule.endswith("_70") else {"keep_at": low}))
    words = decision_words(decision)
    assert decision["rule"] not in words
    assert not re.search(r"\b0\.00 to spare|short by 0\.0+\)|nan", words)
    if "to spare" in words and rule == "max_score":
        assert decision["value"] > decision["threshold"]


@pytest.mark.parametrize(
    "odd",
    [
        None,
        {},
        [],
        "correct",
        {"action": None},
        {"action": "correct", "rule": 7, "value": "x"},
        {"action": "incorrect", "rule": "max_below_keep", "value": float("nan"), "threshold": [], "margin": True},
    ],
)
def test_what_is_no_decision_ends_no_page(odd: Any) -> None:
    assert isinstance(decision_words(odd), str)
    assert turn_words(odd, [odd]) == "" or odd
    assert isinstance(reason_words(odd) if isinstance(odd, dict) else "", str)


LOW = Decision(Action.INCORRECT, (), "max_below_keep", 0.4, 0.09, 0.31)
HIGH = Decision(Action.CORRECT, ("c",), "max_at_least_correct", 0.8, 0.1, 0.9)


def test_a_step_tells_what_was_searched_for_and_what_came_of_it() -> None:
    words = step_line(step_words(asdict(Correction("rewrites", ("refund time", "money back"), 1, HIGH))))
    assert words == (
        "asked in other words: “refund time”; “money back” · 1 more passage · "
        "enough: the best passage is good enough (best 0.90, needed 0.80, 0.10 to spare)"
    )


def test_a_step_that_was_not_taken_says_why_and_decides_nothing() -> None:
    step = step_words(asdict(Correction("web", (), 0, LOW, why="web search is off")))
    assert (step.done, step.why, step.came, step.after) == ("the web was not searched", "web search is off", "", "")
    assert (
        step_line(step_words(asdict(Correction("web", why="web search is off"))))
        == "the web was not searched: web search is off"
    )
    assert step_line(step_words({"step": "later"})) == "later"


def test_a_plan_says_where_each_step_looked() -> None:
    plan = Correction("plan", ("knowledge_base: fees", "web: fees 2026"), 0, LOW, "2 of at most 4 rounds, ended: done")
    assert step_words(asdict(plan)).queries == ("in the knowledge base: fees", "on the web: fees 2026")
    assert step_words(asdict(Correction("web", ("web: fees",), 0, LOW))).queries == ("web: fees",)


TOO_LITTLE = "not enough in the knowledge base (best passage 0.31, needed 0.40)"


@pytest.mark.parametrize(
    ("first", "steps", "line"),
    [
        (HIGH, (), ""),
        (LOW, (), TOO_LITTLE),
        (LOW, (Correction("web", ("x",), 2, LOW),), f"{TOO_LITTLE}: searched the web, 2 pages kept"),
        (LOW, (Correction("web", why="web search is off"),), TOO_LITTLE),
        (
            LOW,
            (Correction("rewrites", ("x",), 3, HIGH),),
            f"{TOO_LITTLE}: asked in other words, 3 more passages; that was enough",
        ),
        (
            LOW,
            (Correction("rewrites", ("x",), 0, LOW), Correction("web", ("x",), 0, LOW)),
            f"{TOO_LITTLE}: asked in other words, nothing new; searched the web, no pages kept",
        ),
        (
            Decision(Action.INCORRECT, (), "nothing_retrieved", 0.4, 0.4),
            (),
            "not enough in the knowledge base (nothing was found)",
        ),
        (
            Decision(Action.AMBIGUOUS, ("c",), "irrelevant_over_70", 0.7, 0.1, 0.8),
            (),
            "uncertain from the knowledge base alone (irrelevant 80 %, at most 70 % allowed)",
        ),
    ],
)
def test_one_line_on_a_turn(first: Decision, steps: tuple[Correction, ...], line: str) -> None:
    assert turn_words(asdict(first), [asdict(s) for s in steps]) == line
