"""Finding: what is searched for, what is graded against what, and what may become evidence."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import pytest

from grounding.corrective.find import EvidenceSearch, better_of, find, look, safe
from grounding.errors import ContentFiltered, PromptBlocked, ServiceUnavailable, StoreError
from grounding.policies.files import built_in
from grounding.policy import Policy
from grounding.query.conversation import question_of
from grounding.records import Access, Action, Grade, Grading, Passage, Query, Retrieval, Sentence
from tests.fakes.finding import ListedGrader, ListedRetriever, Stages, finding, passage
from tests.fakes.model import ScriptedModel

A, B, C, D = (passage(name) for name in "abcd")
KEYWORDS = built_in()["hybrid-crag"]


@pytest.mark.row("4-14")
@pytest.mark.row("C-09")
@pytest.mark.parametrize(
    ("name", "k", "graded", "by"),
    [
        ("attest", 50, 20, "hybrid"),
        ("hybrid-crag", 10, 10, "hybrid"),
        ("superrag", 50, 50, "hybrid"),
        ("graph-crag", 4, 4, "hybrid"),
        ("agentic-crag", 3, 3, "meaning"),
        ("dynamics", 5, 5, "words"),
    ],
)
async def test_each_policy_has_its_own_k_and_way_to_search(name: str, k: int, graded: int, by: str) -> None:
    """So many are asked for, so many are graded, the best first; a policy that grades nothing calls no grader."""
    found = [passage(f"p{n}") for n in range(100)]
    retriever, grader = ListedRetriever(otherwise=found), ListedGrader({})
    f = finding(built_in()[name], retriever=retriever, grader=grader)
    await find(f)
    assert [(q.by, asked) for q, asked in retriever.asked] == [(by, k)]
    assert [p.chunk_id for p in f.passages] == [f"p{n}" for n in range(graded)]
    assert [len(ids) for _, ids in grader.asked] == ([] if name == "dynamics" else [graded])


async def test_what_gives_orders_is_neither_graded_nor_kept() -> None:
    """Its place is taken by the next one, and the record says which document it was."""
    bad = passage("bad", screened="IN-03")
    grader = ListedGrader({"a": 0.9, "bad": 1.0, "b": 0.9})
    f = finding(Policy(grade_k=2), retriever=ListedRetriever(otherwise=[bad, A, B, C]), grader=grader)
    await find(f)
    assert grader.asked == [("How do I descale it?", ["a", "b"])]
    assert [p.chunk_id for p in f.result().kept] == ["a", "b"]
    assert f.notes == ["passages with hidden instructions were left out: bad.md"]
    assert bad not in safe(f)


async def test_each_part_of_a_question_is_searched_for_beside_the_whole() -> None:
    """What one part alone needs is far down in what is found for all together; it is graded against the whole question all the same."""
    parts = ("what does a key cost", "when is the shop open")
    asked = f"{parts[0]} and {parts[1]}?"
    retriever = ListedRetriever({parts[0]: [A], parts[1]: [B]}, otherwise=[C])
    grader = ListedGrader({"a": 0.9, "b": 0.9})
    f = finding(built_in()["attest"], retriever=retriever, grader=grader, question=asked)
    await find(f)
    assert {q.text for q, _ in retriever.asked} == {asked, *parts}
    assert [(question, sorted(ids)) for question, ids in grader.asked] == [(asked, ["a", "b", "c"])], "once"
    strict = finding(KEYWORDS, retriever=(once := ListedRetriever(otherwise=[C])), grader=grader, question=asked)
    await find(strict)
    assert len({q.text for q, _ in once.asked}) == 1, "a policy of a source document searches as that does"


DEVICE = passage("device", title="Lamp Two", text="It has a shade of glass.")
RETURNS = passage("returns", title="Return an order", text="1. Print the label.")
ASIDE = passage("aside", title="Lights", text="Return the switch to zero.")


def of_a_lamp(question: str, general: str, first: Passage, grader: ListedGrader) -> EvidenceSearch:
    """A search that finds `first` for the question, and beside it what is said of every thing."""
    retriever = ListedRetriever({question: [first], general: [RETURNS, ASIDE]})
    f = finding(built_in()["attest"], retriever=retriever, grader=grader, question=question)
    f.query = replace(f.query, general=general)
    return f


async def test_what_is_said_of_every_thing_stands_beside_the_pages_of_the_one_that_is_named() -> None:
    """Only where a title or heading is about it, and graded against the question without the thing as well."""
    grader = ListedGrader({"device": 0.2, "returns": 0.1})
    f = of_a_lamp("how do I return a Lamp Two", "how do I return a", DEVICE, grader)
    await find(f)
    assert grader.asked == [
        ("how do I return a Lamp Two", ["device", "returns"]),
        ("how do I return a", ["device", "returns"]),
    ]


async def test_where_a_page_of_the_thing_says_how_nothing_else_is_looked_at() -> None:
    grader = ListedGrader({"device": 0.2})
    told = replace(DEVICE, text="To mount it, hang the shade on the hook.")
    f = of_a_lamp("how do I install the Lamp Two", "how do I install the", told, grader)
    await find(f)
    assert [ids for _, ids in grader.asked] == [["device"]]
    assert f.query.general == ""


async def test_key_words_are_searched_for_and_the_question_is_graded_against() -> None:
    model = ScriptedModel('Example Output: "descale kettle"')
    retriever, grader = ListedRetriever({"descale kettle": [A]}), ListedGrader({"a": 0.9})
    f = finding(KEYWORDS, retriever=retriever, grader=grader, model=model)
    await find(f)
    assert [q.text for q, _ in retriever.asked] == ["descale kettle"]
    assert grader.asked == [("How do I descale it?", ["a"])]
    assert (f.searched.text, f.query.text) == ("descale kettle", "How do I descale it?")


@pytest.mark.row("0-04")
async def test_excluded_words_are_not_searched_for_whatever_the_model_wrote() -> None:
    model = ScriptedModel("ACME kettle descale Acme's manual")
    retriever = ListedRetriever()
    f = finding(KEYWORDS, retriever=retriever, grader=ListedGrader({}), model=model)
    f.excluded = ("acme",)
    await find(f)
    assert [q.text for q, _ in retriever.asked] == ["kettle descale 's manual"]
    assert "Excluded Keywords: acme" in model.calls[0].user


@pytest.mark.parametrize(
    "error", [ServiceUnavailable("the model", "timeout"), ContentFiltered("filtered"), PromptBlocked("JB-01")]
)
async def test_without_key_words_the_question_is_searched_for(error: Exception) -> None:
    retriever = ListedRetriever()
    f = finding(KEYWORDS, retriever=retriever, grader=ListedGrader({}), model=ScriptedModel(error))
    await find(f)
    assert [q.text for q, _ in retriever.asked] == ["How do I descale it?"]
    assert f.notes[0].startswith("the question was searched for as it is: ")


async def test_without_the_screen_nothing_is_searched_for() -> None:
    retriever = ListedRetriever()
    model = ScriptedModel(PromptBlocked(None, unavailable=True))
    with pytest.raises(PromptBlocked):
        await find(finding(KEYWORDS, retriever=retriever, grader=ListedGrader({}), model=model))
    assert retriever.asked == []


async def test_further_searches_add_and_take_nothing_away() -> None:
    """Passages that are known are graded again beside the new ones, each once; the decision is about all of them."""
    retriever = ListedRetriever({"How do I descale it?": [A, B], "x": [B, C], "y": [D, A]})
    grader = ListedGrader({"a": 0.5, "d": 0.9})
    stages = Stages()
    f = finding(Policy(), retriever=retriever, grader=grader, stages=stages)
    await find(f)
    assert f.decision.action is Action.AMBIGUOUS
    new = await look(f, [Query("x"), Query("y")])
    assert {p.chunk_id for p in new} == {"c", "d"}
    assert sorted(grader.asked[-1][1]) == ["a", "b", "c", "d"]
    assert (f.decision.action, f.decision.kept) == (Action.CORRECT, ("d",))
    assert f.first is not None
    assert f.first.action is Action.AMBIGUOUS
    assert stages.names == ["retrieve", "grade", "retrieve", "grade"]


async def test_a_known_passage_is_not_pushed_out_by_new_ones() -> None:
    retriever = ListedRetriever({"How do I descale it?": [A], "x": [B, C, D]})
    f = finding(Policy(grade_k=2), retriever=retriever, grader=ListedGrader({"a": 0.5}))
    await find(f)
    await look(f, [Query("x")])
    assert "a" in {p.chunk_id for p in f.passages}
    assert f.decision.kept == ("a",)


@pytest.mark.parametrize("product", [None, "Kettle"])
async def test_names_of_earlier_turns_are_left_behind_when_they_find_nothing(product: str | None) -> None:
    """Unless the person named the product beside the conversation: then nothing else is searched."""
    retriever = ListedRetriever({"Kettle How do I descale it?": [A], "How do I descale it?": [B]})
    f = finding(Policy(), retriever=retriever, grader=ListedGrader({"b": 0.9}))
    asked = Sentence(1, 0, 20, "How do I descale it?", 1.0)
    f.query = Query("Kettle How do I descale it?", (asked,), ("Kettle",))
    f.access = Access(product=product)
    await find(f)
    assert f.decision.kept == (() if product else ("b",))
    assert ("the question was read without the names of earlier turns" in f.notes) is (product is None)


class HalfDown(ListedRetriever):
    """Fails for one query, and remembers which searches were stopped before they ended."""

    stopped: list[str]

    async def retrieve(self, query: Query, access: Access, k: int) -> Retrieval:
        if query.text == "down":
            raise StoreError("damaged")
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.stopped = [*getattr(self, "stopped", []), query.text]
            raise
        raise AssertionError("nobody wakes it")


async def test_a_search_that_fails_ends_the_others() -> None:
    retriever = HalfDown()
    f = finding(Policy(), retriever=retriever, grader=ListedGrader({}))
    async with asyncio.timeout(60):
        with pytest.raises(StoreError):
            await look(f, [Query("x"), Query("down"), Query("y")])
        await asyncio.sleep(0)
    assert retriever.stopped == ["x", "y"]


@pytest.mark.row("3-27")
async def test_the_product_narrows_every_search() -> None:
    """What the person may see and asks about goes with each query, of a corrective step too."""

    class Narrow(ListedRetriever):
        seen: tuple[Access, ...] = ()

        async def retrieve(self, query: Query, access: Access, k: int) -> Retrieval:
            self.seen = (*self.seen, access)
            return await super().retrieve(query, access, k)

    retriever = Narrow(otherwise=[A])
    f = finding(Policy(), retriever=retriever, grader=ListedGrader({}))
    f.access = Access("bella", frozenset({"billing"}), "Kettle")
    await find(f)
    await look(f, [replace(f.searched, text="x")], "act")
    assert set(retriever.seen) == {f.access}


class NeverGrades:
    """A grader that does not answer."""

    name = "never"

    async def grade(self, question: str, passages: Sequence[Passage]) -> Grading:
        await asyncio.sleep(3600)
        raise AssertionError(question)


async def test_a_grader_that_hangs_leaves_the_passages_ungraded_and_all_kept() -> None:
    """The turn goes on with what was found; its deadline is not spent on grades."""
    f = finding(Policy(grade_seconds=0.05), retriever=ListedRetriever(otherwise=[A]), grader=NeverGrades())
    await find(f)
    assert (f.decision.rule, f.decision.kept, f.grading.status) == ("ungraded", ("a",), "ungraded")
    assert any("not graded within" in note for note in f.notes)


async def test_excluded_words_are_not_searched_for_by_meaning_or_in_the_second_try() -> None:
    """The sentences of a query stand as they were said, and the meaning that is searched for is theirs."""
    said = "How do I descale the Acme one?"
    f = finding(Policy(), retriever=(retriever := ListedRetriever()), grader=ListedGrader({}))
    f.query = Query(f"Kettle {said}", (Sentence(0, 0, len(said), said, 1.0),), ("Kettle",))
    f.excluded = ("acme",)
    await find(f)
    asked = [f"{question_of(query)} {query.text}" for query, _ in retriever.asked]
    assert len(asked) == 2
    assert not any("acme" in text.lower() for text in asked)


def graded(status: Literal["graded", "ungraded"], *scores: float) -> Grading:
    return Grading(status, tuple(Grade(str(n), score, "Good", "yes", None, "") for n, score in enumerate(scores)))


def test_of_two_gradings_the_higher_grade_of_each_passage_counts() -> None:
    better = better_of(graded("graded", 0.2, 0.8), graded("graded", 0.6, 0.1))
    assert [grade.score for grade in better.grades] == [0.6, 0.8]
    failed = graded("ungraded", 0.0, 0.0)
    assert better_of(graded("graded", 0.2, 0.8), failed) == graded("graded", 0.2, 0.8)
    assert better_of(failed, graded("graded", 0.2, 0.8)) == failed
