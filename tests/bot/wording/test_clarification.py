"""Options complete a question, and the completed one says what it is about."""

from __future__ import annotations

from bot.wording.clarification import completed, question_alone
from grounding.query.clarify import clarifying
from grounding.records import Grade, Passage, Query, Turn

TITLES = ("Foo library", "Bar library")
PASSAGES = [Passage(f"c{n}", f"d{n}", title, "Open from 9 to 5.", 0) for n, title in enumerate(TITLES)]
GRADES = [Grade(p.chunk_id, 0.5, "Good", "yes", None, "") for p in PASSAGES]


def test_a_completed_question_is_not_asked_back_again() -> None:
    question = "When does this library open?"
    asked = clarifying([Turn("user", question)], Query(question), PASSAGES, GRADES)
    assert asked is not None
    assert asked.options == TITLES
    assert question_alone(asked.question, asked.options) == "Which library do you mean?"
    for option in asked.options:
        again = completed(question, option)
        assert again == f"For {option}: {question}"
        assert clarifying([Turn("user", again)], Query(again), PASSAGES, GRADES) is None


def test_a_question_without_options_stays_as_it_is() -> None:
    assert question_alone("Who is “she”?", ()) == "Who is “she”?"
    assert question_alone("Which one: A or B?", ("A", "B")) == "Which one: A or B?"
