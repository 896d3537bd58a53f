"""Whether a value is named beside the one that is meant: an hour instead of ten minutes."""

from __future__ import annotations

import re

from rai.check.answer import Answer

_BEFORE = 24
_COMPARED = re.compile(
    r"\b(?:instead of|rather than|than|against|compared (?:with|to)|versus|vs\.?|unlike|not|from|statt|anstelle|als|gegenüber|au lieu de|contre|en vez de|que|invece di|rispetto|em vez de|in plaats van|dan|zamiast|niż)\W+(?:\w+ ){0,2}$",
    re.IGNORECASE,
)


def is_compared(n: int, answer: Answer) -> bool:
    """True if the n-th value follows on "instead of", "from" and the like."""
    start = answer.values[n].start
    return _COMPARED.search(answer.text, max(0, start - _BEFORE), start) is not None
