"""A chat model that tells its tokens as a service would: those of the prompt, and of the reply or as many as it is said to think."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from grounding.ports import ChatModel
from grounding.records import Completion
from grounding.tokens import asked_tokens, count_tokens
from rai.screening.turn import current_turn


class CountingModel:
    """`inner` with counts. `thinks`: it writes as many tokens as it may. `committed`: what the turn's account had committed at each call."""

    def __init__(self, inner: ChatModel, *, thinks: bool = False) -> None:
        self._inner = inner
        self._thinks = thinks
        self.committed: list[int] = []

    @property
    def name(self) -> str:
        return self._inner.name

    async def complete(
        self, system: str, user: str, *, purpose: str, max_tokens: int = 800, schema: Mapping[str, Any] | None = None
    ) -> Completion:
        turn = current_turn()
        self.committed += [turn.account.committed.tokens] if turn else []
        await asyncio.sleep(0.01)  # others that are asked at the same time are under way by then
        reply = await self._inner.complete(system, user, purpose=purpose, max_tokens=max_tokens, schema=schema)
        written = max_tokens if self._thinks else min(max_tokens, count_tokens(reply.text))
        usage = {"prompt_tokens": asked_tokens(system, user, schema), "completion_tokens": written}
        return Completion(reply.text, reply.model, usage, reply.temperature)
