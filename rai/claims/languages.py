"""Which of six languages a text is most likely in: a guess by function words that costs one split of the text."""

from __future__ import annotations

from collections.abc import Set
from typing import Literal

from grounding.tables import table

Language = Literal["en", "de", "fr", "es", "it", "pt", ""]

_FUNCTION_WORDS: dict[Language, frozenset[str]] = {code: frozenset(words) for code, words in table(__file__).items()}
_FEWEST = 2


def language(words: Set[str]) -> Language:
    """The language with the most distinct function words among `words`, lower case; "" if fewer than two or a tie."""
    counts = sorted(((len(words & known), code) for code, known in _FUNCTION_WORDS.items()), reverse=True)
    (most, code), (second, _) = counts[0], counts[1]
    return code if most >= _FEWEST and most > second else ""
