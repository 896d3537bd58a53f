"""A reader over multilingual-e5-small: how near blocks are to a question in meaning, in any of the languages that it reads.

As a whole: the cosine of their means (Wang et al. 2024, with the model's prefixes `query: ` and `passage: `). Piece by piece: each word piece of the
question is held against the nearest one of the block (late interaction, Khattab & Zaharia 2020), and counts by how few of the blocks at hand have it.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter, OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock

import numpy as np
from numpy.typing import NDArray
from onnxruntime import InferenceSession
from tokenizers import Tokenizer

from grounding.embedded.vectors.embedder import WIDTH, model_session
from grounding.embedded.vectors.model_fingerprint import model_fingerprint
from grounding.errors import StoreError
from grounding.ports import Nearness, Vectors

MAX_PIECES = 256
"""What is read of a text: blocks are rows, steps and sentences."""
QUERY, PASSAGE = "query: ", "passage: "
_PREFIX = 3
"""Pieces before those of the text: the beginning, the prefix and its colon."""
KEPT = 2048
"""Texts whose states are kept: 35 KB each of 45 pieces, 72 MB in all. A question is held against some forty."""


@dataclass(frozen=True, slots=True)
class _Read:
    """A text: its vector of length one, the numbers of its pieces, and a state of length one for each, as f16."""

    whole: Vectors
    pieces: tuple[int, ...]
    states: NDArray[np.float16]


class E5Reader:
    """BlockReader over the files made by `grounding.embedded.recipes.build_reader`, which are read with the first question."""

    def __init__(self, model: Path, tokenizer: Path, *, threads: int = 2, kept: int = KEPT) -> None:
        self._files = model, tokenizer
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="reader")
        self._cache: OrderedDict[str, _Read] = OrderedDict()
        self._caching, self._kept = Lock(), kept

    @property
    def fingerprint(self) -> str:
        """Model name and the first digits of the file's SHA-256. Raises OSError if it cannot be read."""
        return _hashed(self._files[0], self._files[0].stat().st_mtime_ns)

    def open(self) -> None:
        """Read the files now. Raises StoreError if that is impossible."""
        self._models()

    async def near(self, questions: Sequence[str], blocks: Sequence[str]) -> Nearness:
        """How near each block is to each question: both arrays have the shape (len(questions), len(blocks)). Runs in threads.

        Raises StoreError if the model cannot be read.
        """
        return await asyncio.to_thread(self._near, questions, blocks)

    async def passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors of passages as wholes: shape (len(texts), 384), rows of length one; what is longer than `MAX_PIECES` is cut. Raises StoreError."""
        return await asyncio.to_thread(self._wholes, [PASSAGE + text for text in texts])

    async def questions(self, texts: Sequence[str]) -> Vectors:
        """Vectors of questions as wholes, as `passages`."""
        return await asyncio.to_thread(lambda: _rows(self._read([QUERY + text for text in texts])))

    def _wholes(self, texts: Sequence[str]) -> Vectors:
        """Not kept: an ingest reads each passage once, and would drive out what turns read."""
        return _rows(list(self._pool.map(self._one, texts)))

    def _near(self, questions: Sequence[str], blocks: Sequence[str]) -> Nearness:
        asked = self._read([QUERY + text for text in questions])
        found = self._read([PASSAGE + text for text in blocks])
        whole = np.array([[q.whole @ b.whole for b in found] for q in asked], np.float32)
        held = Counter(piece for b in found for piece in set(b.pieces))
        weights = [np.array([math.log((len(found) + 1) / (held[p] + 1)) for p in q.pieces], np.float32) for q in asked]
        states = [b.states.astype(np.float32) for b in found]
        pieces = [[_nearest(q, w, s) for s in states] for q, w in zip(asked, weights, strict=True)]
        shape = len(questions), len(blocks)
        return Nearness(whole.reshape(shape), np.array(pieces, np.float32).reshape(shape))

    def _read(self, texts: Sequence[str]) -> list[_Read]:
        with self._caching:  # turns are read side by side, each in a thread
            held = {text: self._cache[text] for text in texts if text in self._cache}
        missing = [t for t in dict.fromkeys(texts) if t not in held]
        held |= zip(missing, self._pool.map(self._one, missing), strict=True)
        with self._caching:
            self._cache |= held
            while len(self._cache) > self._kept:
                self._cache.popitem(last=False)
        return [held[t] for t in texts]

    def _one(self, text: str) -> _Read:
        """One text a run: int8 scales are taken over what runs together, so in a batch a text's states would depend on its neighbours."""
        tokenizer, model = self._models()
        encoding = tokenizer.encode(text.encode("utf-8", "replace").decode())  # a lone surrogate is no text to it
        ids = np.array([encoding.ids], np.int64)
        whole, states = model.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})
        own = states[0, _PREFIX:-1]
        length = np.maximum(np.linalg.norm(own, axis=1, keepdims=True), 1e-6)
        return _Read(whole[0], tuple(encoding.ids[_PREFIX:-1]), (own / length).astype(np.float16))

    def _models(self) -> tuple[Tokenizer, InferenceSession]:
        try:
            stamps = tuple(path.stat().st_mtime_ns for path in self._files)
            return _opened(*self._files, stamps)
        except Exception as error:  # both libraries raise bare Exception
            raise StoreError(
                f"the reader's model cannot be read ({type(error).__name__}); delete it and run `make setup`"
            ) from error


def _rows(read: Sequence[_Read]) -> Vectors:
    rows: Vectors = np.array([r.whole for r in read], np.float32)
    return rows.reshape(len(read), WIDTH)


@lru_cache(maxsize=2)
def _hashed(model: Path, _stamp: int) -> str:
    """The fingerprint of a file as it was at `_stamp`: a fifth of a second of processor time."""
    return model_fingerprint(model, "e5-small-int8")


@lru_cache(maxsize=2)
def _opened(model: Path, tokenizer: Path, _stamps: tuple[int, ...]) -> tuple[Tokenizer, InferenceSession]:
    """Half a second and 200 MB: all systems of a process share them. `_stamps`: of the files, so that others in their place are read anew."""
    pieces, session = model_session(model, tokenizer)
    pieces.no_padding()
    pieces.enable_truncation(MAX_PIECES)
    return pieces, session


def _nearest(question: _Read, weights: NDArray[np.float32], block: NDArray[np.float32]) -> float:
    """The mean, by their weights, of how near each piece of the question comes to one of the block's, in [-1, 1]; 0 where either has none. `block`: the states of its pieces."""
    if not len(block) or weights.sum() <= 0:
        return 0.0
    closest = (question.states.astype(np.float32) @ block.T).max(axis=1)
    return float(closest @ weights / weights.sum())
