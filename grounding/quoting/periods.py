"""What an amount is for: "a year" of a question beside "Price per month" of a row.

`periods.json` has the words by period: those that something leads in ("per month", "a year"), and those that stand alone ("monthly").
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache

from grounding.tables import table


@cache
def _periods() -> tuple[dict[str, str], re.Pattern[str]]:
    held = table(__file__)
    named = {word: period for part in ("named", "alone") for period, words in held[part].items() for word in words}
    led, alone = (_any(word for words in held[part].values() for word in words) for part in ("named", "alone"))
    form = rf"(?<![^\W_])(?:(?:{_any(held['leads'])})\s?({led})|({alone}))(?![^\W_])"
    return named, re.compile(form, re.IGNORECASE)


def _any(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


@lru_cache(maxsize=8192)
def periods_in(text: str) -> frozenset[str]:
    """The periods that amounts in a text are for: "day", "night", "week", "month" or "year"; none where it tells none."""
    named, form = _periods()
    return frozenset(named[(m.group(1) or m.group(2)).lower()] for m in form.finditer(text.replace("_", " ")))
