"""What Teams says by itself."""

from __future__ import annotations

import pytest

from bot.wording.conversation.teams import say, welcome


def test_the_welcome_names_the_company_of_the_settings_and_no_company_where_there_is_none() -> None:
    assert "knowledge base of Contoso" in welcome("Contoso")
    assert "the company" not in welcome("the company")
    assert say("help", "de") in welcome("Contoso", "de")


@pytest.mark.parametrize(("language", "text"), [("de", "Entschuldigung"), ("ja", "Sorry")])
def test_a_language_without_words_is_told_in_english(language: str, text: str) -> None:
    assert say("apology", language).startswith(text)
