"""Whether a quotation has to do with what it is to show. It need not say it in the same words, but one of them must be there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from grounding.text import caseless, terms, words
from rai.check.wording.antonyms import alike, key

LEAST_SHARED = 5
"""Letters at the beginning that make two words of one family: cancel and cancellation, stornieren and Stornierung."""
LEAST_SAID = 2
"""Words that a quotation must have, or be digits beside one: "unlimited" alone says nothing of anything."""


def has_substance(quoted: str) -> bool:
    """True if a quotation says something by itself."""
    return len(words(quoted)) >= LEAST_SAID and bool(_terms(quoted))


def shares(texts: Iterable[str], others: Iterable[str]) -> int:
    """How many different content words of `texts` stand in `others` too, in this or another form. Numbers count as words."""
    mine, theirs = _all(texts), _all(others)
    return sum(1 for word in mine if word in theirs or any(_akin(word, other) for other in theirs))


def foreign(text: str, others: Sequence[str]) -> list[str]:
    """The content words of `text` that `others` have in no form."""
    theirs = _all(others)
    return [w for w in _terms(text) if w not in theirs and not any(_akin(w, other) for other in theirs)]


def _akin(word: str, other: str) -> bool:
    mine, theirs = key(word), key(other)
    if mine == theirs or theirs in alike(mine):
        return True
    least = min(len(word), len(other))
    return least >= LEAST_SHARED and word[:LEAST_SHARED] == other[:LEAST_SHARED] and word.isalpha() and other.isalpha()


def _all(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(word for text in texts for word in _terms(text))


def _terms(text: str) -> list[str]:
    return terms(caseless(text))
