"""Holidays with a fixed date: New Year's Eve is 31 December. In eight languages; those that move are none."""

from __future__ import annotations

import re

from grounding.tables import table
from rai.claims.found import Found

_NAMES: dict[str, str] = {day: "|".join(names) for day, names in table(__file__).items()}
_NAMED = re.compile(
    r"(?<!\w)(?:" + "|".join(f"(?P<d{at}>{names})" for at, names in enumerate(_NAMES.values())) + r")(?!\w)",
    re.IGNORECASE,
)
_DAYS = tuple(_NAMES)


def find(text: str) -> list[Found]:
    """Finds every named day, as a date of any year."""
    return [
        Found("date", m.start(), m.end(), _DAYS[next(at for at in range(len(_DAYS)) if m[f"d{at}"])])
        for m in _NAMED.finditer(text)
    ]


def is_holiday(text: str) -> bool:
    """True if `text` is the name of such a day."""
    return _NAMED.fullmatch(text.strip()) is not None
