"""What stands with a reply that found no answer is there in every language that a refusal is."""

import pytest

from bot.wording.closest import closest, unknown
from bot.wording.refusals import FALLBACK, texts


@pytest.mark.parametrize("language", sorted(texts()))
def test_every_language_of_a_refusal_has_words_of_its_own(language: str) -> None:
    assert (closest(language) == closest(FALLBACK)) is (language == FALLBACK)
    assert "Skarne" in unknown("Skarne", language)
    assert (unknown("Skarne", language) == unknown("Skarne", FALLBACK)) is (language == FALLBACK)


def test_another_language_reads_the_fallback() -> None:
    assert closest("fi") == closest(FALLBACK)
