"""Whether the corrective step would have answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from bot.evaluate.suites.retrieval.corrective_step import Searched, judged, kind_of
from bot.settings.load import load_settings
from bot.system import System
from grounding.errors import InputError
from grounding.records import Access, Grade, Grading, Passage, Query, Retrieval, Sentence
from tests.bot.commands.fakes import world


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"answerability": ["UNANSWERABLE"], "relevant": []}, ("UNANSWERABLE", "absent")),
        ({"answerability": "answerable"}, ("ANSWERABLE", "present")),
        ({"answerability": ["PARTIAL"]}, ("PARTIAL", "present")),
        ({"answerability": ["CONVERSATIONAL"], "relevant": []}, ("CONVERSATIONAL", None)),
        ({"answerability": ["UNDERSPECIFIED"], "relevant": ["a"]}, ("UNDERSPECIFIED", None)),
        ({"relevant": ["a"]}, (None, "present")),
        ({"relevant": []}, (None, "absent")),
        ({}, (None, None)),
        ({"answerability": []}, (None, None)),
    ],
)
def test_where_the_answer_is(row: dict[str, Any], expected: tuple[str | None, str | None]) -> None:
    assert kind_of(row, row.get("relevant", [])) == expected


def test_a_kind_that_is_no_text_is_refused() -> None:
    with pytest.raises(InputError):
        kind_of({"answerability": 3}, [])


@dataclass
class GradesByQuery:
    """Every passage of a query has the query's grade; remembers what it was given."""

    grades: dict[str, float]
    name: str = "by query"
    seen: list[tuple[str, int]] = field(default_factory=list)

    async def grade(self, question: str, passages: Sequence[Passage]) -> Grading:
        self.seen.append((question, len(passages)))
        score = self.grades[question]
        return Grading("graded", tuple(Grade(p.chunk_id, score, "Good", "yes", None, "") for p in passages))


@dataclass
class Finds:
    """The same passages for every query."""

    passages: tuple[Passage, ...]

    async def retrieve(self, query: Query, access: Access, k: int) -> Retrieval:
        return Retrieval(self.passages[:k], "kb")


async def system_with(grader: GradesByQuery, passages: Sequence[Passage]) -> System:
    small = await world().compose(load_settings())
    return replace(small, grader=grader, retriever=Finds(tuple(passages)))


PASSAGES = [Passage(f"c{n}", f"d{n}", "", "text") for n in range(30)]


@pytest.mark.parametrize(
    ("score", "action", "answered"), [(0.8, "correct", True), (0.5, "ambiguous", True), (0.39, "incorrect", False)]
)
async def test_what_is_kept_is_answered_from(score: float, action: str, answered: bool) -> None:
    grader = GradesByQuery({"fee?": score})
    found = await judged(await system_with(grader, PASSAGES), Query("fee?"), Access())
    assert (found.decision.action.value, found.answered) == (action, answered)
    assert grader.seen == [("fee?", 20)]


async def test_passages_with_orders_are_not_graded_and_internal_ones_are_no_answer() -> None:
    grader = GradesByQuery({"fee?": 0.9})
    odd = [replace(PASSAGES[0], screened="orders"), replace(PASSAGES[1], internal=True)]
    found = await judged(await system_with(grader, odd), Query("fee?"), Access())
    assert (grader.seen, found.answered, found.grade) == ([("fee?", 1)], False, None)


async def test_what_was_searched_for_is_not_searched_for_again() -> None:
    seen: list[Query] = []

    class Counts(Finds):
        async def retrieve(self, query: Query, access: Access, k: int) -> Retrieval:
            seen.append(query)
            return await super().retrieve(query, access, k)

    retriever = Counts(tuple(PASSAGES))
    small = await system_with(GradesByQuery({"fee?": 0.9, "other": 0.1}), PASSAGES)
    once = Searched(retriever, Query("fee?"), Access(), 50, await retriever.retrieve(Query("fee?"), Access(), 50))
    found = await judged(small, Query("fee?"), Access(), once)
    assert (found.grade, found.answered, seen) == (0.9, True, [Query("fee?")])
    await judged(small, Query("other"), Access(), once)
    await judged(small, Query("fee?"), Access("ann"), once)
    assert len(seen) == 3


@pytest.mark.parametrize(("product", "answered"), [(None, True), ("Wren X1", False)])
async def test_names_of_earlier_turns_are_left_out_where_they_find_nothing_unless_a_product_was_named(
    product: str | None, answered: bool
) -> None:
    asked = Query("Wren X1 fee?", (Sentence(0, 0, 4, "fee?", 1.0),), ("Wren X1",))
    grader = GradesByQuery({"Wren X1 fee?": 0.1, "fee?": 0.9})
    found = await judged(await system_with(grader, PASSAGES), asked, Access(product=product))
    assert found.answered is answered
