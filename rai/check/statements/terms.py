"""The words of a text that tell something, in the form they are compared by: without function words, and with endings cut.

English words are compared by their stem and base (`rai.check.phrasing.antonyms`), words of other languages by their first letters: a
prefix long enough that "verlängern" and "Verlängerung" meet and short words keep their whole.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache

from grounding.text import STOP_WORDS, caseless, fold
from rai.check.lexicon.load import LANGUAGES, rows
from rai.check.phrasing.antonyms import alike, key
from rai.screening.languages import language as language_of

_PREFIX = {"en": 99, "de": 6, "nl": 6, "fr": 5, "es": 5, "it": 5, "pt": 5, "pl": 5}
_COMPOUNDING = frozenset({"de", "nl"})
_SHORTEST_PART = 5
_LONGEST = 6000
_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:'[^\W\d_]+)*|[^\W_]+")
_ELIDED = re.compile(r"^(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|dell|all|nell|dall|sull|un|quest|quell)'(?=\w{2})")


@dataclass(frozen=True, slots=True)
class Term:
    """A word that tells something, at `text[start:end]`. `key`: the form it is compared by; `digits`: whether it is a number; `word`: as it
    is written, in lower case; `alike`: keys of words that may stand for it.
    """

    key: str
    start: int
    end: int
    digits: bool
    word: str = ""
    alike: frozenset[str] = frozenset()


@cache
def _function_words(language: str) -> frozenset[str]:
    words = rows("function")["function"][language]
    return frozenset(words) | (STOP_WORDS if language == "en" else frozenset())


def language(text: str) -> str:
    """The language that a text is read in: English where it cannot be told or has no words here."""
    return known if (known := language_of(text)) in LANGUAGES else "en"


@lru_cache(maxsize=16384)
def terms(text: str, code: str) -> tuple[Term, ...]:
    """The words of `text` that tell something, in order. At most its first 6,000 characters are read."""
    plain = fold(text[:_LONGEST]).lower()
    skipped = _function_words(code)
    found = []
    for match in _WORD.finditer(plain):
        word, start = match.group(), match.start()
        if code in ("fr", "it") and (elided := _ELIDED.match(word)):
            start += elided.end()
            word = word[elided.end() :]
        if (
            word in skipped
            or word.partition("'")[0] in skipped
            or word.endswith("n't")
            or (len(word) == 1 and not word.isdigit())
        ):
            continue
        found.append(_term(word, start, match.end(), code))
    return tuple(found)


def _term(word: str, start: int, end: int, code: str) -> Term:
    if word[0].isdigit():
        return Term(_number(word), start, end, digits=True, word=word)
    if code == "en":
        base = key(word.partition("'")[0] if word.endswith("'s") else word)
        return Term(base, start, end, digits=False, word=word, alike=alike(base))
    return Term(caseless(word)[: _PREFIX[code]], start, end, digits=False, word=caseless(word))


@lru_cache(maxsize=8192)
def _number(word: str) -> str:
    """The digits of a number without thousands signs, leading noughts and a fraction of noughts: 1.249,00 and 1249 are one."""
    whole, mark, rest = word.rpartition(word[-3]) if len(word) > 3 and word[-3] in ".," else (word, "", "")
    digits = re.sub(r"[.,:]", "", whole)
    return digits.lstrip("0") + (f".{rest}" if mark and rest.strip("0") else "") or "0"


def within_compounds(part: str, words: frozenset[str], code: str) -> bool:
    """True if a word is a part of one of `words`, or one of them of it, in a language that writes compounds as one."""
    if code not in _COMPOUNDING or len(part) < _SHORTEST_PART:
        return False
    return any(len(w) >= _SHORTEST_PART and (part in w or w in part) for w in words)
