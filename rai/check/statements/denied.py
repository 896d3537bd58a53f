"""Sentences of a source that say one thing and deny another: "refunded in the case of loss, not in the case of damage"."""

from __future__ import annotations

import re

from grounding.text import terms
from rai.check.lexicon.load import pattern

_APART = re.compile(r"[,;:(–—] ?")
_FARTHEST = 80
"""Characters after the negation in which what it denies is named."""


def denied_apart(said: str, source: str) -> bool:
    """True if `source` denies of one thing what it says of another, and `said` names the one that it denies.

    A sentence `said` that denies it too does not turn the source round.
    """
    words = frozenset(terms(said))
    for mark in _APART.finditer(source):
        negated = pattern("reckoning", "contrast").match(source, mark.end())
        if negated is None:
            continue
        denied = frozenset(terms(re.split(r"[.;,)]", source[negated.end() : negated.end() + _FARTHEST])[0]))
        if (denied - frozenset(terms(source[: mark.start()]))) & words:
            return True
    return False
