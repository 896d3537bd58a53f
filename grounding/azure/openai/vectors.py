"""Vectors of a reply of the embeddings API: one for each text, told whose it is, of one length, finite and not zero, or the reply is refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grounding.errors import ServiceReplyInvalid
from grounding.ports import Vectors


def vectors_of(service: str, data: dict[str, Any], count: int) -> Vectors:
    """The vectors of a reply in the order of the texts, shape (count, width of the reply). Raises ServiceReplyInvalid if it is not whole
    and sound.
    """
    items = data.get("data")
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise ServiceReplyInvalid(service, "the reply holds no vectors")
    if len(items) != count:
        raise ServiceReplyInvalid(service, f"{len(items)} vectors came back for {count} texts")
    by_index = {item.get("index"): item.get("embedding") for item in items if type(item.get("index")) is int}
    if by_index.keys() != set(range(count)):
        raise ServiceReplyInvalid(service, "the reply does not tell which vector is whose")
    return unit(_matrix(service, [by_index[i] for i in range(count)]))


def _matrix(service: str, rows: Sequence[Any]) -> NDArray[np.float64]:
    try:
        found = np.array([np.asarray(row) for row in rows])
        if found.ndim != 2 or found.dtype.kind not in "fi" or not found.shape[1]:
            raise TypeError
    except (TypeError, ValueError, OverflowError):
        raise ServiceReplyInvalid(service, "the vectors are not lists of numbers of one length") from None
    lengths = np.linalg.norm(found.astype(np.float64), axis=1)
    if not np.isfinite(lengths).all():
        raise ServiceReplyInvalid(service, "a vector holds what is no number")
    if not lengths.all():
        raise ServiceReplyInvalid(service, "a vector is zero")
    return found.astype(np.float64)


def unit(rows: NDArray[np.float64]) -> Vectors:
    """Rows scaled to length one; none is zero."""
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)
