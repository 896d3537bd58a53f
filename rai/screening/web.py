"""A web search behind the screen: no personal data goes out with a query, no result comes in that gives orders to the assistant."""

from __future__ import annotations

import asyncio
import re

from grounding.ports import WebSearch
from grounding.records import WebResult
from rai.personal.redact import MASK, Redactor, masked, merged
from rai.ports import PromptScreen
from rai.screening.decision import TIMEOUT_S, as_data, orders_in
from rai.screening.turn import TurnScreening, current_turn, known_of, note

_BEFORE_STOP = re.compile(r"(?<!\s)\s+(?=[,.;:!?])")
_LEFT_OVER = re.compile(r"([,.;:!?])(?:\s*[,;:])+")


class ScreenedWeb:
    """A web search that sends no personal data out and lets no result in that gives orders to the assistant.

    `redactor` None: queries are sent as they are.
    """

    def __init__(
        self, web: WebSearch, screen: PromptScreen, redactor: Redactor | None, *, timeout_s: float = TIMEOUT_S
    ) -> None:
        self._web = web
        self._screen = screen
        self._redactor = redactor
        self._timeout_s = timeout_s

    @property
    def name(self) -> str:
        return self._web.name

    async def search(self, query: str, k: int) -> tuple[WebResult, ...]:
        """The results that give no orders; what was dropped stands in the turn's notes. Empty if the query was personal data only."""
        clean = (
            query
            if self._redactor is None
            else await asyncio.to_thread(public_query, query, current_turn(), self._redactor)
        )
        if not clean:
            note("the web was not searched: the query held nothing but personal data")
            return ()
        found = await self._web.search(clean, k)
        rules = await orders_in(self._screen, self._timeout_s, [as_data(r.title, r.snippet) for r in found])
        kept = tuple(r for r, rule in zip(found, rules, strict=True) if rule is None)
        if len(kept) < len(found):
            named = ", ".join(sorted({rule for rule in rules if rule}))
            note(f"{len(found) - len(kept)} of {len(found)} web results dropped: they give orders ({named})")
        if (turn := current_turn()) is not None:
            said = {t for r in kept for t in (r.title, r.snippet)}
            turn.data |= said
            turn.passages |= said
        return kept


def public_query(query: str, turn: TurnScreening | None, redactor: Redactor) -> str:
    """`query` without personal data, that which is found in it and that which the conversation around it gave away; "" if nothing is left."""
    found = redactor.find(query)
    if turn is not None:
        known = known_of(turn, redactor)
        found = merged(query, [*(p for p in found if not known.is_own(p)), *known.find(query)])
    if not found:
        return query
    clean = " ".join(masked(query, found).replace(MASK, " ").split())
    clean = _LEFT_OVER.sub(r"\1", _BEFORE_STOP.sub("", clean)).strip(" ,;:")
    note("personal data was taken out of the web query")
    return clean if re.search(r"\w", clean) else ""
