"""What a repair may leave of a draft."""

from __future__ import annotations

import pytest

from bot.turn.draft.lost_answer import loses_the_answer, lost_parts
from grounding.quoting.question_parts import read

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
    assert loses_the_answer(draft, repaired, read(QUESTION)) is lost


def test_a_draft_that_cites_nothing_has_no_first_line_to_lose() -> None:
    assert not loses_the_answer("It is 36 months.", "It is so.", read(QUESTION))


def test_of_two_parts_what_is_left_may_answer_one() -> None:
    draft = "Watch Plus is $7.99 a month [1]. Clips are kept for 30 days [1]."
    left = "Clips are kept for 30 days [1]."
    assert not loses_the_answer(draft, left, read("What does Watch Plus cost a month, and how long are clips kept?"))
    assert loses_the_answer(draft, left, read("What does Watch Plus cost a month?"))


def test_another_line_may_say_more_of_what_was_asked_than_the_first() -> None:
    assert not loses_the_answer(f"- Wren X2 | On sale: yes [1]\n{MORE}", MORE, read(QUESTION))


@pytest.mark.parametrize(
    ("question", "draft", "repaired", "lost"),
    [
        pytest.param(
            "How long is the keypad locked?",
            "- A Roost H1 has up to 10 users. After 7 wrong codes the keypad is locked for 7 minutes [1].\n- Enter your code on the keypad and press the open lock [2].",
            "- Enter your code on the keypad and press the open lock [2].",
            True,
            id="the second sentence of a line answered",
        ),
        pytest.param(
            "How long does the battery last?",
            "- It runs from bell wires or from its own battery [1].\n- Battery power | Perch D1: up to 380 days [2]\n- Power | Perch D1: battery [3]",
            "- It runs from bell wires or from its own battery [1].\n- Power | Perch D1: battery [3]",
            True,
            id="only a line behind the first has what was asked for",
        ),
        pytest.param(
            "How long is the warranty on a Perch D1?",
            "- Product: Perch C9, Perch D1 | Warranty: 74 months [1]\n- Perch D1 | After the warranty: repair, flat price $42.00 [2]",
            "- Perch D1 | After the warranty: repair, flat price $42.00 [2]",
            True,
            id="a row beside it has many of the same words",
        ),
        pytest.param(
            "How long do refunds take?",
            "- We check returns within 0 working days and pay to your card. That takes another 9 to 5 working days [2].\n- The label costs $6.95, which is deducted from the refund [3].",
            "- The label costs $6.95, which is deducted from the refund [3].",
            True,
            id="all that is left has the word of the question, and no value of the kind",
        ),
        pytest.param(
            "How long do refunds take, and what does the label cost?",
            "- A refund takes 9 working days [2].\n- The label costs $9.95 [3].\n- Refunds go to your card [2].",
            "- Refunds go to your card [2].",
            True,
            id="the values of both parts are gone",
        ),
        pytest.param(
            "How do I stop the app on Android?",
            "- Open Settings and tap Force stop [1].\n- Stopping the app on Android deletes everything [1].",
            "- Open Settings and tap Force stop [1].",
            False,
            id="what is cited first is left, and no kind of value is asked for",
        ),
    ],
)
def test_what_answered_is_known_again_by_its_place_and_its_value(
    question: str, draft: str, repaired: str, *, lost: bool
) -> None:
    assert loses_the_answer(draft, repaired, read(question)) is lost


ROW = "Quoted from the sources:\n- Device: Wren X1 | How to reset: pin hole at the back, with a paper clip | How long to hold: 10 seconds [1]\n- Backups are kept for 9 days [2]."
STEPS = "1. Open the cover and pull the red lever [1].\n2. Wait until the light is green [1].\n3. Close the cover and turn the key [1].\n- Do so once in 9 days [2]."
PROSE = "Push a paper clip into the pin hole for 10 seconds [1]. The light blinks then [1]."


@pytest.mark.parametrize(
    ("before", "after", "lost"),
    [
        pytest.param(
            ROW,
            "To reset a Wren X1, push a paper clip into the pin hole at the back for 10 seconds.",
            False,
            id="row-in-words",
        ),
        pytest.param(
            ROW, "To reset a Wren X1, push a paper clip into the pin hole at the back.", True, id="row-without-its-time"
        ),
        pytest.param(ROW, "To reset a Wren X1, hold it for 10 seconds.", True, id="row-without-its-place"),
        pytest.param(
            STEPS, "Pull the red lever, wait for the green light, then turn the key.", False, id="steps-short"
        ),
        pytest.param(
            STEPS, "Open the cover, pull the red lever, then turn the key and close it.", True, id="step-gone"
        ),
        pytest.param(STEPS, "1. Open the cover and pull the red lever [1].", True, id="first-step-alone"),
        pytest.param(PROSE, "Push a paper clip into the pin hole for 10 s.", False, id="prose"),
        pytest.param(PROSE, "Push a paper clip into the pin hole.", True, id="prose-without-its-time"),
    ],
)
def test_how_something_is_done_is_lost_with_each_step_or_value(before: str, after: str, lost: bool) -> None:
    asked = read("how do I reset a Wren X1")
    assert bool(lost_parts(asked, before, after, translated=False)) is lost
    assert not lost_parts(read("is there a Wren X1"), before, after, translated=False)


def test_in_another_language_the_numbers_of_steps_tell() -> None:
    asked = read("how do I reset a Wren X1")
    assert not lost_parts(asked, ROW, "Wren X1: mit einer Büroklammer hinten 10 Sekunden drücken.", translated=True)
    assert lost_parts(asked, ROW, "Wren X1: mit einer Büroklammer hinten drücken.", translated=True)
