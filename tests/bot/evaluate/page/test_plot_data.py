"""What the page plots, against hand-worked tables."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.evaluate.page import plot_data
from bot.evaluate.questions import Question, Where
from bot.evaluate.statistics import metrics
from tests.bot.evaluate.questions import question

RANKS = st.lists(st.one_of(st.none(), st.integers(1, 50)), min_size=1, max_size=4, unique=True)


@given(st.lists(RANKS, min_size=1, max_size=5))
def test_the_curve_of_recall_is_recall_at_each_depth(ranks: list[list[int | None]]) -> None:
    asked = [question(str(i), tuple(row)) for i, row in enumerate(ranks)]
    curve = plot_data.recall_curve(asked, plot_data.here)
    assert len(curve) == 50
    for k in (1, 3, 10, 50):
        each = [sum(r is not None and r <= k for r in row) / len(row) for row in ranks]
        assert curve[k - 1] == pytest.approx(metrics.mean(each))


def test_first_ranks_are_counted_in_their_columns() -> None:
    asked = [question(str(r), (r,)) for r in (1, 2, 3, 4, 5, 6, 10, 11, 21, 50, None)] + [question("none", ())]
    counted = dict(zip(plot_data.rank_names(), plot_data.first_ranks(asked, plot_data.here), strict=True))
    assert counted == {"1": 1, "2": 1, "3": 1, "4–5": 2, "6–10": 2, "11–20": 1, "21–50": 2, "none": 1}


def test_parts_of_a_set_by_tag_largest_first_and_none_for_one_tag() -> None:
    asked = [question("a", (1,), tags=("x", "y")), question("b", (2,), tags=("x",))]
    bars = [(bar.name, bar.value, bar.n) for bar in plot_data.by_tag(asked, "ndcg_10")]
    assert bars == [("x", 0.75, 2), ("y", 1.0, 1)]
    assert plot_data.by_tag(asked[1:], "ndcg_10") == []


def graded(grade: float, where: Where | None) -> Question:
    return question("g", (), where=where, action="correct", answered=True, grade=grade)


def test_bands_of_grades_by_hand() -> None:
    """Two of three present questions are graded 0.9, as one of two absent; as if two of three questions had an answer, 4/3 to 1/2."""
    asked = [graded(0.9, "present"), graded(1.0, "present"), graded(0.1, "present"), graded(0.8, "absent")]
    asked += [graded(0.4, "absent"), graded(0.5, None)]
    bands = plot_data.reliability(asked)
    assert [(b.name, b.n, b.present) for b in bands] == [("0 to 0.2", 1, 1), ("0.4 to 0.6", 1, 0), ("0.8 to 1", 3, 2)]
    assert [b.share for b in bands] == pytest.approx([1, 0, 2 / 3])
    assert bands[2].mean == pytest.approx(0.9)
    assert bands[2].balanced == pytest.approx((4 / 3) / (4 / 3 + 1 / 2))
    assert bands[2].span.n == 3


def test_questions_of_one_kind_say_nothing_of_grades() -> None:
    assert plot_data.reliability([graded(0.9, "present"), graded(0.2, "present")]) == []
    assert plot_data.reliability([]) == []


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=40))
def test_every_grade_has_one_band(given_grades: list[tuple[float, bool]]) -> None:
    bands = plot_data.reliability([graded(g, "present" if there else "absent") for g, there in given_grades])
    if bands:
        assert sum(b.n for b in bands) == len(given_grades)
        assert sum(b.present for b in bands) == sum(there for _, there in given_grades)
        assert all(b.span.low <= b.share + 1e-9 and b.share <= b.span.high + 1e-9 for b in bands)
        assert all(0 <= b.balanced <= 1 for b in bands)
