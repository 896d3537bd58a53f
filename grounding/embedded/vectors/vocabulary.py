"""Words of English as the embedding model's vocabulary has them: which ones there are, and which one a word that is none was meant to be."""

from __future__ import annotations

from collections.abc import Sequence

from rapidfuzz.distance import OSA

from grounding.query.typos import FROM, SpellingIndex

OFTEN, VERY_OFTEN = 10_000, 3_500
"""Ranks up to which a word may be meant: one of `FROM` letters and more, and a shorter one, which is near to so many others."""
SHORTEST = 3
"""Letters that a word needs to be a slip of another."""


class Vocabulary:
    """Words with their rank, the most frequent first. Immutable after it is built."""

    def __init__(self, ranked: Sequence[tuple[str, int]]) -> None:
        """`ranked`: lower-case words with their ranks; a word piece model's vocabulary stands in the order of frequency (Devlin et al. 2019)."""
        self._rank = dict(ranked)
        self._near = SpellingIndex(word for word, rank in ranked if rank <= OFTEN)
        self._short = sorted((rank, word) for word, rank in ranked if rank <= VERY_OFTEN and len(word) >= SHORTEST)

    @property
    def ranked(self) -> Sequence[tuple[str, int]]:
        """The words with their ranks."""
        return tuple(self._rank.items())

    def __contains__(self, word: object) -> bool:
        return word in self._rank

    def meant(self, typed: str) -> str | None:
        """The word that `typed`, which is none, was meant to be: of those with the fewest edits the most frequent. Of a short one only a
        letter is thought to be missing, or two to have changed places: "whn", "hwo". None where there is none.
        """
        if len(typed) < FROM:
            return next((word for _rank, word in self._short if word[0] == typed[:1] and _slipped(typed, word)), None)
        near = [(edits, self._rank[word], word) for word, edits in self._near.near(typed) if word[0] == typed[0]]
        return min(near)[2] if near else None


def _slipped(typed: str, word: str) -> bool:
    """True if `typed` lacks a letter of `word`, or has two that changed places."""
    same = len(typed) == len(word) and sorted(typed) == sorted(word)
    return (same or len(typed) == len(word) - 1) and OSA.distance(typed, word, score_cutoff=1) <= 1
