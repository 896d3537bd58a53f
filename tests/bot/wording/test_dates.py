"""Days in each language of ours."""

from __future__ import annotations

import pytest

from bot.wording.conversation.card import CardWords
from bot.wording.dates import day

WRITTEN = {
    "en": "1 May 2026",
    "de": "01.05.2026",
    "fr": "1 mai 2026",
    "es": "1 may 2026",
    "it": "1 mag 2026",
    "pt": "1 de mai. de 2026",
    "nl": "1 mei 2026",
}


@pytest.mark.parametrize("language", list(CardWords.texts()))
def test_a_day_is_written_as_the_language_does(language: str) -> None:
    assert day("2026-05-01T23:30:00Z", language) == WRITTEN[language]
    assert CardWords(language).day("2026-05-01") == WRITTEN[language]


@pytest.mark.parametrize("odd", ["", "spring", "2026-13-01"])
def test_what_is_no_day_stays_as_it_is(odd: str) -> None:
    assert day(odd, "de") == odd
