"""One size of the scale bench, in a process of its own: `python -m tests.bench.scale_probe FOLDER` prints JSON."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import psutil

from grounding.embedded.index import EmbeddedIndex
from grounding.embedded.indexes.approximate_search import exact_best
from grounding.embedded.indexes.vector_index import VectorIndex
from grounding.embedded.retriever import EmbeddedRetriever
from grounding.ports import Vectors
from grounding.records import Access, Chunk, Document, Query
from grounding.store.store import Store
from tests.bench.figures import percentile
from tests.bench.scale import FINGERPRINT, GROUPS, WIDTH
from tests.bench.tantivy_directly import tantivy_directly
from tests.bench.timing import each_ms, ms_of

K, DEPTH = 50, 100
ALL = Access("all", frozenset(f"g{i}" for i in range(GROUPS)))
ONE = Access("one", frozenset({"g7"}))


class Held:
    """The embedder of this process: the questions' vectors are held, so that searching alone is timed."""

    fingerprint = FINGERPRINT
    width = WIDTH

    def __init__(self, texts: list[str], vectors: Vectors) -> None:
        self._held = dict(zip(texts, vectors, strict=True))

    async def embed(self, texts: Sequence[str]) -> Vectors:
        return np.array([self._held[text] for text in texts], np.float32)


def main(folder: Path) -> None:
    """Measure and print."""
    questions = json.loads((folder.parent / "questions.json").read_text("utf-8"))
    vectors = np.load(folder.parent / "questions.npy")
    began = time.perf_counter()
    held = Held(questions, vectors)
    index = EmbeddedIndex(folder, held)
    meaning = VectorIndex(index.store, FINGERPRINT, held.width)
    retriever = EmbeddedRetriever(index.store, index.words, meaning, held)
    asyncio.run(retriever.retrieve(Query(questions[0]), ALL, K))  # opens everything
    found = {"open_s": time.perf_counter() - began, "n": float(len(questions))}
    for name, access in (("hybrid", ALL), ("one", ONE)):
        spent = time.process_time()
        taken = asyncio.run(_hybrid(retriever, questions, access))
        spent = (time.process_time() - spent) * 1000 / len(taken)
        found |= {f"{name}_p50": percentile(taken, 0.5), f"{name}_p99": percentile(taken, 0.99), f"{name}_cpu": spent}
    found["memory_mib"] = psutil.Process().memory_info().rss / 2**20
    pks = {q: [pk for pk, _ in index.words.search(q, ALL, K)] for q in questions}
    found["words_p50"] = _p50([lambda q=q: index.words.search(q, ALL, DEPTH) for q in questions])  # type: ignore[misc]
    found["vectors_p50"] = _p50([lambda v=v: meaning.search(v, ALL, DEPTH) for v in vectors])  # type: ignore[misc]
    found["rows_p50"] = _p50([lambda p=p: index.store.rows(p) for p in pks.values()])  # type: ignore[misc]
    found["tantivy_p50"] = _p50(tantivy_directly(folder / "words", questions, DEPTH))
    found["ratio"] = found["hybrid_p50"] / found["tantivy_p50"]
    found["recall"] = _recall(index.store, meaning, vectors)
    found["visible_ms"] = percentile([_visible_ms(index) for _ in range(3)], 0.5)
    found["load"] = os.getloadavg()[0]
    json.dump(found, sys.stdout)


async def _hybrid(retriever: EmbeddedRetriever, questions: list[str], access: Access) -> list[float]:
    return await each_ms(lambda question: retriever.retrieve(Query(question), access, K), questions)


def _recall(store: Store, meaning: VectorIndex, vectors: Vectors) -> float:
    rows = [row for part in store.vector_rows(FINGERPRINT) for row in [(r.pk, r.vector) for r in part]]
    full = np.frombuffer(b"".join(vector for _, vector in rows), np.float16).reshape(len(rows), -1)
    pks = np.array([pk for pk, _ in rows])
    exact = exact_best(full, vectors, K)
    found = [[pk for pk, _ in meaning.search(vector, ALL, K)] for vector in vectors]
    return float(np.mean([len(np.intersect1d(f, pks[e])) / K for f, e in zip(found, exact, strict=True)]))


def _visible_ms(index: EmbeddedIndex) -> float:
    """From the hand-over of 100 documents to the first search that finds them."""
    stamp = str(time.time_ns())
    items = []
    for i in range(100):
        text = f"The zyzzyva{stamp} manual, page {i}, tells how the part is fitted and what it costs."
        name = f"new-{stamp}-{i}"
        items.append((Document(name, name, text), (Chunk(name, name, 0, len(text), text, 20, None),), "bench", "1"))
    index.lock()
    began = time.perf_counter()
    index.put(items)
    index.catch_up(lambda *_: None)
    seen = len(index.words.search(f"zyzzyva{stamp}", ALL, 200))
    taken = (time.perf_counter() - began) * 1000
    assert seen == 100, seen
    index.drop([d.doc_id for d, _, _, _ in items])
    index.catch_up(lambda *_: None)
    index.unlock()
    return taken


def _p50(calls: list[Callable[[], object]]) -> float:
    return percentile([ms_of(call) for call in calls], 0.5)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
