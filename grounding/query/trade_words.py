"""English for the trade's words in a question of another language, by a small glossary: English documents are found without a model.

Numbers, product names and cognates find a document in any language; "Sohle", "frais" and "cuánto cuesta" do not. A word that the glossary
does not know stays as it is, and so does the question itself: what is found is looked for beside it. Documents in the question's own language
are found as before.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import yaml

from grounding.text import caseless, words

WITHIN_FROM = 5
"""Letters from which a key is looked for within a word too: German writes "Mietpreis" in one."""


@cache
def _glossary() -> dict[str, dict[str, tuple[str, ...]]]:
    """By language the keys, the longest first, and their English words."""
    table = yaml.safe_load(files("grounding.query").joinpath("trade_words.yaml").read_text("utf-8"))
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
    found: list[str] = [word for key, english in keys.items() if " " in key and f" {key}" in plain for word in english]
    for word in said:
        first = next((k for k in keys if " " not in k and _begins(k, word)), None)
        within = next((k for k in keys if len(k) >= WITHIN_FROM and k in word[1:]), None)
        found += [w for key in (first, within) if key is not None for w in keys[key]]
    return tuple(dict.fromkeys(word for word in found if word not in said))


def _begins(key: str, word: str) -> bool:
    """True for a word that begins with `key`; of a short one ("an", "lid") only with one letter more."""
    return word.startswith(key) and (len(key) > 3 or len(word) <= len(key) + 1)
