"""What is counted and drawn, against hand-worked tables."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.evaluate import figures, metrics, plots
from bot.evaluate.insufficiency import JudgedQuestion
from bot.evaluate.plain import fused, plain_hybrid
from bot.evaluate.questions import Question, Where
from bot.evaluate.ranked import RankedQuestion, question_of
from bot.evaluate.ranked import figures as figures_of
from bot.evaluate.worst import answered_though_absent, refused_though_present, words_apart, worst_first
from bot.settings.load import load_settings
from grounding.corrective.decide import decide
from grounding.policies.files import policy_named
from grounding.records import Access, Grade, Grading, Passage, Query, Retrieval, Turn
from tests.bot.commands.fakes import world
from tests.eval.questions import HOSTILE, decided, question

RANKS = st.lists(st.one_of(st.none(), st.integers(1, 50)), min_size=1, max_size=4, unique=True)


def test_figures_of_a_ranking_by_hand() -> None:
    ranked = ["x", "a", "y", "z", "b", "w", "c"]
    found = figures_of(ranked, ["a", "b", "c", "never"])
    best = 1 + 1 / math.log2(3) + 1 / 2 + 1 / math.log2(5)
    gain = 1 / math.log2(3) + 1 / math.log2(6) + 1 / math.log2(8)
    assert found == pytest.approx({"ndcg_10": gain / best, "mrr": 0.5, "recall_5": 0.5, "recall_50": 0.75})
    assert figures_of(ranked, []) == {}


def test_a_document_named_twice_counts_once_and_one_beyond_fifty_not_at_all() -> None:
    assert figures_of(["a"], ["a", "a"]) == {"ndcg_10": 1.0, "mrr": 1.0, "recall_5": 1.0, "recall_50": 1.0}
    late = [f"x{n}" for n in range(50)] + ["a"]
    assert figures_of(late, ["a"]) == {"ndcg_10": 0.0, "mrr": 0.0, "recall_5": 0.0, "recall_50": 0.0}


def passage(name: str, bm25: float | None, semantic: float | None, doc: str | None = None) -> Passage:
    return Passage(name, doc or name, name, "", bm25=bm25, semantic=semantic)


def test_reciprocal_rank_fusion_by_hand() -> None:
    """a: 1/61 + 1/63, b: 1/62 + 1/61, c: 1/62 alone by meaning, d: 1/63 alone by words; b leads, then a."""
    given_passages = [
        passage("a", 9.0, 0.1),
        passage("b", 8.0, 0.9),
        passage("c", None, 0.5),
        passage("d", 1.0, None),
    ]
    assert fused(given_passages) == ["b", "a", "c", "d"]


def test_fusion_keeps_the_order_of_ties_counts_documents_once_and_needs_no_vectors() -> None:
    assert fused([passage("a", 1.0, None), passage("b", 1.0, None)]) == ["a", "b"]
    assert fused([passage("1", 2.0, None, "a"), passage("2", 1.0, None, "b"), passage("3", 0.5, None, "a")]) == [
        "a",
        "b",
    ]
    assert fused([]) == []


@given(st.lists(RANKS, min_size=1, max_size=5))
def test_the_curve_of_recall_is_recall_at_each_depth(ranks: list[list[int | None]]) -> None:
    asked = [question(str(i), tuple(row)) for i, row in enumerate(ranks)]
    curve = figures.recall_curve(asked, figures.here)
    assert len(curve) == 50
    for k in (1, 3, 10, 50):
        each = [sum(r is not None and r <= k for r in row) / len(row) for row in ranks]
        assert curve[k - 1] == pytest.approx(metrics.mean(each))


def test_first_ranks_are_counted_in_their_columns() -> None:
    asked = [question(str(r), (r,)) for r in (1, 2, 3, 4, 5, 6, 10, 11, 21, 50, None)] + [question("none", ())]
    counted = dict(zip(figures.rank_names(), figures.first_ranks(asked, figures.here), strict=True))
    assert counted == {"1": 1, "2": 1, "3": 1, "4–5": 2, "6–10": 2, "11–20": 1, "21–50": 2, "none": 1}


def test_parts_of_a_set_by_tag_largest_first_and_none_for_one_tag() -> None:
    asked = [question("a", (1,), tags=("x", "y")), question("b", (2,), tags=("x",))]
    bars = [(bar.name, bar.value, bar.n) for bar in figures.by_tag(asked, "ndcg_10")]
    assert bars == [("x", 0.75, 2), ("y", 1.0, 1)]
    assert figures.by_tag(asked[1:], "ndcg_10") == []


def test_worst_first_then_the_deepest_and_the_perfect_not_at_all() -> None:
    asked = [
        question("fine", (1,)),
        question("second", (2,)),
        question("far", (30,), metrics={"ndcg_10": 0.0}),
        question("nowhere", (None,)),
        question("unmeasured", ()),
    ]
    assert [q.id for q in worst_first(asked, "ndcg_10")] == ["nowhere", "far", "second"]


def test_misjudged_questions_are_told_apart() -> None:
    asked = [
        decided("wrong", "absent", "ambiguous", answered=True),
        decided("refused", "present", "incorrect", answered=False),
        decided("right", "present", "correct", answered=True),
        decided("open", None, "incorrect", answered=False),
    ]
    assert [q.id for q in answered_though_absent(asked)] == ["wrong"]
    assert [q.id for q in refused_though_present(asked)] == ["refused"]


def test_words_that_a_query_lacks_and_has_too_many() -> None:
    assert words_apart("Is it there, it is?", "is the fee there") == (["the", "fee"], ["it"])


def test_no_text_of_a_plot_is_markup() -> None:
    bars = [plots.Bar(HOSTILE, 0.5, 0.4, 0.6, 3)]
    drawn = plots.rows(bars, HOSTILE) + plots.columns([HOSTILE], [plots.Series("a", "here", [1.0])], HOSTILE, HOSTILE)
    assert "<script" not in drawn
    assert "<img" not in drawn
    assert 'aria-label="&lt;script' in drawn


@pytest.mark.parametrize("values", [[], [0.0], [0.0, 0.0], [1.0, -1.0], [0.1] * 3000])
def test_plots_take_any_number_of_values(values: list[float]) -> None:
    for drawn in (
        plots.differences(values, "l", "x"),
        plots.sorted_shares([plots.Series("a", "here", [abs(v) for v in values])], "l", "x"),
        plots.gain_span(0.0, 0.0, 0.0, 0.0),
        plots.curve([plots.Series("a", "here", [0.5])], "l", "x"),
    ):
        assert drawn.startswith("<svg")
        assert "nan" not in drawn


class Finds:
    """The same passages for every query."""

    def __init__(self, *passages: Passage) -> None:
        self._passages = passages
        self.asked: list[str] = []

    async def retrieve(self, query: Query, access: Access, k: int) -> Retrieval:
        self.asked.append(query.text)
        return Retrieval(self._passages, "kb")


@pytest.mark.parametrize(
    ("passages", "expected"),
    [((), []), ((passage("a", None, 0.5),), ["a"])],
)
async def test_the_baseline_asks_the_last_question(passages: tuple[Passage, ...], expected: list[str]) -> None:
    finds = Finds(*passages)
    small = replace(await world().compose(load_settings()), retriever=finds)
    turns = [Turn("customer", "My Wren X1 is slow."), Turn("customer", "And the fee?"), Turn("agent", "One moment.")]
    assert await plain_hybrid(small, turns, Access()) == expected
    assert finds.asked == ["And the fee?"]


@pytest.mark.row("1-07")
def test_recall_after_grading_takes_the_order_of_the_grades() -> None:
    """Eight documents in the order found; the right one stands seventh and has the best grade."""
    found = [passage(f"d{n}", 1.0, None) for n in range(8)]
    grading = Grading(
        "graded", tuple(Grade(p.chunk_id, 0.9 if p.doc_id == "d6" else 0.5, "Good", "yes", None, "") for p in found[:7])
    )
    decided_so = JudgedQuestion(decide(grading, policy_named("hybrid-crag")), grading, answered=True)
    asked = RankedQuestion(
        {"id": "1", "relevant": ["d6"]}, (Turn("user", "x"),), Query("x"), tuple(found), None, decided_so
    )
    made = question_of(asked, {"d6": "Right"}, {})
    assert (made.metrics["recall_5"], made.metrics["recall_5_graded"]) == (0.0, 1.0)
    assert (made.action, made.answered, made.plain) == ("correct", True, {})


def graded(grade: float, where: Where | None) -> Question:
    return question("g", (), where=where, action="correct", answered=True, grade=grade)


def test_bands_of_grades_by_hand() -> None:
    """Two of three present questions are graded 0.9, as one of two absent; as if two of three questions had an answer, 4/3 to 1/2."""
    asked = [graded(0.9, "present"), graded(1.0, "present"), graded(0.1, "present"), graded(0.8, "absent")]
    asked += [graded(0.4, "absent"), graded(0.5, None)]
    bands = figures.reliability(asked)
    assert [(b.name, b.n, b.present) for b in bands] == [("0 to 0.2", 1, 1), ("0.4 to 0.6", 1, 0), ("0.8 to 1", 3, 2)]
    assert [b.share for b in bands] == pytest.approx([1, 0, 2 / 3])
    assert bands[2].mean == pytest.approx(0.9)
    assert bands[2].balanced == pytest.approx((4 / 3) / (4 / 3 + 1 / 2))
    assert bands[2].span.n == 3


def test_questions_of_one_kind_say_nothing_of_grades() -> None:
    assert figures.reliability([graded(0.9, "present"), graded(0.2, "present")]) == []
    assert figures.reliability([]) == []


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=40))
def test_every_grade_has_one_band(given_grades: list[tuple[float, bool]]) -> None:
    bands = figures.reliability([graded(g, "present" if there else "absent") for g, there in given_grades])
    if bands:
        assert sum(b.n for b in bands) == len(given_grades)
        assert sum(b.present for b in bands) == sum(there for _, there in given_grades)
        assert all(b.span.low <= b.share + 1e-9 and b.share <= b.span.high + 1e-9 for b in bands)
        assert all(0 <= b.balanced <= 1 for b in bands)
