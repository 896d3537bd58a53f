"""Vector search over the live chunks of a store, filtered by the user's rights before anything is ranked.

Few vectors are searched exactly: one matrix of unit vectors in memory. Many are coded in a file beside the store
(`grounding.embedded.indexes.approximate_search`); what came after the file was written stands in the matrix and is searched exactly, what went is
masked. `refresh` reads only what changed.

Distinct pairs of (groups, product) are few; each chunk carries the number of its pair, so filtering is one look-up a pair.
"""

from __future__ import annotations

import importlib
import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from grounding.embedded.indexes.vector_file import DamagedFileError
from grounding.ports import Vectors
from grounding.records import Access
from grounding.store.documents import groups_of
from grounding.store.store import Store
from grounding.store.vectors import VectorRow

if TYPE_CHECKING:
    from grounding.embedded.indexes.approximate_search import Rights, Saved

LOG = logging.getLogger("attest")
APPROXIMATE_AT = 20_000
"""Vectors from which codes pay. On two busy cores an exact search took 6.5 ms over 10,000 and 12 ms over 30,000, the codes 1.8 ms
over 100,000. Fewer are searched exactly, and need no file."""
BEHIND, BEHIND_SHARE = 10_000, 0.1
"""Changes since the file was written, in number and as a share of it, from which it is written again."""
_MASKS = 16
"""Masks that are kept, of the last sets of rights that searched: 1 MB each at a million vectors."""
_Reader = tuple[frozenset[str], str | None]


@dataclass(frozen=True, slots=True)
class _Readable:
    """What one set of rights may read: which pairs of rights, and which rows of the file (None: every row)."""

    pairs: NDArray[np.bool_]
    saved: NDArray[np.bool_] | None


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """Immutable state that one search uses. `later` are the vectors that the file does not hold: (m, width), with their keys and pairs."""

    saved: Saved | None
    saved_live: NDArray[np.bool_] | None
    later: Vectors
    later_pks: NDArray[np.int64]
    later_pair: NDArray[np.int32]
    later_live: NDArray[np.bool_]
    later_row: dict[int, int]
    rights: tuple[Rights, ...]
    readers: tuple[tuple[str, ...] | None, ...]
    seen: dict[_Reader, _Readable] = field(default_factory=dict)

    def seen_by(self, access: Access) -> _Readable:
        """The pairs of rights and rows that `access` may read."""
        key = (access.groups, access.product)
        found = self.seen.get(key)
        if found is None:
            while len(self.seen) >= _MASKS:
                self.seen.pop(next(iter(self.seen)), None)
            found = self.seen[key] = self._look(access)
        return found

    def _look(self, access: Access) -> _Readable:
        product = access.product
        pairs = np.array(
            [
                access.may_read(groups) and (product is None or of is None or of == product)
                for groups, (_, of) in zip(self.readers, self.rights, strict=True)
            ],
            np.bool_,
        )
        if self.saved is None:
            return _Readable(pairs, None)
        mask = pairs[self.saved.pair]
        if self.saved_live is not None:
            mask &= self.saved_live
        return _Readable(pairs, None if mask.all() else mask)


class VectorIndex:
    """Index of the vectors of one model over the live chunks of a store; uses the file of codes where there is one (beside the store, if no
    `path` is given).

    Safe for searches in many threads beside one `refresh`.
    """

    def __init__(self, store: Store, fingerprint: str, width: int, path: Path | None = None) -> None:
        self._store, self._fingerprint, self._width = store, fingerprint, width
        self._path = path or path_beside(store, fingerprint)
        self._lock = threading.Lock()
        self._seen: int | None = None
        self._tried: str | None = None
        self._state = _empty(width)

    def __len__(self) -> int:
        state = self._state
        saved = 0 if state.saved is None else len(state.saved.pks)
        if state.saved_live is not None:
            saved = int(np.count_nonzero(state.saved_live))
        return saved + int(np.count_nonzero(state.later_live))

    @property
    def recall(self) -> float | None:
        """Share of the exact best 50 that is found, as measured when the file was written; None if the search is exact."""
        return self._state.saved.recall if self._state.saved else None

    def followed_recall(self) -> float | None:
        """The recall as of the store's present state: `refresh`, then `recall`."""
        self.refresh()
        return self.recall

    def refresh(self) -> None:
        """Bring the index up to the store: new vectors are read, deleted ones masked. Raises StoreError, and is then as it was: the next call does it all."""
        with self._lock:
            state, seen, tried = self._with_file()
            until = self._store.changes_until()
            if seen is None or until > seen:
                state = replace(state, later_row=dict(state.later_row))
            if seen is None:
                for part in self._store.vector_rows(self._fingerprint):
                    state = self._with(state, part)
            elif until > seen:
                state = _without(state, self._store.gone_chunks(seen, until))
                for part in self._store.vector_rows(self._fingerprint, seen, until):
                    state = self._with(state, part)
                state = _compacted(state)
            self._state, self._seen, self._tried = state, until, tried

    def search(self, vector: Vectors, access: Access, k: int) -> list[tuple[int, float]]:
        """At most `k` (primary key, cosine in [-1, 1]), best first, of what `access` may read."""
        state = self._state
        if k < 1 or not state.rights:
            return []
        seen = state.seen_by(access)
        if not seen.pairs.any():
            return []
        pks, scores = _later_best(state, vector, seen.pairs, k)
        if state.saved is not None:
            rows, cosines = state.saved.nearest(vector, k, seen.saved)
            pks, scores = np.concatenate([pks, state.saved.pks[rows]]), np.concatenate([scores, cosines])
        best = np.lexsort((pks, -scores))[:k]
        return [(int(pk), float(score)) for pk, score in zip(pks[best], scores[best], strict=True)]

    def cosines(self, vector: Vectors, pks: Sequence[int]) -> dict[int, float]:
        """Cosine in [-1, 1] of these chunks to `vector`, for those that have a vector."""
        state = self._state
        found: dict[int, float] = {}
        here = [(pk, row) for pk in pks if (row := state.later_row.get(pk, len(state.later))) < len(state.later)]
        if here:
            scores = state.later[[row for _, row in here]] @ vector
            found = {pk: float(s) for (pk, _), s in zip(here, scores, strict=True)}
        if state.saved is not None and len(found) < len(pks):
            wanted = np.array([pk for pk in pks if pk not in found], np.int64)
            rows = _rows_of(state.saved.pks, wanted)
            wanted, rows = wanted[rows >= 0], rows[rows >= 0]
            found |= {int(pk): float(s) for pk, s in zip(wanted, state.saved.scores(vector, rows), strict=True)}
        return found

    def _with_file(self) -> tuple[_Snapshot, int | None, str | None]:
        """The state with the file that the store names, unless that is open or was found unusable; the last change that it knows of, and the file's name."""
        mark = self._store.vector_mark(self._fingerprint)
        if mark is None or mark == self._tried:
            return self._state, self._seen, self._tried
        try:
            saved: Saved = approximate().load(self._store, self._fingerprint, self._width, self._path)
        except (DamagedFileError, OSError) as error:
            LOG.warning("%s cannot be used (%s): search goes on without it", self._path.name, error)
            return self._state, self._seen, mark
        readers = tuple(groups_of(groups) for groups, _ in saved.rights)
        state = replace(_empty(self._width), saved=saved, rights=saved.rights, readers=readers)
        return state, saved.changes, mark

    def _with(self, state: _Snapshot, part: Sequence[VectorRow]) -> _Snapshot:
        held = _held(state, [row.pk for row in part])
        fresh = [row for row in part if row.pk not in held]
        if not fresh:
            return state
        number = {rights: i for i, rights in enumerate(state.rights)}
        pair = [number.setdefault((row.groups, row.product), len(number)) for row in fresh]
        vectors = np.frombuffer(b"".join(row.vector for row in fresh), np.float16).reshape(len(fresh), self._width)
        begin, rights = len(state.later), tuple(number)
        state.later_row.update({row.pk: begin + i for i, row in enumerate(fresh)})
        return replace(
            state,
            later=_grown(state.later, vectors.astype(np.float32)),
            later_pks=_grown(state.later_pks, np.array([row.pk for row in fresh], np.int64)),
            later_pair=_grown(state.later_pair, np.array(pair, np.int32)),
            later_live=_grown(state.later_live, np.ones(len(fresh), np.bool_)),
            rights=rights,
            readers=state.readers + tuple(groups_of(groups) for groups, _ in rights[len(state.rights) :]),
            seen={},
        )


def approximate() -> Any:
    """The module `grounding.embedded.indexes.approximate_search`, imported with the first file: a small knowledge base pays nothing for it (0.2 s,
    40 MB).
    """
    return importlib.import_module("grounding.embedded.indexes.approximate_search")


def path_beside(store: Store, fingerprint: str) -> Path:
    """Path of the file of codes of this model, in the folder of the store's indexes."""
    return store.folder / f"{fingerprint}.vectors"


def is_behind(store: Store, fingerprint: str, width: int, path: Path, at: int = APPROXIMATE_AT) -> bool:
    """True if the store holds `at` vectors or more, and there is no file of codes, or a damaged one, or one that did not keep up."""
    if store.vector_mark(fingerprint) is not None:
        try:
            saved: Saved = approximate().load(store, fingerprint, width, path)
        except (DamagedFileError, OSError) as error:
            LOG.warning("%s cannot be used (%s): it is built again from the store", path.name, error)
        else:
            return store.changes_until() - saved.changes > max(BEHIND, BEHIND_SHARE * len(saved.pks))
    return store.counts()[1] >= at and store.vector_count(fingerprint) >= at


def _empty(width: int) -> _Snapshot:
    none = np.empty(0, np.bool_)
    return _Snapshot(
        None, None, np.empty((0, width), np.float32), none.astype(np.int64), none.astype(np.int32), none, {}, (), ()
    )


def _without(state: _Snapshot, pks: Sequence[int]) -> _Snapshot:
    if not pks:
        return state
    later_live, saved_live = state.later_live.copy(), state.saved_live
    later_live[[row for pk in pks if (row := state.later_row.get(pk)) is not None]] = False
    if state.saved is not None:
        rows = _rows_of(state.saved.pks, np.array(pks, np.int64))
        saved_live = np.ones(len(state.saved.pks), np.bool_) if saved_live is None else saved_live.copy()
        saved_live[rows[rows >= 0]] = False
    return replace(state, saved_live=saved_live, later_live=later_live, seen={})


def _compacted(state: _Snapshot) -> _Snapshot:
    """The state without the rows in memory of chunks that are gone, once these are more than half: who changes often what is there must not hold, and search, all that ever was."""
    live = state.later_live
    count = int(np.count_nonzero(live))
    if 2 * count >= len(live):
        return state
    pks = state.later_pks[live]
    return replace(
        state,
        later=state.later[live],
        later_pks=pks,
        later_pair=state.later_pair[live],
        later_live=np.ones(count, np.bool_),
        later_row={pk: row for row, pk in enumerate(pks.tolist())},
    )


def _later_best(
    state: _Snapshot, vector: Vectors, visible: NDArray[np.bool_], k: int
) -> tuple[NDArray[np.int64], Vectors]:
    """The best `k` of the in-memory matrix, unordered: primary keys and cosines."""
    mask = visible[state.later_pair] & state.later_live
    count = int(np.count_nonzero(mask))
    if 2 * count < len(mask):
        rows = np.flatnonzero(mask)
        scores = state.later[rows] @ vector
    else:  # reading on in memory is faster than picking most of it
        rows, scores = np.arange(len(mask)), state.later @ vector
        scores[~mask] = -np.inf
    k = min(k, count)
    best = np.argpartition(-scores, k - 1)[:k] if k else np.empty(0, np.int64)
    return state.later_pks[rows[best]], scores[best]


def _rows_of(sorted_pks: NDArray[np.int64], pks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Row number of each key in `sorted_pks`, -1 if it is not there."""
    rows = np.searchsorted(sorted_pks, pks)
    there = rows < len(sorted_pks)
    there[there] = sorted_pks[rows[there]] == pks[there]
    return np.where(there, rows, -1)


def _held(state: _Snapshot, pks: Sequence[int]) -> set[int]:
    """Those of `pks` that have a row already."""
    held = {pk for pk in pks if pk in state.later_row}
    if state.saved is not None:
        keys = np.array(pks, np.int64)
        held.update(keys[_rows_of(state.saved.pks, keys) >= 0].tolist())
    return held


def _grown(held: NDArray[Any], new: NDArray[Any]) -> NDArray[Any]:
    """`held` with `new` appended. Capacity is doubled, so that following an ingest copies each vector about once.

    Searches keep the view they have; only rows behind its end are written.
    """
    room, count = held.base, len(held) + len(new)
    if room is None or len(room) < count:
        room = np.empty((max(2 * len(held), count), *held.shape[1:]), held.dtype)
        room[: len(held)] = held
    room[len(held) : count] = new
    return room[:count]
