"""Benchmark of scale: time, recall and memory of hybrid search over up to a million chunks, beside tantivy called directly.

Texts are mixes of real sentences, vectors are mixes of two real MiniLM vectors each, questions are real ones. Each size is
probed in a process of its own, so that its memory is that of a server that opened such a store and no more.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bot.evaluate.rows import json_lines
from grounding.embedded.index import EmbeddedIndex
from grounding.embedded.indexes import approximate_search
from grounding.embedded.indexes.vector_index import APPROXIMATE_AT
from grounding.embedded.vectors.embedder import MiniLM
from grounding.ports import Vectors
from grounding.records import Chunk, Document
from grounding.store.chunks import embedding_text
from grounding.text import sentences
from tests.bench.figures import Figure, Skipped
from tests.bench.place import Place

SETS = ("dstc11", "mtrag_un")
QUESTIONS = 300
SENTENCES_A_CHUNK, CHUNKS_A_DOCUMENT, GROUPS = 6, 8, 100
_PUT = 500
FINGERPRINT = "minilm-int8-bench"
WIDTH = 384
TARGETS: dict[int, dict[str, str]] = {
    100_000: {"hybrid_p50": "<= 10", "hybrid_p99": "<= 30", "recall": ">= 0.97", "visible_ms": "<= 200"},
    1_000_000: {"hybrid_p50": "<= 40", "one_p50": "<= 15", "recall": ">= 0.97", "memory_mib": "<= 3072"},
}
TOLD = {
    "hybrid_p50": ("hybrid search, all rights, p50", "ms"),
    "hybrid_p99": ("hybrid search, all rights, p99", "ms"),
    "hybrid_cpu": ("hybrid search, all rights, processor time, mean", "ms"),
    "one_p50": ("hybrid search, may see 1 %, p50", "ms"),
    "one_p99": ("hybrid search, may see 1 %, p99", "ms"),
    "one_cpu": ("hybrid search, may see 1 %, processor time, mean", "ms"),
    "words_p50": ("search by words, p50", "ms"),
    "vectors_p50": ("search by meaning, p50", "ms"),
    "rows_p50": ("50 rows from the store, p50", "ms"),
    "tantivy_p50": ("tantivy called directly, p50 (baseline)", "ms"),
    "ratio": ("hybrid p50 over tantivy called directly", "x"),
    "recall": ("recall@50 of exact, real questions", ""),
    "memory_mib": ("resident memory after the searches", "MiB"),
    "open_s": ("store opened and vectors ready", "s"),
    "visible_ms": ("100 new documents searchable by words, median of 3", "ms"),
    "load": ("load average while it ran", ""),
}


@dataclass(frozen=True, slots=True)
class Real:
    """What the mixes are made of."""

    vectors: Vectors
    sentences: list[str]
    questions: list[str]
    question_vectors: Vectors


class NoModel:
    """Names the vectors of the bench; nothing is embedded."""

    fingerprint = FINGERPRINT
    width = WIDTH

    async def embed(self, texts: Sequence[str]) -> Vectors:
        raise AssertionError(texts)


async def bench_scale(place: Place) -> list[Figure] | Skipped:
    """The figures of each size of --size, and recall on the real passages themselves."""
    if place.set_file("retrieval/dstc11/corpus.jsonl") is None:
        return Skipped("scale", "needs --data with retrieval/")
    work = place.work or place.scratch / "scale"
    work.mkdir(parents=True, exist_ok=True)
    real = await _real(place, work)
    out = [_real_recall(real, work)]
    for size in place.sizes:
        folder = work / str(size)
        if not (folder / "done").exists():
            out += _filled(folder, size, real)
        found = _probed(folder)
        targets = TARGETS.get(size, {})
        out += [
            Figure(f"{size:,}: {label}", found[key], unit, int(found["n"]), targets.get(key, ""))
            for key, (label, unit) in TOLD.items()
            if key in found
        ]
    return out


async def _real(place: Place, work: Path) -> Real:
    """Every passage and 300 last turns, embedded once for `work`."""
    rows = {s: _rows(place, s, "corpus") for s in SETS}
    asked = [str(row["history"][-1]["text"]) for s in SETS for row in _rows(place, s, "queries")]
    questions = random.Random(0).sample(asked, QUESTIONS)
    kept = work / "real.npz"
    if not kept.exists():
        embedder = MiniLM(place.model)
        texts = [embedding_text(row["title"], row["text"]) for s in SETS for row in rows[s]]
        parts = [await embedder.embed(texts[i : i + 512]) for i in range(0, len(texts), 512)]
        np.savez(kept, passages=np.concatenate(parts), questions=await embedder.embed(questions))
    arrays = np.load(kept)
    said = [s.text.strip() for name in SETS for row in rows[name] for s in sentences(row["text"])]
    (work / "questions.json").write_text(json.dumps(questions), "utf-8")
    np.save(work / "questions.npy", arrays["questions"])
    return Real(arrays["passages"], said, questions, arrays["questions"])


def _rows(place: Place, name: str, kind: str) -> list[dict[str, Any]]:
    path = place.set_file(f"retrieval/{name}/{kind}.jsonl")
    assert path is not None
    return list(json_lines(path))


def _real_recall(real: Real, work: Path) -> Figure:
    """Recall of the codes over the real passages: the product would search so few exactly."""
    index = EmbeddedIndex(work / "real", NoModel())
    if index.counts()[0] == 0:
        items = [_document(i, [f"passage {i}"], None) for i in range(len(real.vectors))]
        index.put([(d, c, "bench", "1") for d, c in items])
        rows = [(f"d{i}#0", v.tobytes()) for i, v in enumerate(real.vectors.astype(np.float16))]
        index.store.put_vectors(FINGERPRINT, rows)
    path = work / "real.vectors"
    approximate_search.build(index.store, FINGERPRINT, real.vectors.shape[1], path)
    saved = approximate_search.load(index.store, FINGERPRINT, real.vectors.shape[1], path)
    index.close()
    recall = approximate_search.recall_of(saved, real.question_vectors, 50)
    return Figure(f"recall@50 of exact over {len(real.vectors):,} real passages", recall, "", QUESTIONS, ">= 0.97")


def _document(number: int, texts: list[str], group: str | None) -> tuple[Document, tuple[Chunk, ...]]:
    chunks, at = [], 0
    for text in texts:
        end = at + len(text)
        chunks.append(Chunk(f"d{number}#{at}", f"d{number}", at, end, text, len(text) // 4, None))
        at = end + 2
    groups = None if group is None else (group,)
    title = " ".join(texts[-1].split()[:6])
    return Document(f"d{number}", title, "\n\n".join(texts), groups=groups, product=f"p{number % 10}"), tuple(chunks)


def mixed_text(rng: random.Random, said: list[str]) -> str:
    """A chunk's text: real sentences in an order that nobody wrote."""
    return " ".join(rng.choices(said, k=SENTENCES_A_CHUNK))


def _filled(folder: Path, size: int, real: Real) -> list[Figure]:
    """A store of `size` chunks with words, vectors and codes; what it took."""
    index = EmbeddedIndex(folder, NoModel())
    index.lock()
    rng, draw, took = random.Random(size), np.random.default_rng(size), {}
    began = time.perf_counter()
    for begin in range(0, size // CHUNKS_A_DOCUMENT, _PUT):
        numbers = range(begin, min(begin + _PUT, size // CHUNKS_A_DOCUMENT))
        texts = {n: [mixed_text(rng, real.sentences) for _ in range(CHUNKS_A_DOCUMENT)] for n in numbers}
        made = [_document(n, texts[n], f"g{rng.randrange(GROUPS)}") for n in numbers]
        index.put([(d, c, "bench", "1") for d, c in made])
        ids = [chunk.chunk_id for _, chunks in made for chunk in chunks]
        mixes = _mixes(real.vectors, len(ids), draw)
        index.store.put_vectors(FINGERPRINT, [(c, v.tobytes()) for c, v in zip(ids, mixes, strict=True)])
    took["made and stored"] = time.perf_counter() - began
    began = time.perf_counter()
    index.catch_up(lambda *_: None)
    took["words indexed"] = time.perf_counter() - began
    began = time.perf_counter()
    if size >= APPROXIMATE_AT:
        index.follow_vectors()
        took["vectors coded and measured"] = time.perf_counter() - began
    index.close()
    (folder / "done").touch()
    return [Figure(f"{size:,}: {what}", seconds, "s", size) for what, seconds in took.items()]


def _mixes(real: Vectors, count: int, draw: np.random.Generator) -> Vectors:
    """(count, width) float16 of length one: 0.5 to 0.9 of one real vector, the rest another."""
    share = draw.uniform(0.1, 0.5, (count, 1)).astype(np.float32)
    mixed = (1 - share) * real[draw.integers(0, len(real), count)] + share * real[draw.integers(0, len(real), count)]
    mixed /= np.linalg.norm(mixed, axis=1, keepdims=True)
    rounded: Vectors = mixed.astype(np.float16)
    return rounded


def _probed(folder: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "tests.bench.scale_probe", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr[-2000:])
    found: dict[str, float] = json.loads(done.stdout)
    return found
