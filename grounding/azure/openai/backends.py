"""Chat model and embedder over several OpenAI-compatible backends, one of which answers a call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from grounding.ports import ChatModel, Embedder, Vectors
from grounding.records import Completion, Served
from grounding.services.backends import Answered, Backends


class ChatBackends:
    """ChatModel over `backends`. A reply says which of them wrote it, and that it is of another model than the usual one where it is."""

    def __init__(self, backends: Backends[ChatModel]) -> None:
        self._backends = backends

    @property
    def name(self) -> str:
        """The usual model."""
        return self._backends.usual.model

    async def complete(
        self, system: str, user: str, *, purpose: str, max_tokens: int = 800, schema: Mapping[str, Any] | None = None
    ) -> Completion:
        """The reply of the first backend that answers. Raises what the last one raises, or whichever refuses the request itself."""
        answered = await self._backends.call(
            lambda model: model.complete(system, user, purpose=purpose, max_tokens=max_tokens, schema=schema)
        )
        served = Served(answered.backend.name, answered.backend.model, self._degraded(purpose, answered))
        return replace(answered.result, served=served)

    def _degraded(self, purpose: str, answered: Answered[ChatModel, Completion]) -> str:
        usual, asked = self._backends.usual, answered.backend
        if asked.model == usual.model:
            return ""
        reasons = (b.remote.breaker.why for b in self._backends.backends if b.model == usual.model)
        why = answered.failed or next(filter(None, reasons), "it is left alone")
        return f"{purpose}: {asked.model} ({asked.name}) answered in place of {usual.model}: {why}"


class EmbedderBackends:
    """Embedder over `backends` of one fingerprint: vectors of any of them are compared."""

    def __init__(self, backends: Backends[Embedder]) -> None:
        self._backends = backends

    @property
    def fingerprint(self) -> str:
        """Identifies the vectors, whichever backend made them."""
        return self._backends.usual.client.fingerprint

    @property
    def width(self) -> int:
        """Dimensions of a vector."""
        return self._backends.usual.client.width

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Embeddings by the first backend that answers. Raises ServiceError if none does."""
        return (await self._backends.call(lambda embedder: embedder.embed(texts))).result
