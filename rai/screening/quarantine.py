"""The quarantine: passages that were taken for planted orders to the assistant, and what people decide of them.

A passage that is released may be found, quoted and shown to a model again; one that is confirmed stays out, and is no longer asked about. A
decision holds for the words that it was made on: it is kept by document, title and text, and ends when any of them changes.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol, get_args

from grounding.records import Passage

Decision = Literal["released", "confirmed"]
State = Literal["held", "released", "confirmed"]
STATES: tuple[State, ...] = get_args(State)
Released = Callable[[Sequence[str]], Collection[str]]
"""From keys of passages to those of them that were released. Never raises: what cannot be read is not released."""
ID = 12
"""How many characters of a key people type."""


@dataclass(frozen=True, slots=True)
class Decided:
    """A person's decision on a passage, when it was made (ISO 8601), and why."""

    decision: Decision
    at: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Quarantined:
    """A passage that the screen takes for a planted order. `score` in [0, 1]: how sure it is; the rule blocks at its threshold."""

    key: str
    doc_id: str
    title: str
    chunk_id: str
    locator: str | None
    text: str
    rule: str
    score: float
    decided: Decided | None = None

    @property
    def id(self) -> str:
        """The beginning of the key, which people type."""
        return self.key[:ID]

    @property
    def state(self) -> State:
        """What was decided; "held" if nothing was."""
        return self.decided.decision if self.decided else "held"


class Quarantine(Protocol):
    """A port: the quarantine of one knowledge base."""

    async def passages(self) -> tuple[Quarantined, ...]:
        """Every passage in the quarantine, held or decided, by document. Raises StoreError, ServiceError."""
        ...

    async def decide(self, passage: Quarantined, decision: Decision, note: str = "") -> Decided:
        """Keeps a decision, which holds from the next question on, in every process. Raises StoreError."""
        ...


class Nothing:
    """The quarantine of a system that keeps none."""

    async def passages(self) -> tuple[Quarantined, ...]:
        return ()

    async def decide(self, passage: Quarantined, decision: Decision, note: str = "") -> Decided:
        raise NotImplementedError


def passage_key(doc_id: str, title: str, text: str) -> str:
    """The key that a decision on a passage is kept by: the same wherever in its document the passage stands. SHA-256, in hex."""
    return hashlib.sha256(f"{doc_id}\x00{title}\x00{text}".encode("utf-8", "surrogatepass")).hexdigest()


async def without_released(passages: Sequence[Passage], released: Released) -> tuple[Passage, ...]:
    """The passages, those that a person released without their mark. Asked each time, for decisions are made while a server runs."""
    keys = [passage_key(p.doc_id, p.title, p.text) if p.screened else "" for p in passages]
    if not any(keys):
        return tuple(passages)
    free = await asyncio.to_thread(released, [key for key in keys if key])
    return tuple(replace(p, screened=None) if key in free else p for p, key in zip(passages, keys, strict=True))
