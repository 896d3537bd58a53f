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


def denies_another(said: str, source: str) -> bool:
    """True if all that `source` denies is something beside what it says, which `said` leaves out: "with the first lesson, not with the purchase"."""
    words = frozenset(terms(said))
    parts = [
        (mark.start(), negated)
        for mark in _APART.finditer(source)
        if (negated := pattern("reckoning", "contrast").match(source, mark.end())) is not None
    ]
    if not parts:
        return False
    first = parts[0][0]
    own = frozenset(terms(source[parts[0][1].end() :])) - frozenset(terms(source[:first]))
    return bool(own) and not own & words and not _NEGATED.search(source[:first]) and not _NEGATED.search(said)


def negations(text: str) -> int:
    """How often a text denies something, by its words."""
    return len(_NEGATED.findall(text))


_NEGATED = re.compile(
    r"\b(?:not|no|never|none|nothing|neither|cannot|without|nicht|kein\w*|nie|ohne|pas|jamais|aucune?|sans|nunca|sin|non|mai|senza|não|sem|niet|geen|zonder|nie)\b|n['’]t\b",
    re.IGNORECASE,
)
