"""An embedder without a model: each term is a direction, so texts that share terms are near."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from grounding.ports import Vectors
from grounding.text import terms

WIDTH = 384


class HashEmbedder:
    """Deterministic; counts what it was asked to embed in `seen`."""

    def __init__(self, fingerprint: str = "hash-1", width: int = WIDTH) -> None:
        self.fingerprint = fingerprint
        self.width = width
        self.seen = 0

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of the terms of each text."""
        self.seen += len(texts)
        out = np.zeros((len(texts), self.width), np.float32)
        for row, text in enumerate(texts):
            for term in [*terms(text), "\x00"]:
                out[row] += _direction(term, self.width)
            out[row] /= np.linalg.norm(out[row])
        return out


@lru_cache(maxsize=50_000)
def _direction(term: str, width: int) -> Vectors:
    digest = hashlib.sha256(term.encode("utf-8", "replace")).digest()
    rng = np.random.default_rng(int.from_bytes(digest[:8], "big"))
    return rng.standard_normal(width).astype(np.float32)
