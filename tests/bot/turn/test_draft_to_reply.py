"""Answers that have the codes of the question."""

from __future__ import annotations

import pytest

from bot.turn.draft_to_reply import has_its_codes

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
