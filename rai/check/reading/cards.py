"""The cards of a text: blocks of lines with an empty line between, each about one thing, as of a page of contacts or prices."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache

_CARD = re.compile(r"[^\n]+(?:\n[^\n]+)*")


@lru_cache(maxsize=256)
def cards_of(text: str) -> tuple[tuple[int, int], ...]:
    """The cards of `text`, ascending, half open."""
    return tuple(m.span() for m in _CARD.finditer(text))


def card_at(text: str, start: int) -> int | None:
    """The number of the card that the offset `start` is in; None between cards, and in a text that is one."""
    cards = cards_of(text)
    at = bisect_right(cards, (start, len(text))) - 1
    return at if at >= 0 and start < cards[at][1] and len(cards) > 1 else None
