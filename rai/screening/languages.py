"""The language of a text, guessed by its script and function words, and whether the screen's rules read it.

Each language has a list of its commonest words. A word of the text counts for every language that has it, divided by how many have it, so
that "de" and "la" say little and "nicht" says all; letters that few languages write count a little. No model, no network: a
question takes some tens of microseconds, and no more than the first 2,000 characters are looked at.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from grounding.tables import table

READ = frozenset({"en"})
"""Languages that the screen's rules are written in, as ISO 639-1 codes."""
UNREAD = "the screen's rules do not read this language"
"""The note on a text in any other."""
FEWEST = 1.0
"""The least weight that a language must gather to be named: one word that it alone has, or two that two share."""
FEWEST_WORDS = 2
"""Fewest different words of a language that count for it."""
LEAD = 1.2
"""The factor by which its weight must lead over the next."""
_LOOKED_AT = 2_000
"""Most characters of a text that are looked at."""
_OTHER_SCRIPT = 0.4
"""Least share of a text's letters in a script of its own that names the language."""
_LETTER, _MOST_LETTERS = 0.4, 1.2
"""Weight of a letter that one language alone writes, and the most that letters weigh for a language."""

_TABLE = table(__file__)
_WORDS: dict[str, frozenset[str]] = {code: frozenset(words) for code, words in _TABLE["words"].items()}
_HAVE: dict[str, list[str]] = {}
for _code, _words in _WORDS.items():
    for _word in _words:
        _HAVE.setdefault(_word, []).append(_code)
_LETTERS: dict[str, str] = _TABLE["letters"]
_WRITE = {
    letter: [code for code, own in _LETTERS.items() if letter in own] for letter in set("".join(_LETTERS.values()))
}
_OF_FEW = re.compile(f"[{re.escape(''.join(_WRITE))}]")
_SCRIPTS = {
    "ja": re.compile("[\u3040-\u30ff]"),
    "ko": re.compile("[\u1100-\u11ff\uac00-\ud7a3]"),
    "zh": re.compile("[\u4e00-\u9fff]"),
    "ru": re.compile("[\u0400-\u04ff]"),
    "el": re.compile("[\u0370-\u03ff]"),
    "he": re.compile("[\u0590-\u05ff]"),
    "ar": re.compile("[\u0600-\u06ff]"),
    "hi": re.compile("[\u0900-\u097f]"),
    "th": re.compile("[\u0e00-\u0e7f]"),
}
_ANY_SCRIPT = re.compile("|".join(pattern.pattern for pattern in _SCRIPTS.values()))
_WORD = re.compile(r"(?<![\w])[^\W\d_]+(?![\w])")
"""A word: the "C" of C1 is none."""


def common_words(code: str) -> frozenset[str]:
    """The commonest words of a language (ISO 639-1), in lower case; of one that has no list none."""
    return _WORDS.get(code, frozenset())


def language(text: str) -> str:
    """The ISO 639-1 code of the language that `text` is most likely in, "" where it cannot be told (product names, a code).

    Of a script that several languages share, the one with most speakers is named.
    """
    return _language(text[:_LOOKED_AT])


@lru_cache(maxsize=512)  # rules, words and classifier each ask about the same sentences
def _language(text: str) -> str:
    if not text.isascii() and (code := _by_script(text)):
        return code
    scores = _by_words(text)
    if not text.isascii():
        _add_letters(text, scores)
    if not scores:
        return ""
    best = max(scores, key=lambda code: scores[code])
    second = max((score for code, score in scores.items() if code != best), default=0.0)
    return best if scores[best] >= FEWEST and scores[best] >= LEAD * second else ""


def reads(text: str) -> bool:
    """True if the screen's rules read the language of `text`. What is in no language, such as a product's name, counts as read."""
    return language(text) in READ | {""}


def unread(text: str) -> str | None:
    """The note for a turn whose text the rules do not read, naming the language; None if they read it."""
    return None if reads(text) else f"{UNREAD} ({language(text)})"


def _by_words(text: str) -> dict[str, float]:
    """The weight that each language gathers by its words; none for a language of which a single word occurs, as in a product's name."""
    counts = Counter(word.lower() for word in _WORD.findall(text))
    known = [
        (code, count / len(codes)) for word, count in counts.items() if (codes := _HAVE.get(word)) for code in codes
    ]
    scores: dict[str, float] = {}
    for code, weight in known:
        scores[code] = scores.get(code, 0.0) + weight
    words = Counter(code for code, _ in known)
    return {code: score for code, score in scores.items() if words[code] >= FEWEST_WORDS}


def _add_letters(text: str, scores: dict[str, float]) -> None:
    gathered: dict[str, float] = {}
    for letter in _OF_FEW.findall(text.lower()):
        for code in _WRITE[letter]:
            gathered[code] = min(gathered.get(code, 0.0) + _LETTER / len(_WRITE[letter]), _MOST_LETTERS)
    for code, score in gathered.items():
        scores[code] = scores.get(code, 0.0) + score


def _by_script(text: str) -> str:
    if not _ANY_SCRIPT.search(text):
        return ""
    letters = sum(c.isalpha() for c in text)
    found = {code: len(pattern.findall(text)) for code, pattern in _SCRIPTS.items()}
    if sum(found.values()) < max(2.0, _OTHER_SCRIPT * letters):
        return ""
    # kana decide for Japanese, which is written with Chinese characters too
    return "ja" if found["ja"] else max(found, key=lambda code: found[code])
