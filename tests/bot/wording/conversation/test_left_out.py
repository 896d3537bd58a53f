"""What a question names to be left out is nothing that the person says."""

from __future__ import annotations

import pytest

from bot.wording.conversation.card import CardWords
from bot.wording.conversation.left_out import without_left_out


@pytest.mark.parametrize("language", list(CardWords.texts()))
def test_the_line_of_the_button_is_taken_away(language: str) -> None:
    line = CardWords(language)("without", values="48 months, $9.99")
    assert without_left_out(f"How long is it?\n{line}") == "How long is it?"
    assert without_left_out(f"How long is it? {line}") == "How long is it?"


def test_all_else_stays() -> None:
    assert without_left_out("Can I leave the box out? I paid $9.99.") == "Can I leave the box out? I paid $9.99."
