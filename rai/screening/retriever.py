"""A retriever whose passages the screen has read: one that gives orders to the assistant is marked."""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace

from grounding.ports import Retriever
from grounding.records import Access, Query, Retrieval
from rai.ports import PromptScreen
from rai.screening.decision import TIMEOUT_S, as_data, orders_in
from rai.screening.quarantine import Released, without_released
from rai.screening.turn import current_turn

Earlier = Callable[[Sequence[str]], dict[str, str | None]]
"""Verdicts that are known, by `verdict_key`: the rule that leaves a passage out, or None."""
_REMEMBERED = 20_000
"""Most verdicts that are kept in memory."""


class ScreenedRetriever:
    """A retriever whose passages carry, in `screened`, the rule that found an order to the assistant in them.

    Verdicts are kept by chunk id, a hash of the text, and by title; `earlier` looks up those of the ingest, `released` what people let out.
    Raises PromptBlocked(None, unavailable=True) when the screen cannot decide.
    """

    def __init__(
        self,
        retriever: Retriever,
        screen: PromptScreen,
        *,
        earlier: Earlier = lambda _keys: {},
        released: Released = lambda _keys: (),
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self._retriever = retriever
        self._screen = screen
        self._earlier = earlier
        self._released = released
        self._timeout_s = timeout_s
        self._verdicts: OrderedDict[str, str | None] = OrderedDict()

    async def retrieve(self, query: Query, access: Access, k: int) -> Retrieval:
        """The retriever's result, each passage marked."""
        found = await self._retriever.retrieve(query, access, k)
        texts = [(verdict_key(p.chunk_id, p.title, p.text), as_data(p.title, p.text)) for p in found.passages]
        rules = await self._judge(texts)
        judged = [replace(p, screened=rule) for p, rule in zip(found.passages, rules, strict=True)]
        marked = await without_released(judged, self._released)
        if (turn := current_turn()) is not None:
            said = {t for p in marked if p.screened is None for t in (p.title, p.text)}
            turn.data |= said
            turn.passages |= said
        return replace(found, passages=marked)

    async def _judge(self, texts: Sequence[tuple[str, str]]) -> list[str | None]:
        new = {key: text for key, text in texts if key not in self._verdicts}
        rules = await asyncio.to_thread(self._earlier, list(new)) if new else {}
        left = {key: text for key, text in new.items() if key not in rules}
        rules |= dict(zip(left, await orders_in(self._screen, self._timeout_s, list(left.values())), strict=True))
        answer = [rules[key] if key in rules else self._verdicts[key] for key, _ in texts]
        self._verdicts.update(rules)
        while len(self._verdicts) > _REMEMBERED:
            self._verdicts.popitem(last=False)
        return answer


def verdict_key(chunk_id: str, title: str, text: str) -> str:
    """The key that a verdict on a chunk is kept by: SHA-256 of its id, title and text, in hex."""
    return hashlib.sha256(f"{chunk_id}\x00{title}\x00{text}".encode("utf-8", "surrogatepass")).hexdigest()
