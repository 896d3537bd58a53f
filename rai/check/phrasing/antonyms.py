"""Relations between English words: opposites, words that may stand for each other, and kinds that exclude each other.

The lists under `words/` are hand-written general English, no word of them belongs to a customer or a data set; a word is
compared by its `key`, so that inflections need no line of their own. Other languages have none: their words match or do not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from pathlib import Path

from grounding.tables import both_ways
from grounding.text import stem

_WORDS = Path(__file__).parent / "words"
_NEGATING = ("un", "in", "im", "il", "ir", "dis", "non", "de", "mis", "anti", "sub")
_BASES = ("un", "in", "im", "non", "dis")
_SHORTEST_BASE = 4


def _lines(name: str) -> list[str]:
    text = (_WORDS / name).read_text("utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


_IRREGULAR = {form: line.split()[0] for line in _lines("irregular.txt") for form in line.split()}


@lru_cache(maxsize=65536)
def key(word: str) -> str:
    """The form under which a lower-case word is compared: its base if it is irregular, then its light stem."""
    base = word.removesuffix("'s")
    return stem(_IRREGULAR.get(base, base))


def opposite(a: str, b: str) -> bool:
    """True if keys `a` and `b` are opposites: listed, or one is the other with a negating prefix or "-less"."""
    return b in _antonyms().get(a, ()) or _negates(a, b) or _negates(b, a)


def opposites(word: str) -> frozenset[str]:
    """The keys listed as opposites of a key."""
    return _antonyms().get(word, frozenset())


def alike(word: str) -> frozenset[str]:
    """The keys of words that may stand for the word of a key."""
    return _synonyms().get(word, frozenset())


def exclusive(a: str, b: str) -> bool:
    """True if two different keys are of one kind that excludes each other: Monday and Tuesday."""
    kinds = _siblings()
    return a != b and not kinds.get(a, _NONE).isdisjoint(kinds.get(b, _NONE)) and b not in alike(a)


def has_kind(word: str) -> bool:
    """True if a key is of a kind whose members exclude each other."""
    return word in _siblings()


def generic(word: str) -> bool:
    """True of a word so common in customer service that an answer may add it without inventing anything: discuss, offer, guest."""
    return word in _generic()


def negated_form(word: str, vocabulary: frozenset[str]) -> bool:
    """True if `vocabulary` has `word` without its negating prefix, or with one."""
    without = any(
        word.startswith(p) and len(word) - len(p) >= _SHORTEST_BASE and word[len(p) :] in vocabulary for p in _NEGATING
    )
    return without or any(p + word in vocabulary for p in _BASES)


_NONE: frozenset[int] = frozenset()


def _negates(a: str, b: str) -> bool:
    if any(a.startswith(p) and len(a) - len(p) >= _SHORTEST_BASE and a[len(p) :] == b for p in _NEGATING):
        return True
    return a.endswith("less") and len(a) > 7 and b in (a[:-4], a[:-4] + "ful")


@lru_cache(maxsize=1)
def _antonyms() -> dict[str, frozenset[str]]:
    return both_ways((key(a), key(b)) for a, b in map(str.split, _lines("antonyms.txt")))


@lru_cache(maxsize=1)
def _synonyms() -> dict[str, frozenset[str]]:
    return both_ways((a, b) for line in _lines("synonyms.txt") for a, b in _alike_in(line) if a != b)


def _alike_in(line: str) -> Iterator[tuple[str, str]]:
    """The pairs of keys that a line lists as alike: its head with each other word, or every two words if it has no head."""
    head, colon, rest = line.partition(":")
    words = [key(word) for word in (rest if colon else line).split()]
    return product([key(head)] if colon else words, words)


@lru_cache(maxsize=1)
def _siblings() -> dict[str, frozenset[int]]:
    found: dict[str, set[int]] = defaultdict(set)
    for kind, line in enumerate(_lines("siblings.txt")):
        for word in line.split():
            found[key(word)].add(kind)
    return {word: frozenset(kinds) for word, kinds in found.items()}


@lru_cache(maxsize=1)
def _generic() -> frozenset[str]:
    return frozenset(key(word) for line in _lines("generic.txt") for word in line.split())
