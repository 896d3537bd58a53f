"""Which questions are shown first, and which words of a query are too many."""

from __future__ import annotations

from bot.evaluate.page.worst_questions import answered_though_absent, refused_though_present, words_apart, worst_first
from tests.bot.evaluate.questions import decided, question


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
