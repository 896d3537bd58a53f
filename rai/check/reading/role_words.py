"""The words that name what a value is for: its role, such as price, deadline or telephone, in forms that can be compared."""

from __future__ import annotations

import re
from functools import lru_cache

from grounding.tables import table
from grounding.text import STOP_WORDS, stem, terms

# Words that name the same role of a value; compared as one. The sign keeps a class apart from the word
_TABLE = table(__file__)
_CUES: dict[str, str] = {stem(word): f"~{role}" for role, words in _TABLE["roles"].items() for word in words}


# what countries are also called, so that the line for the UK is that of the United Kingdom
_COUNTRIES: dict[str, str] = _TABLE["countries"]
_COUNTRY = re.compile(
    rf"(?<!\w)(?<!\d[ \u00a0])(?:{'|'.join(re.escape(c) for c in sorted(_COUNTRIES, key=len, reverse=True))})(?!\w)"
)
# one word for what is written as one, as two or with a hyphen
_VERBS = ("check", "pick", "drop", "log", "sign", "set", "top", "roll", "cut", "start")
_PHRASES = re.compile(rf"\b({'|'.join(_VERBS)})[ -](in|out|up|off|over)\b", re.IGNORECASE)
# off-peak is not peak, out-of-network not in-network: the small word before the hyphen makes another word
_COMPOUND = re.compile(r"\b(off|out|in|on|non|over|under|up|down|all|no)-(of-)?(?=[^\W\d_])", re.IGNORECASE)

_OUT_OF = re.compile(
    r"\b(out) (of) (?=(?:hours|network|area|warranty|season|stock|date|state|town|scope|contract)\b)", re.IGNORECASE
)
"""The same without its hyphens: "Out of hours" is what an out-of-hours visit is."""

_NUMBERED = re.compile(r"(?<![\w.,:/$€£-])\d{1,9}(?:\.\d{1,9}){0,3}(?![\w/%-]|[.,:]\d)")

_NAMED = re.compile(r"(?<!\w)[A-ZÀ-ÖØ-Þ]\w{1,30} (\d{1,3}(?:\.\d{1,9}){0,3})(?![\w/%-]|[.,:]\d)")


@lru_cache(maxsize=8192)
def role_terms(text: str) -> frozenset[str]:
    """The content words of a text without its numbers, role words as their class (cost and fee are both "~price")."""
    return frozenset(_CUES.get(term, term) for term in _terms(countries_named(text)))


@lru_cache(maxsize=8192)
def said_words(text: str) -> frozenset[str]:
    """The words of `role_terms`, and beside their class the words themselves: open and closed are both hours, and not the same."""
    return role_terms(text) | frozenset(_terms(text))


@lru_cache(maxsize=8192)
def numbered(text: str) -> frozenset[str]:
    """The bare numbers of a text as labels of a role, as `label_of` writes them: the 2 of Alto 2, the 5.1 of version 5.1."""
    numbers = _NUMBERED.findall(text)
    return frozenset(f"={n}" for number in numbers for n in (number, number.removesuffix(".0")))


@lru_cache(maxsize=8192)
def numbers_of_names(text: str) -> frozenset[str]:
    """The numbers of `numbered` that stand behind a capitalised word: Fixed 12, Version 5.1."""
    return frozenset(f"={n}" for number in _NAMED.findall(text) for n in (number, number.removesuffix(".0")))


def countries_named(text: str) -> str:
    """A text with one name for each country that it names by another, or by its people: United Kingdom for UK and British."""
    # most texts name none, and the pattern tries every letter
    if not any(country in text for country in _COUNTRIES):
        return text
    return _COUNTRY.sub(lambda m: _COUNTRIES[m.group()], text)


def class_of(word: str) -> str | None:
    """The class of a role word, stemmed; None of every other."""
    return _CUES.get(word)


def _terms(text: str) -> list[str]:
    lower = text.lower()
    plain = _PHRASES.sub(r"\1\2", text) if any(verb in lower for verb in _VERBS) else text
    if "out of " in lower:
        plain = _OUT_OF.sub(r"\1\2", plain)
    if "-" in plain:
        plain = _COMPOUND.sub(lambda m: m.group().replace("-", ""), plain)
    return [term for term in terms(plain) if not (term[0].isdigit() or _is_clitic(term))]


def _is_clitic(term: str) -> bool:
    """True of a stop word with its tail: it's, don't, they're."""
    base, mark, _ = term.partition("'")
    return bool(mark) and (base in STOP_WORDS or term.endswith("n't"))
