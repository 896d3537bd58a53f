"""One vector of two models: the embedding model's, and beside it the reader's, so that a passage is found by either.

The embedding model reads English, and was taught on sentences; the reader reads a hundred languages, and questions with what answers them
(docs/decisions/0026). A cosine of joined vectors is the weighted mean of both models' cosines.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np

from grounding.embedded.reader import E5Reader
from grounding.embedded.vectors.embedder import WIDTH
from grounding.ports import Embedder, Vectors

SHARE = 0.5
"""Weight of the reader's cosine."""


class JoinedEmbedder:
    """Embedder whose vectors are those of `first`, of 384 dimensions, and of `reader`, one behind the other. It embeds a question otherwise than a passage."""

    def __init__(self, first: Embedder, reader: E5Reader) -> None:
        self._first, self._reader = first, reader
        self._fingerprint = joined_fingerprint(first.fingerprint, reader.fingerprint)

    @property
    def fingerprint(self) -> str:
        """Both models' fingerprints."""
        return self._fingerprint

    @property
    def width(self) -> int:
        """Dimensions of a vector: 768."""
        return 2 * WIDTH

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Embeddings of passages: shape (len(texts), 768), float32, rows of length one. Raises StoreError if the reader cannot be read."""
        return _joined(*await asyncio.gather(self._first.embed(texts), self._reader.passages(texts)))

    async def embed_questions(self, texts: Sequence[str]) -> Vectors:
        """Embeddings of questions, as `embed`."""
        return _joined(*await asyncio.gather(self._first.embed(texts), self._reader.questions(texts)))


def joined_fingerprint(first: str, reader: str) -> str:
    """The fingerprint of joined vectors of two models."""
    return f"{reader}.{first}"


def _joined(first: Vectors, second: Vectors) -> Vectors:
    out: Vectors = np.concatenate([first * np.float32((1 - SHARE) ** 0.5), second * np.float32(SHARE**0.5)], axis=1)
    return out
