"""Which of six languages a text is most likely in: a guess by function words that costs one split of the text."""

from __future__ import annotations

from collections.abc import Set
from typing import Literal

Language = Literal["en", "de", "fr", "es", "it", "pt", ""]

_FUNCTION_WORDS: dict[Language, frozenset[str]] = {
    "en": frozenset("the and of to is are you your for with that this it on at from be or not can will have has was by if".split()),
    "de": frozenset("der das und ist sind nicht mit für ein eine einen einem auf von zu im sie wir oder bei nach innerhalb kann nur wird dem".split()),
    "fr": frozenset("le la les des et est sont une un dans pour que qui sur avec vous nous du au aux par ne pas votre sous".split()),
    "es": frozenset("el la los las y es son una un que para con por del se su en como más hay o su al este puede usted".split()),
    "it": frozenset("il lo la gli di che è sono una un per con del della dei non nel alla entro si le o più può e".split()),
    "pt": frozenset("o a os as um uma não para com do da dos das em ao é são que por no na você e ou seu mais pode".split()),
}  # fmt: skip
_FEWEST = 2


def language(words: Set[str]) -> Language:
    """The language with the most distinct function words among `words`, lower case; "" if fewer than two or a tie."""
    counts = sorted(((len(words & known), code) for code, known in _FUNCTION_WORDS.items()), reverse=True)
    (most, code), (second, _) = counts[0], counts[1]
    return code if most >= _FEWEST and most > second else ""
