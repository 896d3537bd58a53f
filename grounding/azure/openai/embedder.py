"""Embeddings from OpenAI's embeddings API: OpenAI, Azure OpenAI's `/openai/v1/`, Ollama, llama.cpp, vLLM, LM Studio.

The SDK asks for base64 unless told otherwise, which some servers refuse; floats are asked for, always. A reply is verified: one vector for
each text, told whose it is, as wide as it was asked for, finite and not zero. Vectors are normalised to length one here, because not every
service does, and cosines rest on it.

A text longer than the model's context is embedded in halves; its vector is their mean, weighted by their length.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import openai
from openai import Timeout

from grounding.azure.openai.client import CONNECT_S, Auth, KeySource, make_client
from grounding.azure.openai.faults import translated
from grounding.azure.openai.fingerprint import service_fingerprint
from grounding.azure.openai.replies import counted, parsed
from grounding.azure.openai.vectors import unit, vectors_of
from grounding.errors import ServiceRejected, ServiceReplyInvalid
from grounding.observe import EmbedCall, added, observed
from grounding.ports import Vectors
from grounding.services.batches import in_batches
from grounding.services.remote import Remote
from grounding.text import sendable
from grounding.vector_cache import VectorCache

LOG = logging.getLogger("attest")
MOST_TEXTS, MOST_CHARS = 256, 200_000
"""Of one request. OpenAI takes 2,048 texts and 300,000 tokens, and no script has many more tokens than characters."""
READ_S = 60.0
"""Of silence after which one request of an ingest is given up, and made again."""
_CACHED = 1024
"""Vectors of single texts that are kept: a turn may search for the same question again."""
_SHORTEST = 200
_NOTHING = "."
"""Stands for a text without a word, which the service refuses."""
_TOO_LONG = re.compile(r"context.length|context.size|too (?:long|large)|maximum.{0,20}(?:length|tokens)", re.IGNORECASE)
_NO_WIDTH = re.compile(r"dimension", re.IGNORECASE)


class TextTooLong(ServiceRejected):
    """A text is longer than the context of the embedding model."""


class OpenAIEmbedder:
    """Embedder over any server with OpenAI's embeddings API; keeps the vectors of recently asked single texts.

    `api_key`: a key, an async function that returns a bearer token, or None for a local server. `model`: model or deployment name. `width`:
    dimensions of a vector; with `shorten` the service is asked for as many, and where it does not take the request its vectors must have
    that width by themselves. `fingerprint`: of the vectors, in place of one by the address; `backend`: its name among several. Raises SettingsError as `make_client` does.
    """

    def __init__(
        self,
        base_url: str | None,
        api_key: KeySource,
        model: str,
        width: int,
        remote: Remote,
        *,
        auth: Auth = "bearer",
        shorten: bool = False,
        fingerprint: str | None = None,
        backend: str = "",
    ) -> None:
        self._model, self._width, self._remote, self._shorten = model, width, remote, shorten
        self._fingerprint = fingerprint or service_fingerprint(base_url, model, width)
        self._backend = backend
        self._cache = VectorCache(_CACHED, _CACHED // 64)
        self._client = make_client(base_url, api_key, remote, auth)
        self._timeout = Timeout(min(READ_S, remote.deadline_s), connect=min(CONNECT_S, remote.deadline_s))

    @property
    def fingerprint(self) -> str:
        """Identifies the vectors: model or deployment, width, and a digest of both with the address."""
        return self._fingerprint

    @property
    def width(self) -> int:
        """Dimensions of a vector."""
        return self._width

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Embeddings of `texts`: shape (len(texts), width), float32, rows of length one. Raises ServiceError."""
        held = self._cache.known(texts)
        missing = [t for t in dict.fromkeys(texts) if t not in held]
        if missing:
            with observed(EmbedCall(self._model, len(missing), self._backend)) as call:
                for batch in in_batches(missing, len, most_items=MOST_TEXTS, most_size=MOST_CHARS):
                    rows = await self._rows([sendable(text).strip() or _NOTHING for text in batch], call)
                    held |= zip(batch, rows, strict=True)
        self._cache.keep({t: held[t] for t in missing})
        return np.array([held[t] for t in texts], np.float32).reshape(len(texts), self._width)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _rows(self, texts: Sequence[str], call: EmbedCall) -> Vectors:
        """Vectors from one request; where that is too long, from its halves."""
        try:
            return await self._remote.call(lambda: self._attempt(texts, call))
        except TextTooLong:
            if len(texts) == 1 and len(texts[0]) < 2 * _SHORTEST:
                raise
        if len(texts) == 1:
            return await self._in_halves(texts[0], call)
        half = len(texts) // 2
        return np.concatenate([await self._rows(texts[:half], call), await self._rows(texts[half:], call)])

    async def _in_halves(self, text: str, call: EmbedCall) -> Vectors:
        middle = len(text) // 2
        cut = text.rfind(" ", middle // 2, middle) + 1 or middle
        rows = [await self._rows([part.strip() or _NOTHING], call) for part in (text[:cut], text[cut:])]
        return unit(np.asarray(cut * rows[0] + (len(text) - cut) * rows[1], np.float64))

    async def _attempt(self, texts: Sequence[str], call: EmbedCall) -> Vectors:
        with translated(self._remote.service):
            body = await self._send(texts)
        data = await asyncio.to_thread(_object, self._remote.service, body)
        told = counted(data.get("usage"), "prompt_tokens", "completion_tokens")
        call.usage = added(call.usage, {name: told[name] for name in ("prompt_tokens",) if name in told})
        found = await asyncio.to_thread(vectors_of, self._remote.service, data, len(texts))
        if found.shape[1] != self._width:
            wanted = f"ATTEST_EMBEDDING_WIDTH={self._width}" if self._shorten else f"{self._width} are expected"
            raise ServiceRejected(
                self._remote.service,
                f"gives vectors of {found.shape[1]} numbers, and {wanted}; set ATTEST_EMBEDDING_WIDTH={found.shape[1]}",
            )
        return found

    async def _send(self, texts: Sequence[str]) -> str:
        options: dict[str, Any] = {"dimensions": self._width} if self._shorten else {}
        try:
            raw = await self._client.embeddings.with_raw_response.create(
                model=self._model, input=list(texts), encoding_format="float", timeout=self._timeout, **options
            )
        except openai.APIStatusError as error:
            if options and error.status_code in (400, 422) and _NO_WIDTH.search(error.message):
                LOG.warning(
                    "%s takes no dimensions: ATTEST_EMBEDDING_WIDTH must be its own width", self._remote.service
                )
                self._shorten = False
                return await self._send(texts)
            if error.status_code == 413 or (error.status_code in (400, 422, 500) and _TOO_LONG.search(error.message)):
                raise TextTooLong(
                    self._remote.service, f"a text is longer than the model can take (status {error.status_code})"
                ) from None
            raise
        return raw.text


def _object(service: str, body: str) -> dict[str, Any]:
    """The JSON object of a reply. Raises ServiceReplyInvalid if it is none."""
    data = parsed(service, body)
    if not isinstance(data, dict):
        raise ServiceReplyInvalid(service, "the reply holds no vectors")
    return data
