"""Spelling correction: known words within a small edit distance of what was typed, found among many thousands in well under a millisecond."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import OSA

FROM = 5
"""Letters that a word needs to be found misspelt."""
TWO_FROM = 8
"""Letters from which two slips are allowed."""


def typos_allowed(word: str) -> int:
    """Number of edits that a word may have: one, two in a long one."""
    return 1 if len(word) < TWO_FROM else 2


def typos_between(typed: str, known: str) -> int | None:
    """Number of edits from one word to another that begins alike, or None where they are more than `typed` may have."""
    most = typos_allowed(typed)
    if typed[:1] != known[:1] or abs(len(typed) - len(known)) > most:
        return None
    found = int(OSA.distance(typed, known, score_cutoff=most))
    return found if found <= most else None


class SpellingIndex:
    """Index of known words for correction. Immutable after it is built.

    An edit is a letter left out, put in, taken for another, or two that changed places (optimal string alignment). Digits are never edited:
    another number is another thing. Where one edit is allowed the first letter stands, which is seldom the wrong one (Pollock & Zamora
    1984) and makes other words: "north", "worth".
    """

    def __init__(self, words: Iterable[str]) -> None:
        self._words = sorted((w for w in words if len(w) >= FROM - 1), key=lambda w: (len(w), w))
        self._lengths = [len(w) for w in self._words]
        self._letters = np.array([_letters(w) for w in self._words], np.uint64)

    def near(self, token: str) -> list[tuple[str, int]]:
        """Known words other than `token` that may be meant by it, with the number of edits."""
        size = len(token)
        if size < FROM or not self._words or size > self._lengths[-1] + 2:
            return []
        if size >= TWO_FROM:
            return self._among(token, size - 2, size + 3, 2)
        longer = self._among(token, TWO_FROM, size + 3, 2)
        return [f for f in self._among(token, size - 1, min(size + 2, TWO_FROM), 1) if f[0][0] == token[0]] + longer

    def _among(self, token: str, shortest: int, beyond: int, slips: int) -> list[tuple[str, int]]:
        """Known words of `shortest` letters to fewer than `beyond`, at most `slips` edits away."""
        low, high = bisect_left(self._lengths, shortest), bisect_left(self._lengths, beyond)
        if low >= high:
            return []
        # a slip changes two letters of the set at most, so that few words are left to be compared
        apart = np.bitwise_count(self._letters[low:high] ^ np.uint64(_letters(token)))
        like = [self._words[low + int(i)] for i in np.flatnonzero(apart <= 2 * slips)]
        found = process.extract(token, like, scorer=OSA.distance, score_cutoff=slips, limit=None)
        numbers = _digits(token)
        return [(word, int(distance)) for word, distance, _ in found if distance and _digits(word) == numbers]


def _letters(word: str) -> int:
    """Letters of a word as a set of 64 bits: one half says that a letter is there, the other that it is there again."""
    held = 0
    for char in word:
        bit = 1 << (ord(char) & 31)
        held |= bit << 32 if held & bit else bit
    return held


def _digits(word: str) -> str:
    return "" if word.isalpha() else "".join(c for c in word if c.isdigit())
