"""What is asked back, and above all what is not: a request that says what it is about is never answered by a question."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from grounding.query.clarify import Clarification, between, clarifying, competing, question_alone
from grounding.records import Grade, Passage, Query, Turn
from tests.tables import Tables

TABLES = Tables(__file__)

ROOT = Path(__file__).parents[3]
LIBRARIES = ("State Library: services", "City Library: opening hours", "Parks")
ROUTERS = ("Wren X1 router: specifications", "Wren X2 router: specifications", "What the lights mean")


def passages(*titles: str) -> list[Passage]:
    return [Passage(f"c{n}", f"d{n}", title, f"{title}. It is open until six.") for n, title in enumerate(titles)]


def graded(found: list[Passage], *scores: float) -> list[Grade]:
    return [Grade(p.chunk_id, s, "Good", "yes", None, "") for p, s in zip(found, scores, strict=True)]


def asked(question: str, *before: str, titles: tuple[str, ...] = LIBRARIES) -> Clarification | None:
    roles = ("user", "assistant")
    turns = [Turn(roles[i % 2], text) for i, text in enumerate(before)]  # type: ignore[arg-type]  # literals
    return clarifying([*turns, Turn("user", question)], Query(question), passages(*titles))


@TABLES.each("asked_for")
def test_what_nobody_named_is_asked_for(question: str, said: str) -> None:
    found = asked(question)
    assert found is not None
    assert found.question == said
    assert found.why


@TABLES.each("said")
def test_what_is_said_is_not_asked_for(question: str, before: list[str] | None) -> None:
    assert asked(question, *(before or ())) is None


def test_in_the_middle_of_a_talk_titles_must_offer_several() -> None:
    before = ("When is the museum open?", "It opens at nine.")
    found = asked("What services does this library provide?", *before)
    assert found is not None
    assert found.options == LIBRARIES[:2]
    assert asked("What services does this library provide?", *before, titles=LIBRARIES[1:]) is None


def test_a_search_narrowed_to_a_product_leaves_nothing_open() -> None:
    turns = [Turn("user", "How do I reset it?")]
    assert clarifying(turns, Query("How do I reset it?"), (), product="Wren X2") is None


@pytest.mark.parametrize("unfit", [{"internal": True}, {"origin": "web"}, {"screened": "injection"}])
def test_titles_that_must_not_be_quoted_are_no_options(unfit: dict[str, object]) -> None:
    """Passages come trimmed to the user; of them only what a customer may hear of is offered."""
    found = passages(*LIBRARIES)
    found[0] = replace(found[0], **unfit)  # type: ignore[arg-type]
    question = "What services does this library provide?"
    said = clarifying([Turn("user", question)], Query(question), found)
    assert said is not None
    assert said.options == ()
    assert "State" not in said.question


@pytest.mark.parametrize(
    ("question", "scores", "options"),
    [
        ("How hot may a Wren router get?", (0.7, 0.65, 0.1), ROUTERS[:2]),
        ("How hot may a Wren router get?", (0.7, 0.3, 0.1), None),  # one answers better
        ("How hot may a Wren X2 get?", (0.7, 0.65, 0.1), None),  # named
        ("How hot may a Wren X3 get?", (0.7, 0.65, 0.1), None),  # another: that is for the grader
        ("How hot may a lamp get?", (0.7, 0.65, 0.1), None),  # of another family
        ("How hot may a Wren router get?", (0.0, 0.0, 0.0), None),
    ],
)
def test_models_that_answer_alike_are_offered(
    question: str, scores: tuple[float, ...], options: tuple[str, ...] | None
) -> None:
    found = passages(*ROUTERS)
    said = competing(Query(question), found, graded(found, *scores))
    assert (said and said.options) == options
    assert clarifying([Turn("user", question)], Query(question), found, graded(found, *scores)) == said


LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl")


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_is_asked_in_the_persons_language(language: str) -> None:
    said = between(["Swift E1", "Swift E2", "Swift E1"], language)
    assert said is not None
    assert said.options == ("Swift E1", "Swift E2")
    assert "Swift E1, Swift E2 " in said.question
    alone = question_alone(said.question, said.options)
    assert "Swift" not in alone
    assert alone.endswith("?")
    assert (alone == "Which one do you mean?") is (language == "en")
    it = clarifying([Turn("user", "Does it work?")], Query("Does it work?"), (), language=language)
    assert it is not None
    assert "it" in it.question
    assert question_alone(it.question, ()) == it.question


def test_one_row_is_no_choice_and_more_than_three_are_cut() -> None:
    assert between(["Swift E1"]) is None
    assert between(()) is None
    many = between([f"Swift E{n}" for n in range(9)], "ja")
    assert many is not None
    assert (len(many.options), many.question.startswith("Which one")) == (3, True)


def test_a_page_about_all_models_is_no_rival_of_one() -> None:
    found = passages("Wren router", "Wren X2 router")
    assert competing(Query("How hot may a Wren router get?"), found, graded(found, 0.7, 0.7)) is None


@pytest.mark.parametrize("text", ["", "?", "𝔘𝔫𝔦 this", "this " * 500, "the the the", "it it it", "\x00 this \x00"])
def test_any_request_is_read(text: str) -> None:
    clarifying([Turn("user", f"{text} x")], Query(text), passages(*LIBRARIES))


def test_nothing_that_the_golden_questions_answer_is_asked_back() -> None:
    """With every title of the sample on offer."""
    titles = [p.stem.replace("-", " ") for p in (ROOT / "bot/sample/kb").rglob("*.*")]
    lines = (ROOT / "bot/sample/golden.jsonl").read_text("utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if "answered" in row["expect"]["outcome"]]
    assert len(rows) > 100
    found = passages(*titles)
    for row in rows:
        turns = [Turn(t["role"], t["text"]) for t in row["history"]]
        said = clarifying(turns, Query(turns[-1].text), found, product=row.get("product"))
        assert said is None, f"{row['id']}: {said}"
