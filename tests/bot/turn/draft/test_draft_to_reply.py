"""Answers that the likeness of sentences cannot judge: those that have the codes of the question, and quotes in another language."""

from __future__ import annotations

import pytest

from bot.turn.draft.draft_to_reply import has_its_codes, in_another_language
from grounding.records import LEAD_IN

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


ENGLISH = "- Care clothing is washed at 71 °C, which is held for three minutes before it is rinsed. [1]"
GERMAN = "- Die Frist beträgt 45 Tage ab der Zustellung, die Ware muss ungetragen sein. [1]"


@pytest.mark.parametrize(
    ("asked", "text", "another"),
    [
        ("de", f"{LEAD_IN}\n{ENGLISH}", True),
        ("fr", f"{LEAD_IN}\n{GERMAN}", True),
        ("de", f"{LEAD_IN}\n{GERMAN}", False),
        ("en", f"{LEAD_IN}\n{ENGLISH}", False),
        ("en", f"{LEAD_IN}\n{GERMAN}", False),
        ("de", ENGLISH, False),
    ],
)
def test_quotes_in_another_language_than_the_question(asked: str, text: str, *, another: bool) -> None:
    assert in_another_language(asked, text) is another
