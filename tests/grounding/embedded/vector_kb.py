"""Stores of made-up vectors for tests, without files and without a model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from grounding.ports import Vectors
from grounding.records import Chunk, Document
from grounding.store.store import Store

FINGERPRINT = "test-1"


def put_vectors(
    store: Store, begin: int, vectors: Vectors, rights: Sequence[tuple[tuple[str, ...] | None, str | None]]
) -> None:
    """Documents d<begin>, d<begin + 1>, ... of one chunk each, with these vectors and (groups, product)."""
    items, rows = [], []
    for i, (vector, (groups, product)) in enumerate(zip(vectors, rights, strict=True), begin):
        text = f"text {i}"
        items.append(
            (
                Document(f"d{i}", "t", text, groups=groups, product=product),
                (Chunk(f"c{i}", f"d{i}", 0, len(text), text, 2, None),),
                "test",
                "1",
            )
        )
        rows.append((f"c{i}", vector.astype(np.float16).tobytes()))
    store.put(items)
    store.put_vectors(FINGERPRINT, rows)


def unit_vectors(count: int, seed: int = 0) -> Vectors:
    """Vectors that lie in neighbourhoods, as texts do: (count, 384) float32 of length one, as float16 can say them."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(99).standard_normal((40, 384))
    made = centres[rng.integers(0, 40, count)] + rng.standard_normal((count, 384))
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    rounded: Vectors = made.astype(np.float16).astype(np.float32)
    return rounded
