"""The corrective decision at its thresholds: every rule, with what fired, its threshold and the margin."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounding.corrective.decide import decide, taken_as_found, value_of
from grounding.grading.features import binary_of, label_of
from grounding.policies.files import built_in
from grounding.policy import Policy, Rule
from grounding.records import Action, Grade, Grading, Label
from tests.fakes.finding import passage

TEXT = built_in()["graph-crag"]
CODE = Policy("code", style="binary", rule="relevant_at_most_70", correct_at=0.7, keep_at=1.0)
AGENTIC = built_in()["agentic-crag"]
MEAN_OF_ALL = Policy("all", style="label", rule="mean_all_retrieved", correct_at=0.7, keep_at=0.7)
EVERY = (*built_in().values(), CODE, MEAN_OF_ALL)


def graded(*scores: float) -> Grading:
    grades = [Grade(f"c{i}", s, label_of(s), binary_of(s), None, "") for i, s in enumerate(scores)]
    return Grading("graded", tuple(grades))


def voted(relevant: int, of: int) -> Grading:
    """So many of so many passages are a yes."""
    return graded(*[1.0] * relevant, *[0.0] * (of - relevant))


def labelled(*labels: Label) -> Grading:
    """Labels whose scores say something else, for a policy of labels reads labels."""
    return Grading("graded", tuple(Grade(f"c{i}", 0.5, name, "yes", None, "") for i, name in enumerate(labels)))


@pytest.mark.row("0-02")
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
    for policy in (Policy(), built_in()["hybrid-crag"], built_in()["attest"]):
        decision = decide(graded(*scores), policy)
        assert (decision.action, decision.kept) == (action, kept)


@pytest.mark.row("0-13")
def test_nothing_retrieved_counts_as_zero() -> None:
    decision = decide(graded(), Policy())
    assert decision.action is Action.INCORRECT
    assert decision.margin == pytest.approx(0.4)


@pytest.mark.row("2-07")
@pytest.mark.parametrize("policy", EVERY, ids=lambda p: p.name)
def test_nothing_retrieved_is_incorrect_under_every_rule(policy: Policy) -> None:
    """The source document's code divides by zero here."""
    decision = decide(graded(), policy)
    assert (decision.action, decision.kept, decision.rule) == (Action.INCORRECT, (), "nothing_retrieved")


def test_ungraded_is_ambiguous_and_keeps_all_in_order() -> None:
    grading = Grading("ungraded", graded(0.1, 0.9).grades, "the grader did not answer")
    for policy in EVERY:
        decision = decide(grading, policy)
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


MOST_RELEVANT_THAT_FIRES = {
    "irrelevant_over_70": {1: 0, 2: 0, 3: 0, 4: 1, 5: 1, 6: 1, 7: 2, 8: 2, 9: 2, 10: 2},
    "relevant_at_most_70": {1: 0, 2: 1, 3: 2, 4: 2, 5: 3, 6: 4, 7: 4, 8: 5, 9: 6, 10: 7},
}
"""For k = 1 to 10: the rule still fires with so many relevant passages, and with one more it does not."""

GOOD: tuple[Label, ...] = ("Good",) * 50


@pytest.mark.row("2-04")
@pytest.mark.row("2-05")
@pytest.mark.row("2-06")
@pytest.mark.row("C-01")
@pytest.mark.parametrize("policy", [TEXT, CODE], ids=lambda p: p.rule)
@pytest.mark.parametrize("k", range(1, 11))
def test_seven_tenths(policy: Policy, k: int) -> None:
    """Counted, not divided: the table above, and the definition in exact fractions."""
    for relevant in range(k + 1):
        decision = decide(voted(relevant, k), policy)
        fires = decision.action is not Action.CORRECT
        assert fires == (relevant <= MOST_RELEVANT_THAT_FIRES[policy.rule][k])
        share = Fraction(k - relevant if policy.rule == "irrelevant_over_70" else relevant, k)
        assert fires == (share > Fraction(7, 10) if policy.rule == "irrelevant_over_70" else share <= Fraction(7, 10))
        assert len(decision.kept) == relevant
        assert (decision.rule, decision.threshold, decision.value) == (policy.rule, 0.7, round(float(share), 4))


@pytest.mark.row("C-01")
def test_the_text_of_the_document_is_the_default_of_its_policy() -> None:
    assert TEXT.rule == "irrelevant_over_70"


@pytest.mark.row("2-12")
@pytest.mark.parametrize("relevant", range(5))
def test_with_nothing_relevant_it_is_incorrect_and_otherwise_ambiguous(relevant: int) -> None:
    """Of four, two relevant ones are enough by the document's text; what is irrelevant is never kept."""
    decision = decide(voted(relevant, 4), TEXT)
    expected = {0: Action.INCORRECT, 1: Action.AMBIGUOUS}.get(relevant, Action.CORRECT)
    assert (decision.action, decision.kept) == (expected, tuple(f"c{i}" for i in range(relevant)))


@pytest.mark.row("3-10")
@pytest.mark.row("3-11")
@pytest.mark.row("C-02")
@pytest.mark.parametrize(
    ("labels", "action", "kept", "value"),
    [
        (("Good", "Good", "Good"), Action.CORRECT, ("c0", "c1", "c2"), 0.7),
        (("Good",), Action.CORRECT, ("c0",), 0.7),
        (("Perfect", "Good", "Good"), Action.CORRECT, ("c0", "c1", "c2"), 0.8),
        (("Poor", "Good", "Awful"), Action.CORRECT, ("c1",), 0.7),
        (("Poor", "Poor", "Poor"), Action.INCORRECT, (), 0.3),
        (("Awful",), Action.INCORRECT, (), 0.0),
    ],
)
def test_the_mean_of_what_is_kept(
    labels: tuple[Label, ...], action: Action, kept: tuple[str, ...], value: float
) -> None:
    decision = decide(labelled(*labels), AGENTIC)
    assert (decision.action, decision.kept) == (action, kept)
    assert decision.value == pytest.approx(value, abs=1e-9)


@pytest.mark.row("C-02")
def test_three_good_ones_are_below_their_threshold_in_doubles() -> None:
    """Why the tolerance is there: without it the commonest good outcome would be corrected."""
    assert sum([0.7, 0.7, 0.7]) / 3 < 0.7
    for n in range(1, 51):
        for policy in (AGENTIC, MEAN_OF_ALL):
            assert decide(labelled(*GOOD[:n]), policy).action is Action.CORRECT


@pytest.mark.row("3-11")
@pytest.mark.row("C-02")
@pytest.mark.parametrize(
    ("labels", "action"),
    [
        (("Good", "Good", "Good"), Action.CORRECT),
        (("Perfect", "Poor", "Perfect"), Action.CORRECT),
        (("Good", "Poor", "Poor"), Action.AMBIGUOUS),
        (("Perfect", "Poor"), Action.AMBIGUOUS),
        (("Poor", "Poor"), Action.INCORRECT),
    ],
)
def test_the_mean_of_everything_can_fail(labels: tuple[Label, ...], action: Action) -> None:
    """What the document may have meant: one good passage among poor ones is not enough, and the good one is kept all the same."""
    decision = decide(labelled(*labels), MEAN_OF_ALL)
    rule = "max_below_keep" if action is Action.INCORRECT else "mean_all_retrieved"  # nothing kept: no mean to speak of
    assert (decision.action, decision.rule) == (action, rule)
    assert decision.kept == tuple(f"c{i}" for i, name in enumerate(labels) if name in ("Good", "Perfect"))


@pytest.mark.row("3-10")
@given(st.lists(st.floats(0, 1), max_size=50), st.sampled_from(EVERY))
def test_no_decision_holds_what_is_no_number(scores: list[float], policy: Policy) -> None:
    """Whatever was graded: value, threshold and margin are finite, and the margin is their distance."""
    decision = decide(graded(*scores), policy)
    assert all(math.isfinite(x) for x in (decision.value, decision.threshold, decision.margin))
    assert 0 <= decision.value <= 1
    assert decision.margin == pytest.approx(abs(decision.value - decision.threshold), abs=1.01e-4)
    assert set(decision.kept) <= {f"c{i}" for i in range(len(scores))}
    assert decision.action is not Action.CORRECT or decision.kept or policy.rule == "top_k"


@pytest.mark.row("1-05")
def test_confidence_sorts_and_equal_ones_keep_the_order_of_the_search() -> None:
    decision = decide(graded(0.1, 0.9, 0.5, 0.9, 0.1), built_in()["superrag"])
    assert decision.kept == ("c1", "c3", "c2", "c0", "c4")


@pytest.mark.row("1-05")
@given(st.lists(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]), max_size=50))
def test_sorting_is_stable(scores: list[float]) -> None:
    expected = tuple(f"c{i}" for i, _ in sorted(enumerate(scores), key=lambda pair: -pair[1]))
    assert decide(graded(*scores), built_in()["superrag"]).kept == expected


def test_passages_that_nobody_graded_stand_as_they_were_found() -> None:
    """The policy of the copilots: the search's order is the evidence's."""
    found = [passage("a", score=1.0), passage("b", score=0.4), passage("c", score=0.0), passage("d", score=1.7)]
    grading = taken_as_found(found)
    assert [g.score for g in grading.grades] == [1.0, 0.4, 0.0, 1.0]
    assert [g.justification for g in grading.grades][1] == "not graded: place 2 of the search"
    decision = decide(grading, built_in()["dynamics"])
    assert (decision.action, set(decision.kept)) == (Action.CORRECT, {"a", "b", "c", "d"})


@pytest.mark.row("C-03")
def test_four_styles_end_in_one_record_that_each_policy_reads_its_own_way() -> None:
    """The same grade is a number to some, a label with a number to others, and a word to the third."""
    grade = Grade("c", 0.65, "Good", "yes", None, "")
    read = {name: value_of(grade, policy) for name, policy in built_in().items()}
    assert read == {
        "attest": 0.65,
        "hybrid-crag": 0.65,
        "superrag": 0.65,
        "graph-crag": 1.0,
        "agentic-crag": 0.7,
        "dynamics": 0.65,
    }


@pytest.mark.row("C-10")
def test_each_style_has_its_own_thresholds() -> None:
    """0.7 is enough for a label and not for a score."""
    assert (built_in()["hybrid-crag"].correct_at, AGENTIC.correct_at) == (0.8, 0.7)
    grade = Grading("graded", (Grade("c0", 0.7, "Good", "yes", None, ""),))
    actions = {name: decide(grade, policy).action for name, policy in built_in().items()}
    assert actions["hybrid-crag"] is Action.AMBIGUOUS
    assert actions["agentic-crag"] is actions["graph-crag"] is Action.CORRECT


@pytest.mark.parametrize("rule", ["max_score", "mean_kept", "mean_all_retrieved", "top_k"])
def test_every_rule_answers_for_itself(rule: Rule) -> None:
    """One that fired names itself, so that a person can tell which it was."""
    decision = decide(graded(0.9, 0.2), Policy(rule=rule, correct_at=0.8, keep_at=0.1))
    assert decision.rule == {"max_score": "max_at_least_correct"}.get(rule, rule)


@pytest.mark.row("3-05")
def test_labels_cover_the_scale() -> None:
    scale = {"Awful": (0.0, 0.19), "Poor": (0.2, 0.59), "Good": (0.6, 0.79), "Perfect": (0.8, 1.0)}
    assert {label: {label_of(s) for s in ends} for label, ends in scale.items()} == {label: {label} for label in scale}
