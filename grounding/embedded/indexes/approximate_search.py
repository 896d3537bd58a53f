"""Approximate nearest-neighbour search: 4-bit product quantisation, all codes scanned, the best candidates scored again exactly.

4-bit product quantisation over pairs of dimensions (a quarter of a byte a dimension), scanned in registers (André, Kermarrec & Le Scouarnec
2015, "Cache locality is not enough"; faiss "fast scan"). A scan of everything keeps its recall on queries unlike the documents, where
inverted lists lose theirs, and the rights of the reader are a mask inside the scan: who may read little gets as many results as are there.
The float16 vectors of the best candidates are read from the mapped file and scored exactly.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

from grounding.embedded.indexes import vector_file
from grounding.embedded.indexes.vector_file import DamagedFileError
from grounding.ports import Vectors
from grounding.store.store import Store
from grounding.store.vectors import VectorRow

Rights = tuple[str | None, str | None]
"""Groups as JSON, product."""

FORM = 1
_TRAIN = 16_384  # 16 centroids of two dimensions need no more
_BLOCK = 50_000
_CHECKED_ROWS = 64
CANDIDATES, CANDIDATES_PER_RESULT = 500, 5
"""Vectors that are read in full: at 1 M, 500 for 50 results gave .994 of exact on real questions."""
_FLOAT_OF = np.arange(2**16, dtype=np.uint16).view(np.float16).astype(np.float32)
"""Each float16 as float32: looked up in half the time that converting takes."""
SAMPLE, SAMPLE_K = 200, 50


@dataclass(frozen=True, slots=True)
class Saved:
    """A saved index of vectors, mapped from its file. Rows are in the order of their primary keys.

    pks: (n,) int64, rising. pair: (n,) int32 into `rights`. full: (n, width) float16, mapped. `changes` is the last change of the store
    that it knows of. recall: share of the exact best 50 that it finds, over 200 sampled queries.
    """

    mark: str
    changes: int
    recall: float
    pks: NDArray[np.int64]
    pair: NDArray[np.int32]
    rights: tuple[Rights, ...]
    full: NDArray[np.float16]
    codes: Any

    def nearest(self, vector: Vectors, k: int, mask: NDArray[np.bool_] | None) -> tuple[NDArray[np.int64], Vectors]:
        """At most `k` rows of those in `mask` (None: of all), with their exact cosines, best first."""
        wanted = max(CANDIDATES, CANDIDATES_PER_RESULT * k)
        rows = self._candidates(vector, wanted, mask)
        scores = self.scores(vector, rows)
        best = np.lexsort((rows, -scores))[:k]
        return rows[best], scores[best]

    def scores(self, vector: Vectors, rows: NDArray[np.int64]) -> Vectors:
        """Exact cosines of these rows to `vector`."""
        found: Vectors = _FLOAT_OF.take(self.full.view(np.uint16)[rows]) @ vector
        return found

    def _candidates(self, vector: Vectors, wanted: int, mask: NDArray[np.bool_] | None) -> NDArray[np.int64]:
        if mask is not None and np.count_nonzero(mask) <= wanted:
            return np.flatnonzero(mask)
        faiss.omp_set_num_threads(1)  # of this thread: a second core is another turn's
        # the selector reads these bits while it searches: both must live as long
        bits = None if mask is None else np.packbits(mask, bitorder="little")
        chosen = None if bits is None else faiss.IDSelectorBitmap(bits)
        found = self.codes.search(
            vector.reshape(1, -1), min(wanted, len(self.pks)), params=faiss.SearchParametersIVF(sel=chosen, nprobe=1)
        )[1][0]
        rows: NDArray[np.int64] = found[found >= 0]
        return rows


def build(store: Store, fingerprint: str, width: int, path: Path) -> float | None:
    """Write the index of all vectors of this model to `path`, and name the file in the store.

    Returns the recall measured against exact search; None if there are too few vectors to code, and nothing was done.
    """
    changes = store.changes_until()
    pks, pair, rights, full = _gathered(store.vector_rows(fingerprint), store.counts()[1], width)
    if len(pks) < CANDIDATES:
        return None
    codes = _coded(full)
    saved = Saved(secrets.token_hex(8), changes, 0.0, pks, pair, rights, full, codes)
    recall = round(measured_recall(saved), 4)
    facts = {
        "form": FORM,
        "fingerprint": fingerprint,
        "width": width,
        "mark": saved.mark,
        "changes": changes,
        "count": len(pks),
        "recall": recall,
    }
    arrays: dict[str, NDArray[Any]] = {
        "pks": pks,
        "pair": pair,
        "rights": np.frombuffer(json.dumps(rights).encode(), np.uint8),
        "codes": faiss.serialize_index(codes),
        "full": full,
    }
    vector_file.remove_drafts(path)
    vector_file.write(path, facts, arrays, unchecked="full")
    store.set_vector_mark(fingerprint, saved.mark)
    return recall


def load(store: Store, fingerprint: str, width: int, path: Path) -> Saved:
    """The index saved at `path`. Raises DamagedFileError if it is damaged or does not belong to this store, FileNotFoundError."""
    facts, arrays = vector_file.read(path)
    if (facts["form"], facts["fingerprint"], facts["width"]) != (FORM, fingerprint, width):
        raise DamagedFileError("it is of another model or form")
    if facts["mark"] != store.vector_mark(fingerprint):
        raise DamagedFileError("it belongs to another state of the store")
    if facts["changes"] > store.changes_until():  # which was put back to what it was earlier
        raise DamagedFileError("it knows of changes that are yet to come")
    rights = tuple((groups, product) for groups, product in json.loads(arrays["rights"].tobytes()))
    codes = faiss.deserialize_index(np.array(arrays["codes"]))
    pks, pair = np.array(arrays["pks"]), np.array(arrays["pair"])
    saved = Saved(facts["mark"], facts["changes"], facts["recall"], pks, pair, rights, arrays["full"], codes)
    _check_rows(store, fingerprint, saved)
    return saved


def measured_recall(saved: Saved, sample: int = SAMPLE, k: int = SAMPLE_K) -> float:
    """Share of the exact best `k` that are found, over `sample` queries half-way between two random vectors.

    They lie off the documents, as questions do, which is harder than asking for a document itself.
    """
    rng = np.random.default_rng(len(saved.pks))
    ends = saved.full[rng.integers(0, len(saved.pks), 2 * sample)].astype(np.float32)
    queries = ends[:sample] + ends[sample:]
    queries /= np.maximum(np.linalg.norm(queries, axis=1, keepdims=True), 1e-6)
    return recall_of(saved, queries, k)


def recall_of(saved: Saved, queries: Vectors, k: int) -> float:
    """Mean share of the exact best `k` among the `k` found. queries: (n, width) float32 of length one."""
    exact = exact_best(saved.full, queries, k)
    found = [saved.nearest(query, k, None)[0] for query in queries]
    return float(np.mean([len(np.intersect1d(f, e)) / len(e) for f, e in zip(found, exact, strict=True)]))


def exact_best(full: NDArray[np.float16], queries: Vectors, k: int) -> NDArray[np.int64]:
    """Row numbers of the `k` highest cosines of each query, in no order: shape (len(queries), min(k, len(full)))."""
    k = min(k, len(full))
    rows = np.empty((len(queries), 0), np.int64)
    scores = np.empty((len(queries), 0), np.float32)
    for begin in range(0, len(full), _BLOCK):
        block = queries @ full[begin : begin + _BLOCK].astype(np.float32).T
        rows = np.concatenate([rows, np.broadcast_to(np.arange(begin, begin + block.shape[1]), block.shape)], axis=1)
        scores = np.concatenate([scores, block], axis=1)
        best = np.argpartition(-scores, min(k, scores.shape[1]) - 1, axis=1)[:, :k]
        rows, scores = np.take_along_axis(rows, best, 1), np.take_along_axis(scores, best, 1)
    return rows


def _gathered(
    parts: Iterable[list[VectorRow]], expected: int, width: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], tuple[Rights, ...], NDArray[np.float16]]:
    full = np.empty((expected, width), np.float16)
    pks: list[int] = []
    pair: list[int] = []
    rights: dict[Rights, int] = {}
    for part in parts:
        begin, end = len(pks), len(pks) + len(part)
        if end > len(full):  # an ingest goes on meanwhile
            full = np.concatenate([full, np.empty((end, width), np.float16)])
        full[begin:end] = np.frombuffer(b"".join(row.vector for row in part), np.float16).reshape(len(part), width)
        pks += [row.pk for row in part]
        pair += [rights.setdefault((row.groups, row.product), len(rights)) for row in part]
    return np.array(pks, np.int64), np.array(pair, np.int32), tuple(rights), full[: len(pks)]


def subvectors(width: int) -> int:
    """Number of sub-vectors that are coded: pairs of dimensions; of an odd width each dimension by itself."""
    return width if width % 2 else width // 2


def _coded(full: NDArray[np.float16]) -> Any:
    codes = faiss.index_factory(full.shape[1], f"IVF1,PQ{subvectors(full.shape[1])}x4fs", faiss.METRIC_INNER_PRODUCT)
    codes.by_residual = False  # one list: it is there because only lists can be masked
    rng = np.random.default_rng(0)
    sample = np.sort(rng.choice(len(full), min(_TRAIN, len(full)), replace=False))
    codes.train(full[sample].astype(np.float32))
    for begin in range(0, len(full), _BLOCK):
        codes.add(full[begin : begin + _BLOCK].astype(np.float32))
    return codes


def _check_rows(store: Store, fingerprint: str, saved: Saved) -> None:
    """Compare some vectors of the file with the store. Raises DamagedFileError if one differs."""
    rows = np.random.default_rng().integers(0, len(saved.pks), _CHECKED_ROWS)
    known = store.vectors_of(fingerprint, [int(pk) for pk in saved.pks[rows]])
    for row in rows:
        vector = known.get(int(saved.pks[row]))
        if vector is not None and vector != saved.full[row].tobytes():
            raise DamagedFileError("it holds other vectors than the store")
