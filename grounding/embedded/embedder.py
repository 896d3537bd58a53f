"""Texts to vectors with all-MiniLM-L6-v2 (384 dimensions, cosine) on onnxruntime, no network.

The model reads at most 256 word pieces (Reimers & Gurevych, model card); longer texts are cut there, which chunking prevents.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Encoding, Tokenizer

from grounding.errors import StoreError
from grounding.ports import Vectors

WIDTH = 384
MAX_PIECES = 256
BATCH_PIECES = 1024
"""Word pieces in one run, padding included: keeps memory flat whatever the lengths are."""
_CACHE = 16384


class MiniLM:
    """Embedder over the model file made by `grounding.embedded.build_model`.

    Raises StoreError if the file or its tokenizer cannot be read. Vectors of queries and sentences are
    kept in a cache of 16,384, which is 25 MB at most.
    """

    def __init__(self, path: Path, *, threads: int = 2) -> None:
        try:
            self._tokenizer = Tokenizer.from_file(str(path.with_name("tokenizer.json")))
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = threads
            options.enable_cpu_mem_arena = False  # the arena keeps the largest batch for ever: +150 MB after an ingest
            self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # both libraries raise bare Exception
            raise StoreError(
                f"the embedding model cannot be read ({type(error).__name__}); build it again with `make setup`"
            ) from error
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_PIECES)
        self._fingerprint = "minilm-int8-" + hashlib.sha256(path.read_bytes()).hexdigest()[:12]
        self._cache: OrderedDict[str, Vectors] = OrderedDict()

    @property
    def fingerprint(self) -> str:
        """Model name and the first digits of the file's SHA-256."""
        return self._fingerprint

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), 384), float32, rows of length one. Runs in a thread."""
        held = {t: self._cache[t] for t in texts if t in self._cache}
        missing = [t for t in dict.fromkeys(texts) if t not in held]
        if missing:
            rows = await asyncio.to_thread(self._run, missing)
            fresh = dict(zip(missing, rows, strict=True))
            self._remember(fresh)
            held |= fresh
        return np.array([held[t] for t in texts], np.float32).reshape(len(texts), WIDTH)

    def _remember(self, fresh: dict[str, Vectors]) -> None:
        if len(fresh) > _CACHE // 4:  # an ingest must not push out what the turns use
            return
        self._cache.update(fresh)
        while len(self._cache) > _CACHE:
            self._cache.popitem(last=False)

    def _run(self, texts: Sequence[str]) -> Vectors:
        encodings = self._tokenizer.encode_batch_fast(list(texts))
        out = np.empty((len(texts), WIDTH), np.float32)
        for indices in _batches(encodings):
            width = max(len(encodings[i].ids) for i in indices)
            ids = np.zeros((len(indices), width), np.int64)
            mask = np.zeros((len(indices), width), np.int64)
            for row, i in enumerate(indices):
                pieces = encodings[i].ids
                ids[row, : len(pieces)] = pieces
                mask[row, : len(pieces)] = 1
            out[indices] = self._session.run(None, {"input_ids": ids, "attention_mask": mask})[0]
        return out


def _batches(encodings: Sequence[Encoding]) -> Iterator[list[int]]:
    """Indices grouped by similar length, each group within BATCH_PIECES after padding."""
    order = sorted(range(len(encodings)), key=lambda i: len(encodings[i].ids))
    batch: list[int] = []
    for i in order:
        if batch and (len(batch) + 1) * len(encodings[i].ids) > BATCH_PIECES:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch
