"""The cache keeps what a turn asks for, drops the oldest, and is not flushed by an ingest."""

from __future__ import annotations

import numpy as np

from grounding.ports import Vectors
from grounding.vector_cache import VectorCache


def vectors(*texts: str) -> dict[str, Vectors]:
    return {text: np.full(2, len(text), np.float32) for text in texts}


def test_the_oldest_is_dropped_beyond_the_bound() -> None:
    cache = VectorCache(3, 2)
    cache.keep(vectors("a", "bb"))
    cache.keep(vectors("ccc", "dddd"))
    found = cache.known(["a", "bb", "ccc", "dddd"])
    assert list(found) == ["bb", "ccc", "dddd"]
    assert found["ccc"].tolist() == [3, 3]


def test_many_at_once_are_not_kept_and_push_nothing_out() -> None:
    cache = VectorCache(3, 2)
    cache.keep(vectors("a"))
    cache.keep(vectors("b", "c", "d"))
    assert list(cache.known(["a", "b", "c", "d"])) == ["a"]
