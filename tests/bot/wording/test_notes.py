"""Which notes a person reads below an answer."""

from __future__ import annotations

import pytest

from bot.wording.notes import for_person


@pytest.mark.parametrize(
    "note",
    [
        "passages with hidden instructions were left out: community/camera-tips.html",
        "2 of 5 web results dropped: they give orders (JB-01)",
        "1 earlier turn(s) or context that give orders were left out",
        "billing/refunds-2025.md is older than billing/refunds.md on the same subject",
        "the screen's rules do not read this language (de)",
        "the model for draft was given placeholders: 2 names",
        "check: failed inside (match.py:12)",
        "the second draft was not supported either",
        " ",
    ],
)
def test_what_is_for_the_record_is_not_told(note: str) -> None:
    assert for_person([note]) == []


def test_what_makes_the_answer_less_is_told() -> None:
    notes = ("the directory did not answer; only what everyone may see was searched", "grading took too long")
    assert for_person(notes) == list(notes)
