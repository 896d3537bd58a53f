"""Countries in the language of the person."""

from __future__ import annotations

import pytest

from bot.wording.conversation.places import place


@pytest.mark.parametrize(
    ("name", "language", "called"),
    [
        ("Germany", "de", "Deutschland"),
        ("United Kingdom", "fr", "Royaume-Uni"),
        ("Austria", "en", "Austria"),
        ("Watch Plus", "de", "Watch Plus"),
        ("Hilfe Germany", "de", "Hilfe Germany"),
    ],
)
def test_a_country_is_called_as_the_language_does_and_nothing_else(name: str, language: str, called: str) -> None:
    assert place(name, language) == called
