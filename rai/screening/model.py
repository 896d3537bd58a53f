"""A chat model behind the screen: no prompt reaches it unscreened, and each call stands in the turn's account.

Within `screened_turn()` the pieces that were screened are remembered, so that of a prompt made of them only the new text is judged again.
Outside of it all of it is judged.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

from grounding.errors import BudgetSpent, PromptBlocked
from grounding.model_calls.reply_room import Grant, room_granted_by
from grounding.model_calls.spotlight import MARKER_LINE
from grounding.observe import ChatCall, Operation, ReplyUnused, added, observed, watched_by
from grounding.ports import ChatModel
from grounding.records import Completion
from grounding.tokens import asked_tokens
from rai.account import Hold, ModelCall, Spending
from rai.ports import PromptScreen
from rai.records import Screening
from rai.screening.decision import TIMEOUT_S, decide
from rai.screening.turn import current_turn, note

_SHORTEST = 16
"""Fewest characters of a piece that is not judged again: a shorter one is cheap to judge, and cutting it out could tear a sentence apart."""
LEAST_WINDOW = 256
"""Fewest tokens of a prompt whose count is one of the whole: a server that counts fewer leaves out what it had cached."""
CUT_BELOW = 0.6
"""The share of the tokens sent below which a service's count means a cut. Vocabularies differ by less; of what is too long Ollama reads half of its window."""


class ScreenedModel:
    """A chat model that screens each prompt before it is sent. The model behind it cannot be reached around it.

    `trusted`: our own templates; lines of them are not judged. `system` is judged as data, `user` as a request.
    """

    __slots__ = ("__call", "__name")

    def __init__(
        self, model: ChatModel, screen: PromptScreen, *, trusted: Iterable[str] = (), timeout_s: float = TIMEOUT_S
    ) -> None:
        ours = frozenset(line.strip() for text in trusted for line in text.splitlines() if line.strip())

        async def call(
            system: str, user: str, purpose: str, max_tokens: int, schema: Mapping[str, Any] | None = None
        ) -> Completion:
            asked = ChatCall(model.name, purpose, max_tokens, system, user)
            with await _holding(asked, schema) as hold:
                request, data = _unjudged(user, ours), _unjudged(system, ours)
                if request or data:
                    screening = await decide(screen, timeout_s, request, (data,) if data else ())
                    _refuse(screening)
                reply = model.complete(system, user, purpose=purpose, max_tokens=max_tokens, schema=schema)
                with room_granted_by(_granting(asked, hold)):
                    completion = await _counted(asked, reply, hold)
            if current_turn() is not None:
                served = completion.served
                for said in (served.degraded if served else "", await _cut(asked, completion)):
                    if said:
                        note(said)
            return completion

        self.__call: Callable[..., Awaitable[Completion]] = call
        self.__name = model.name

    @property
    def name(self) -> str:
        return self.__name

    async def complete(
        self, system: str, user: str, *, purpose: str, max_tokens: int = 800, schema: Mapping[str, Any] | None = None
    ) -> Completion:
        """The model's reply. Raises PromptBlocked, BudgetSpent if the turn's budget has no room for it, or what the model raises."""
        try:
            return await self.__call(system, user, purpose, max_tokens, schema)
        except BudgetSpent as error:
            note(str(error))
            raise


def _refuse(screening: Screening) -> None:
    orders = next((d for d in screening.documents if d.verdict == "block"), None)
    if not screening.blocked and orders is None:
        return
    if orders is not None and not screening.blocked:
        screening = replace(screening, verdict="block", category="injection", rule=orders.rule, score=orders.score)
    if (turn := current_turn()) is not None:
        turn.blocked.append(("prompt", screening))
    raise PromptBlocked(screening.rule)


def _unjudged(text: str, ours: frozenset[str]) -> str:
    """The lines of a prompt that the screen still has to judge, in their order.

    Left out are our own lines, those that open and close quotations, and the pieces that were allowed in this turn. A passage stays data
    wherever a prompt puts it, so that a grader's prompt may carry it in the user message.
    """
    turn = current_turn()
    pieces = turn.requests | turn.data if turn is not None else frozenset()
    for piece in sorted((p.strip() for p in pieces if len(p.strip()) >= _SHORTEST), key=len, reverse=True):
        text = text.replace(piece, "\n")
    whole = "\n".join(pieces)
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(
        line
        for line in lines
        if line
        and line not in ours
        and not MARKER_LINE.fullmatch(line)
        and not (len(line) >= _SHORTEST and line in whole)
    )


async def _holding(asked: ChatCall, schema: Mapping[str, Any] | None) -> AbstractContextManager[Hold]:
    """A block in which the turn's account holds what the call may take. Raises BudgetSpent if there is no room for it."""
    turn = current_turn()
    if turn is None or not turn.account.terms.bounded:
        return nullcontext(Hold(Spending()))
    tokens = await asyncio.to_thread(asked_tokens, asked.system, asked.user, schema)
    return turn.account.holding(asked.purpose, tokens, asked.max_tokens)


def _granting(asked: ChatCall, hold: Hold) -> Grant:
    """A function that grants a reply tokens beyond its cap, as the turn's account allows; without a bound, all that are wanted."""
    turn, cap = current_turn(), asked.max_tokens

    def grant(tokens: int, again: bool) -> int | None:
        bounded = turn is not None and turn.account.terms.bounded
        given = turn.account.widen(hold, asked.purpose, tokens, again=again) if turn and bounded else tokens
        asked.max_tokens = cap + (given or 0)
        return given

    return grant


async def _counted(asked: ChatCall, call: Awaitable[Completion], hold: Hold) -> Completion:
    """The model's reply; the call is written down in the current turn's account."""

    def listen(operation: Operation) -> AbstractContextManager[None]:
        if isinstance(operation, ReplyUnused):
            asked.unused = added(asked.unused, operation.usage)
        return nullcontext()

    began, ended, reply = time.perf_counter(), "complete", None
    try:
        with observed(asked), watched_by(listen):
            asked.completion = reply = await call
            if reply.served is not None:
                asked.model = reply.served.model
        return reply
    except BaseException as error:
        ended = type(error).__name__
        raise
    finally:
        if (turn := current_turn()) is not None:
            ms = round((time.perf_counter() - began) * 1000, 1)
            temperature = reply.temperature if reply else None
            backend = reply.served.backend if reply and reply.served else ""
            made = ModelCall(asked.purpose, asked.model, ended, ms, asked.usage, temperature, backend)
            turn.account.settle(hold, made)


async def _cut(asked: ChatCall, completion: Completion) -> str:
    """The note on a prompt that a server cut without a word, because its context is too short; "" if it did not, or does not tell.

    It is told by the service's count of tokens, which is far below what it was sent.
    """
    told = completion.usage.get("prompt_tokens", 0) + completion.usage.get("cached_tokens", 0)
    if told < LEAST_WINDOW:
        return ""
    sent = await asyncio.to_thread(asked_tokens, asked.system, asked.user)
    if told >= CUT_BELOW * sent:
        return ""
    return f"the prompt for {asked.purpose} was cut: {asked.model} counts {told} of about {sent} tokens; the context of its server is too short"
