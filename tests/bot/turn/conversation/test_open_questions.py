"""What of a conversation nobody has answered yet."""

from __future__ import annotations

import pytest

from bot.turn.conversation.open_questions import open_questions
from grounding.records import Role, Turn


@pytest.mark.parametrize(
    ("talk", "still"),
    [
        ([("user", "How long?"), ("assistant", "30 days [1].")], []),
        ([("user", "How long?"), ("user", "How much?"), ("assistant", "5 euros [1].")], ["How long?"]),
        ([("customer", "How long?"), ("customer", "It is a Wren."), ("agent", "It has 30 days.")], []),
        ([("customer", "How long?"), ("agent", "One moment."), ("agent", "It has 30 days.")], []),
        ([("customer", "How long?"), ("agent", "One moment."), ("customer", "Thanks.")], ["How long?"]),
        ([("customer", "How long?"), ("customer", "And how much?")], ["How long?", "And how much?"]),
        ([("customer", "My Wren is red."), ("agent", "One moment.")], []),
    ],
)
def test_a_question_is_open_until_somebody_answers_it(talk: list[tuple[Role, str]], still: list[str]) -> None:
    assert open_questions([Turn(role, text) for role, text in talk]) == still
