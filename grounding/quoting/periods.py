"""What an amount is for: "a year" of a question beside "Price per month" of a row."""

from __future__ import annotations

import json
import re
from functools import cache, lru_cache
from importlib.resources import files

_LEADS = "per|a|an|each|every|pro|im|je|jeden|par|al|por|all'|ao|per|à l'|l'|/"
"""What leads a period in; a word as "monthly" needs nothing."""


@cache
def _periods() -> tuple[dict[str, str], re.Pattern[str]]:
    words: dict[str, list[str]] = json.loads(files("grounding.quoting").joinpath("periods.json").read_text("utf-8"))
    named = {word: period for period, told in words.items() for word in told}
    alone = [w for w in named if w.endswith(("ly", "lich", "lijks", "uel", "ual", "ile", "ale", "sal", "nnual"))]
    every, whole = ("|".join(sorted(map(re.escape, ws), key=len, reverse=True)) for ws in (named, alone))
    return named, re.compile(rf"(?<![^\W_])(?:(?:{_LEADS})\s?({every})|({whole}))(?![^\W_])", re.IGNORECASE)


@lru_cache(maxsize=8192)
def periods_in(text: str) -> frozenset[str]:
    """The periods that amounts in a text are for: "day", "night", "week", "month" or "year"; none where it tells none."""
    named, form = _periods()
    return frozenset(named[(m.group(1) or m.group(2)).lower()] for m in form.finditer(text.replace("_", " ")))
