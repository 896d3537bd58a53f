"""Where a text says that something costs nothing. No amounts: an aid to compare what two sentences say of a price."""

from __future__ import annotations

import re

from rai.claims.found import Found

_FREE = re.compile(
    r"\b(?:free(?: of (?:charge|cost))|for free|complimentary|gratis|kostenlos(?:e[nrs]?)?|kostenfrei|gratuit(?:e|es|s|ement)?|gratuit[oai]|"
    r"(?:at |for )?no (?:extra |additional |further |added )?(?:charges?|costs?|fees?)|without (?:extra |additional )?(?:charge|cost|fee)|free)(?!\w)",
    re.IGNORECASE,
)
_NEGATED = re.compile(r"\b(?:not|never|n['’]t|nicht|no longer|isn['’]t|aren['’]t)(?: \w{1,12}){0,1} $", re.IGNORECASE)
_NOT_COST = re.compile(
    r"(?: (?:to|from|up|time|will|fall|speech|trade|market|agent|range|standing|hand|and clear|space|slots?|spots?)\b|-| of (?!charge|cost))",
    re.IGNORECASE,
)
_NOT_COST_BEFORE = re.compile(
    r"(?:-|\b(?:feel|set|break|toll|sugar|gluten|smoke|duty|tax|dairy|nut|fat|alcohol|hassle|risk|worry|interest|fee|hands|be) )$",
    re.IGNORECASE,
)


def find_free(text: str) -> list[Found]:
    """Where a text says that something costs nothing ("free"), or that it does ("not free").

    "Feel free", "toll-free", "free to choose", "free of sugar" and "free time" say nothing of a price.
    """
    found: list[Found] = []
    for match in _FREE.finditer(text):
        if match[0].lower() == "free" and (
            _NOT_COST.match(text, match.end())
            or _NOT_COST_BEFORE.search(text, max(0, match.start() - 9), match.start())
        ):
            continue
        negated = _NEGATED.search(text, max(0, match.start() - 24), match.start())
        found.append(Found("money", match.start(), match.end(), "not free" if negated else "free"))
    return found
