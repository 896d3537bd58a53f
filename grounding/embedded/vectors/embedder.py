"""Sentence embeddings with all-MiniLM-L6-v2 (384 dimensions, cosine) on onnxruntime, without network.

The model reads at most 256 word pieces at once (Reimers & Gurevych, model card), which chunks of paragraphs do not exceed. A longer text is
read in windows, each sharing 32 pieces with the one before, and its vector is their mean, weighted by their pieces: what the model's own
mean over its pieces would be, if each window were read alone. After 16 windows, some 3,600 pieces, a text is cut.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Encoding, Tokenizer

from grounding.embedded.vectors.model_fingerprint import model_fingerprint
from grounding.embedded.vectors.vocabulary import Vocabulary
from grounding.errors import StoreError
from grounding.ports import Vectors
from grounding.vector_cache import VectorCache

WIDTH = 384
MAX_PIECES = 256
_SHARED = 32
_MAX_WINDOWS = 16
_CACHE = 16384
"""Texts whose vectors are kept."""


def model_session(path: Path, pieces: Path | None = None) -> tuple[Tokenizer, onnxruntime.InferenceSession]:
    """The tokenizer in `pieces`, else the one beside a model file, and a session that runs the model on one thread a call.

    Raises bare Exception, as both libraries do, if one of them cannot be read.
    """
    tokenizer = Tokenizer.from_file(str(pieces or path.with_name("tokenizer.json")))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # waiting must not cost the other core
    options.enable_cpu_mem_arena = False  # the arena keeps the largest text's memory for ever
    return tokenizer, onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


class MiniLM:
    """Embedder over the model file made by `grounding.embedded.recipes.build_model`.

    Raises StoreError if the file or its tokenizer cannot be read. Vectors of queries and sentences are
    kept in a cache of 16,384, which is 25 MB at most.
    """

    def __init__(self, path: Path, *, threads: int = 2) -> None:
        try:
            self._tokenizer, self._session = model_session(path)
        except Exception as error:  # both libraries raise bare Exception
            raise StoreError(
                f"the embedding model cannot be read ({type(error).__name__}); delete it and run `make setup`"
            ) from error
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="minilm")
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_PIECES, stride=_SHARED)
        self._fingerprint = model_fingerprint(path)
        self._cache = VectorCache(_CACHE, _CACHE // 4)

    @property
    def fingerprint(self) -> str:
        """Model name and the first digits of the file's SHA-256."""
        return self._fingerprint

    @property
    def width(self) -> int:
        """Dimensions of a vector: 384."""
        return WIDTH

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The words that the model's vocabulary has whole: of some 30,000 pieces most are English words (Devlin et al. 2019)."""
        pieces = self._tokenizer.get_vocab().items()
        return Vocabulary([(piece, number) for piece, number in pieces if piece.isascii() and piece.isalpha()])

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Embeddings of `texts`: shape (len(texts), 384), float32, rows of length one. Runs in a thread."""
        held = self._cache.known(texts)
        missing = [t for t in dict.fromkeys(texts) if t not in held]
        if missing:
            rows = await asyncio.to_thread(self._run, missing)
            fresh = dict(zip(missing, rows, strict=True))
            self._cache.keep(fresh)
            held |= fresh
        return np.array([held[t] for t in texts], np.float32).reshape(len(texts), WIDTH)

    def _run(self, texts: Sequence[str]) -> Vectors:
        encodings = self._tokenizer.encode_batch_fast(
            [t.encode("utf-8", "replace").decode() for t in texts]
        )  # a lone surrogate is no text to it
        windows = [[e, *e.overflowing][:_MAX_WINDOWS] for e in encodings]
        rows = self._pool.map(self._one, [window for of_text in windows for window in of_text])
        return np.concatenate([_mean([(next(rows), len(window.ids)) for window in of_text]) for of_text in windows])

    def _one(self, encoding: Encoding) -> Vectors:
        """Embedding of one window, shape (1, 384). One text a run: int8 scales are taken over what runs together, so in a batch a text's
        vector would depend on its neighbours (mean cosine .995); two runs side by side are as fast as one of many.
        """
        ids = np.array([encoding.ids], np.int64)
        row: Vectors = self._session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0]
        return row


def _mean(rows: Sequence[tuple[Vectors, int]]) -> Vectors:
    """Mean of the windows' vectors by their weights, scaled to length one, shape (1, 384); a single vector is returned as it is."""
    if len(rows) == 1:
        return rows[0][0]
    total: Vectors = np.sum([row * np.float32(pieces) for row, pieces in rows], axis=0)
    return total / np.float32(max(float(np.linalg.norm(total)), 1e-6))
