"""Chat models for tests: ordinary implementations of the seam."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grounding.embedded.demo import plant
from grounding.ports import ChatModel
from grounding.records import Completion


@dataclass(frozen=True, slots=True)
class Call:
    """A prompt that reached the model."""

    system: str
    user: str
    purpose: str
    max_tokens: int
    schema: Mapping[str, Any] | None = None


class ScriptedModel:
    """Gives `replies` in order; an exception among them is raised. `calls` is the log of what was asked.

    A test that asks more often than it scripted is wrong, and fails, unless `otherwise` says what follows.
    """

    def __init__(self, *replies: str | Exception, otherwise: str | None = None, name: str = "scripted") -> None:
        self._replies = list(replies)
        self._otherwise = otherwise
        self._name = name
        self.calls: list[Call] = []

    @property
    def name(self) -> str:
        return self._name

    async def complete(
        self, system: str, user: str, *, purpose: str, max_tokens: int = 800, schema: Mapping[str, Any] | None = None
    ) -> Completion:
        self.calls.append(Call(system, user, purpose, max_tokens, schema))
        if not self._replies and self._otherwise is None:
            raise AssertionError(f"the model was asked {len(self.calls)} times, more often than scripted")
        reply = self._replies.pop(0) if self._replies else self._otherwise
        if isinstance(reply, Exception):
            raise reply
        return Completion(reply or "", self._name, {"prompt_tokens": 1, "completion_tokens": 1})


class FaultyModel:
    """Another model whose replies come back with values changed: the failure that the check exists for."""

    def __init__(self, inner: ChatModel, seed: int = 0) -> None:
        self._inner = inner
        self._seed = seed

    @property
    def name(self) -> str:
        return f"faulty {self._inner.name}"

    async def complete(
        self, system: str, user: str, *, purpose: str, max_tokens: int = 800, schema: Mapping[str, Any] | None = None
    ) -> Completion:
        reply = await self._inner.complete(system, user, purpose=purpose, max_tokens=max_tokens, schema=schema)
        text, _planted = plant(reply.text, f"{self._seed}:{user}")
        return Completion(text, self.name, reply.usage)
