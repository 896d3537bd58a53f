"""The words of a text that tell something, in each language that has words in the lexicon."""

from __future__ import annotations

import pytest

from rai.check.lexicon.load import LANGUAGES
from rai.check.statements.terms import terms


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_language_of_the_lexicon_is_read_word_by_word(code: str) -> None:
    """What a language cuts words to stands beside the code, not in the lexicon."""
    assert [term.word for term in terms("Router 24", code)] == ["router", "24"]
