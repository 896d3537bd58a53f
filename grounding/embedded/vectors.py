"""Exact semantic search: one matrix of unit vectors in memory, trimmed to what the user may read before anything is ranked.

Distinct pairs of (groups, product) are few; each chunk carries the number of its pair, so trimming is one look-up a pair.
"""

from __future__ import annotations

import json
import threading

import numpy as np
from numpy.typing import NDArray

from grounding.embedded.store import Store
from grounding.ports import Vectors
from grounding.records import Access

_Rights = tuple[str | None, str | None]


class VectorIndex:
    """Vectors of one model over the live chunks of a store. `refresh` reads only what is new."""

    def __init__(self, store: Store, fingerprint: str, width: int) -> None:
        self._store, self._fingerprint = store, fingerprint
        self._lock = threading.Lock()
        self._ids: list[str] = []
        self._pks: NDArray[np.int64] = np.empty(0, np.int64)
        self._matrix: Vectors = np.empty((0, width), np.float32)
        self._pair: NDArray[np.int32] = np.empty(0, np.int32)
        self._pairs: list[_Rights] = []
        self._row_of: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._ids)

    def refresh(self) -> None:
        """Follow the store: vectors already held are kept, new ones are read."""
        keys = self._store.vector_keys(self._fingerprint)
        held = {chunk_id: row for row, chunk_id in enumerate(self._ids)}
        fresh = self._store.vectors(self._fingerprint, [c for _, c, _, _ in keys if c not in held])
        matrix = np.empty((len(keys), self._matrix.shape[1]), np.float32)
        pair = np.empty(len(keys), np.int32)
        pairs: dict[_Rights, int] = {}
        for row, (_, chunk_id, groups, product) in enumerate(keys):
            if chunk_id in held:
                matrix[row] = self._matrix[held[chunk_id]]
            else:
                matrix[row] = np.frombuffer(fresh[chunk_id], np.float16).astype(np.float32)
            pair[row] = pairs.setdefault((groups, product), len(pairs))
        pks = np.array([pk for pk, _, _, _ in keys], np.int64)
        row_of = {int(pk): row for row, pk in enumerate(pks)}
        with self._lock:
            self._ids, self._matrix, self._pks, self._pair = [c for _, c, _, _ in keys], matrix, pks, pair
            self._pairs, self._row_of = list(pairs), row_of

    def search(self, vector: Vectors, access: Access, k: int) -> list[tuple[int, float]]:
        """At most `k` (primary key, cosine in [-1, 1]), best first, of what `access` may read."""
        with self._lock:
            matrix, pks, pair, pairs = self._matrix, self._pks, self._pair, self._pairs
        if len(pks) == 0 or k < 1:
            return []
        visible = np.array([_may_read(rights, access) for rights in pairs])
        rows = None if visible.all() else np.flatnonzero(visible[pair])
        scores = (matrix if rows is None else matrix[rows]) @ vector
        k = min(k, len(scores))
        if k == 0:
            return []
        top = np.argpartition(-scores, k - 1)[:k]
        top = top[np.lexsort((top, -scores[top]))]
        found = top if rows is None else rows[top]
        return [(int(pks[i]), float(s)) for i, s in zip(found, scores[top], strict=True)]

    def cosines(self, vector: Vectors, pks: list[int]) -> dict[int, float]:
        """Cosine of these chunks, for those that have a vector."""
        with self._lock:
            matrix, row_of = self._matrix, self._row_of
        known = [pk for pk in pks if pk in row_of]
        if not known:
            return {}
        scores = matrix[[row_of[pk] for pk in known]] @ vector
        return {pk: float(s) for pk, s in zip(known, scores, strict=True)}


def _may_read(rights: _Rights, access: Access) -> bool:
    groups, product = rights
    if not access.may_read(None if groups is None else tuple(json.loads(groups))):
        return False
    return access.product is None or product is None or product == access.product
