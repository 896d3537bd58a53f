"""Options complete a question, and the completed one says what it is about."""

from __future__ import annotations

import pytest

from bot.wording.conversation.clarification import changed, completed
from grounding.query.clarify import clarifying, question_alone
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


@pytest.mark.parametrize(
    ("question", "about", "before", "asked"),
    [
        ("How much is the Wren X1?", "Wren X2", ("Wren X1",), "How much is the Wren X2?"),
        ("how much is the wren x1?", "Wren X2", ("Wren X1",), "how much is the Wren X2?"),
        ("What does Plus cost in Austria?", "Norway", ("Plus", "Austria"), "What does Plus cost in Norway?"),
        ("What does Plus cost in Austria?", "Plus, Norway", ("Plus", "Austria"), "What does Plus cost in Norway?"),
        ("How much is X1 in Germany?", "X2", ("X1", "Germany"), "How much is X2 in Germany?"),
        ("Can I cancel?", "Wren X2", ("Wren X1",), "For Wren X2: Can I cancel?"),
        ("how much is the Wren X2 in the uk", "germany", ("Wren X2",), "how much is the Wren X2 in the germany"),
        ("how much is the Wren X2", "germany", ("Wren X2",), "For germany: how much is the Wren X2"),
        ("Was kostet das im Monat?", "Watch Plus", (), "Für Watch Plus: Was kostet das im Monat?"),
        ("Für Watch Plus: Was kostet das?", "Watch Pro", (), "Für Watch Pro: Was kostet das?"),
        ("Pour Watch Plus : c'est combien par mois ?", "Watch Pro", (), "Pour Watch Pro : c'est combien par mois ?"),
        ("For Wren X1: Can I cancel?", "Wren X2", ("Wren X1",), "For Wren X2: Can I cancel?"),
        ("How much is the Wren X1?", "Wren X1", ("Wren X1",), "How much is the Wren X1?"),
        ("Does X1 work with X2?", "X3", ("X1", "X2"), "For X3: Does X1 work with X2?"),
        ("Can I cancel?", "Plus, Norway", (), "For Plus, Norway: Can I cancel?"),
        ("What is it in Austria?", "X1, France", ("X2", "Austria"), "For X1: What is it in France?"),
        ("How much is X2 in Austria?", "X1, France", ("X2", "Austria"), "How much is X1 in France?"),
        ("How much is X2?", "X1, France", ("X2",), "For France: How much is X1?"),
        ("How much is it?", "X1, France", ("X1",), "For X1, France: How much is it?"),
        (
            "How long does delivery to a flat take?",
            "X1, France",
            ("X1",),
            "For France: How long does delivery to a flat take?",
        ),
        ("How much is X3?", "X1, X2, France", ("X3",), "For X1, X2, France: How much is X3?"),
    ],
)
def test_a_question_is_asked_of_something_else(question: str, about: str, before: tuple[str, ...], asked: str) -> None:
    assert changed(question, about, before) == asked
