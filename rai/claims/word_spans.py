"""The words of a text, cut once: what finders that look for words (months, weekdays, noon, tomorrow) look them up in."""

from __future__ import annotations

import re
from functools import lru_cache

_WORD = re.compile(r"[^\W\d_]+")

Word = tuple[str, int, int]


@lru_cache(maxsize=8)
def words(text: str) -> tuple[Word, ...]:
    """Every run of letters as (lower case, start, end), ascending. Linear; cached, because several finders ask for one text."""
    return tuple((m[0].lower(), m.start(), m.end()) for m in _WORD.finditer(text))
