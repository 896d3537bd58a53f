"""Which parts of a question an answer answers."""

from __future__ import annotations

import pytest

from grounding.quoting.coverage import coverage
from grounding.quoting.question_parts import read


def parts(question: str, answer: str) -> list[bool]:
    return [covered.answered for covered in coverage(read(question), answer)]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("New soles on a walking boot cost $85. The work takes two weeks.", [True, True]),
        ("New soles on a walking boot cost $85.", [True, False]),
        ("The work takes two weeks, and the boots come back by post.", [False, True]),
        ("New soles on a walking boot cost $85. The sources do not say how long two weeks are.", [True, False]),
        ("We mend boots.", [False, False]),
    ],
)
def test_a_part_is_answered_by_a_value_of_the_kind_that_it_wants(answer: str, expected: list[bool]) -> None:
    assert parts("new soles on a walking boot, what does it cost and how long does it take", answer) == expected


def test_of_two_parts_that_want_the_same_kind_each_needs_a_word_of_its_own() -> None:
    question = "what does the Heron cost and what does the Kestrel cost?"
    assert parts(question, "The Heron costs £90.") == [True, False]
    assert parts(question, "The Heron costs £90. The Kestrel costs £70.") == [True, True]


def test_what_wants_no_value_is_answered_where_its_own_words_are_spoken_of() -> None:
    assert parts("can I bring a dog?", "Dogs are welcome in all lodges.") == [True]
    assert parts("can I bring a dog?", "Bicycles are welcome in all lodges.") == [False]


def test_the_parts_are_said_as_they_were_asked() -> None:
    question = "what does the Heron cost and when does the desk close?"
    assert [c.part for c in coverage(read(question), "£90")] == ["what does the Heron cost", "when does the desk close"]


def test_two_words_with_capitals_are_nobody_who_was_asked_for() -> None:
    reading = read("What does Watch Pro cost and who won the world cup?")
    told = coverage(reading, "Watch Pro costs $14.99 a month [1].")
    assert [part.answered for part in told] == [True, False]
    asked = read("What does Care cost and who is the data protection officer?")
    both = "Care costs $4.25 [1].\nName: Anselm Okafor | Role: data protection officer [2]"
    assert all(part.answered for part in coverage(asked, both))
