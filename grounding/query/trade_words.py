"""English for the trade's words in a question of another language, by a small glossary: English documents are found without a model.

Numbers, product names and cognates find a document in any language; "Sohle", "frais" and "cuánto cuesta" do not. A word that the glossary
does not know stays as it is, and so does the question itself: what is found is looked for beside it. Documents in the question's own language
are found as before.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from grounding.tables import yaml_table
from grounding.text import caseless, words

ALSO_ENGLISH = "also_english"
"""Name of the list of keys with which English words begin: they tell no language."""
WITHIN_FROM = 5
"""Letters from which a key is looked for within a word too: German writes "Mietpreis" in one."""


TELLS_FROM = 5
"""Letters from which a key tells the language of a question."""


@cache
def _table() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml_table(__file__, "trade_words.yaml")
    return loaded


@cache
def _glossary() -> dict[str, dict[str, tuple[str, ...]]]:
    """By language the keys, the longest first, and their English words."""
    table = {code: keys for code, keys in _table().items() if code != ALSO_ENGLISH}
    return {
        code: {
            caseless(key): tuple(table[code][key].split()) for key in sorted(table[code], key=lambda k: (-len(k), k))
        }
        for code in table
    }


def english_words(question: str, language: str) -> tuple[str, ...]:
    """What English documents call the things that a question in `language` (ISO 639-1) speaks of, each once, in order of the question; empty
    for a language without a glossary.
    """
    keys = _glossary().get(language, {})
    said = [caseless(w.text) for w in words(question)]
    plain = f" {' '.join(said)} "
    said += _joined(said) if language == "de" else []
    found: list[str] = [word for key, english in keys.items() if " " in key and f" {key}" in plain for word in english]
    for word in said:
        first = next((k for k in keys if " " not in k and _begins(k, word)), None)
        within = next((k for k in keys if len(k) >= WITHIN_FROM and k in word[1:]), None)
        found += [w for key in (first, within) if key is not None for w in keys[key]]
    return tuple(dict.fromkeys(word for word in found if word not in said))


@cache
def _telling() -> dict[str, re.Pattern[str]]:
    """By language a pattern of the words that tell it: those that begin with a key with which no English word begins."""
    listed = _table()[ALSO_ENGLISH].split()
    english, begun = ({caseless(k.rstrip("*")) for k in listed if k.endswith("*") is star} for star in (False, True))
    return {
        code: re.compile(
            "|".join(
                rf"(?<![^\W_]){re.escape(key)}" + (r"(?![^\W_])" if key in begun else "")
                for key in keys
                if len(key) >= TELLS_FROM and key not in english
            )
        )
        for code, keys in _glossary().items()
    }


def language_of_trade(question: str) -> str:
    """The language (ISO 639-1) in which a question says most of its words of the trade: "preis perch d1"; empty where several do so alike, or none."""
    plain = " ".join(caseless(w.text) for w in words(question))
    told = {code: len(set(telling.findall(plain))) for code, telling in _telling().items()}
    most = max(told.values())
    leading = [code for code, count in told.items() if count == most]
    return leading[0] if most and len(leading) == 1 else ""


_PARTICLES = frozenset("zurück ein an ab aus um auf mit".split())
"""What stands apart from a German verb: "wie setze ich die Kamera zurück" is zurücksetzen."""


def _joined(said: Sequence[str]) -> list[str]:
    """The verbs of a German question whose particle stands apart, as one word."""
    particles = {caseless(particle) for particle in _PARTICLES}
    return [word + verb for at, word in enumerate(said) if word in particles for verb in said[:at]]


def _begins(key: str, word: str) -> bool:
    """True for a word that begins with `key`; of a short one ("an", "lid") only with one letter more."""
    return word.startswith(key) and (len(key) > 3 or len(word) <= len(key) + 1)
