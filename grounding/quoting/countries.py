"""Countries as tables write them, by a code, and as people say them: "who is open on Saturdays in Ireland" beside a column with IE, DE and FR."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.resources import files

from babel import Locale

from grounding.text import caseless

LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl")
_ALIASES: dict[str, str] = json.loads(files("grounding.quoting").joinpath("countries.json").read_text("utf-8"))


@lru_cache(maxsize=512)
def country_names(code: str) -> tuple[str, ...]:
    """What a country is called that a cell gives by its two letters (ISO 3166-1, CLDR's names), without case; empty for what is no such code."""
    if len(code) != 2 or not (code.isascii() and code.isalpha() and code.isupper()):
        return ()
    named = [Locale(language).territories.get(code) for language in LANGUAGES]
    if named[0] is None:
        return ()
    return tuple(dict.fromkeys([*(caseless(name) for name in named if name), *_ALIASES.get(code, "").split()]))


def as_said(value: str, question: str) -> str:
    """A cell as the question calls it: the name of the country where the cell is its code and the question says the name, else as it is."""
    plain = f" {' '.join(caseless(question).replace('?', ' ').replace(',', ' ').split())} "
    return next((name for name in country_names(value) if f" {name} " in plain), value)
