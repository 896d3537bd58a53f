"""Decisions of the prompt screen, in time or not at all: whatever goes wrong in a screen, the text goes to no model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from grounding.errors import PromptBlocked, ServiceError, WorkError
from rai.ports import PromptScreen
from rai.records import Screening
from rai.screening.turn import current_turn, note

TIMEOUT_S = 10.0
"""Seconds that a decision may take."""


class RememberingScreen:
    """A `rai.ports.PromptScreen` that notes in the current turn which texts another one allowed. Fails closed.

    Raises PromptBlocked(None, unavailable=True) when the inner screen raises, or is not done within `timeout_s`.
    """

    def __init__(self, screen: PromptScreen, *, timeout_s: float = TIMEOUT_S) -> None:
        self._screen = screen
        self._timeout_s = timeout_s

    @property
    def name(self) -> str:
        return self._screen.name

    async def screen(self, text: str, documents: Sequence[str] = ()) -> Screening:
        """The inner screen's decision."""
        screening = await decide(self._screen, self._timeout_s, text, documents)
        if (turn := current_turn()) is not None:
            if text and not screening.blocked:
                turn.requests.add(text)
            turn.data.update(documents[d.index] for d in screening.documents if d.verdict == "allow")
        return screening


async def decide(screen: PromptScreen, timeout_s: float, text: str, documents: Sequence[str]) -> Screening:
    """The decision of `screen`, whose notes become the current turn's. Raises PromptBlocked(None, unavailable=True) if there is none in time."""
    try:
        async with asyncio.timeout(timeout_s):
            screening = await screen.screen(text, documents)
    except PromptBlocked:
        raise
    except Exception as error:  # whatever goes wrong in a screen, the prompt stays here
        note(f"the prompt screen could not decide: {_said(error, screen.name, timeout_s)}")
        raise PromptBlocked(None, unavailable=True) from error
    if len(screening.documents) != len(documents):
        note(f"the prompt screen could not decide: {screen.name} left documents out")
        raise PromptBlocked(None, unavailable=True)
    note(*screening.notes)
    return screening


def _said(error: Exception, name: str, timeout_s: float) -> str:
    """A note of which screen failed and how; of errors that are not ours the kind alone, for their words may hold the text."""
    if isinstance(error, ServiceError | WorkError):
        return str(error)
    return (
        f"{name}: {f'no decision within {timeout_s:g} s' if isinstance(error, TimeoutError) else type(error).__name__}"
    )


async def orders_in(screen: PromptScreen, timeout_s: float, texts: Sequence[str]) -> list[str | None]:
    """For each of `texts`, the rule that found an order to the assistant in it, or None."""
    if not texts:
        return []
    screening = await decide(screen, timeout_s, "", texts)
    rules: list[str | None] = [None] * len(texts)
    for document in screening.documents:
        if document.verdict == "block":
            rules[document.index] = document.rule or "unnamed"
    return rules


def as_data(title: str, text: str) -> str:
    """A passage as the screen is given it: title and text."""
    return f"{title}\n{text}"
