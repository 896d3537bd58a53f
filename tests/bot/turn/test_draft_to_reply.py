"""What a repair may leave of a draft."""

from __future__ import annotations

import pytest

from bot.turn.draft_to_reply import has_its_codes, loses_the_answer

QUESTION = "how long is the warranty of the wren x2"
ANSWER = "- Product: Wren X2, Flock M3 | Warranty: 36 months [1]"
BESIDE = "- In businesses with more than 20 employees the warranty for Wren is 12 months [2]."
MORE = "- The warranty of a Wren X2 is how long it lasts in a house [3]."


@pytest.mark.parametrize(
    ("repaired", "lost"),
    [
        (BESIDE, True),
        (f"Quoted from the sources:\n{ANSWER}\n{BESIDE}", False),
        (ANSWER.replace("36", "24"), False),  # what was put right is still the answer
        ("", True),
    ],
)
def test_what_only_stood_beside_the_answer_is_none(repaired: str, lost: bool) -> None:
    draft = f"Quoted from the sources:\n{ANSWER.replace('Flock M3', 'Flock M9')}\n{BESIDE}\n{MORE}"
    assert loses_the_answer(draft, repaired, QUESTION) is lost


def test_a_draft_that_cites_nothing_has_no_first_line_to_lose() -> None:
    assert not loses_the_answer("It is 36 months.", "It is so.", QUESTION)


def test_of_two_parts_what_is_left_may_answer_one() -> None:
    draft = "Watch Plus is $7.99 a month [1]. Clips are kept for 30 days [1]."
    left = "Clips are kept for 30 days [1]."
    assert not loses_the_answer(draft, left, "What does Watch Plus cost a month, and how long are clips kept?")
    assert loses_the_answer(draft, left, "What does Watch Plus cost a month?")


def test_another_line_may_say_more_of_what_was_asked_than_the_first() -> None:
    assert not loses_the_answer(f"- Wren X2 | On sale: yes [1]\n{MORE}", MORE, QUESTION)


ROW = "Code: C-412 | Device: Perch C1 | Meaning: microSD card cannot be written [1]"


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("The camera shows C-412", True),
        ("C-412 and W-101?", False),
        ("The camera shows C-41", False),
        ("The camera shows something", False),
        ("does it cost EUR 412?", False),
    ],
)
def test_an_answer_with_the_code_that_was_named_is_not_beside_the_point(question: str, *, named: bool) -> None:
    assert has_its_codes(question, ROW) is named
