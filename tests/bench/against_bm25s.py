"""Benchmark of ranking: nDCG@10 of our BM25 search beside the library bm25s with the same tokens, the last turn as the question."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tantivy

from bot.evaluate.rows import json_lines
from bot.evaluate.statistics.metrics import mean, ndcg
from grounding.embedded.index import EmbeddedIndex
from grounding.records import Access, Chunk, Document
from grounding.text import STOP_WORDS
from tests.bench.figures import Figure, Skipped
from tests.bench.place import Place

SETS, K = ("dstc11", "mtrag_un"), 50
Rows = list[dict[str, Any]]


async def bench_bm25s(place: Place) -> list[Figure] | Skipped:
    """nDCG@10 in % of bm25s, of ours over title and text as one field, as bm25s has them, and over the two fields that the product has."""
    if place.set_file("retrieval/dstc11/corpus.jsonl") is None:
        return Skipped("bm25s", "needs --data with retrieval/")
    if importlib.util.find_spec("bm25s") is None:
        return Skipped("bm25s", "needs the package bm25s")
    out: list[Figure] = []
    for name in SETS:
        corpus, queries = (_rows(place, f"retrieval/{name}/{kind}.jsonl") for kind in ("corpus", "queries"))
        asked = [row for row in queries if row["relevant"]]
        one = _index(place.scratch / f"{name}-one", [(d["doc_id"], "-", f"{d['title']}\n{d['text']}") for d in corpus])
        two = _index(place.scratch / f"{name}-two", [(d["doc_id"], d["title"], d["text"]) for d in corpus])
        theirs = _bm25s(corpus, _analyzer())
        ways = {"bm25s": theirs, "ours, one field": _ours(one), "ours, title and text": _ours(two)}
        out += [
            Figure(
                f"{name}: nDCG@10 of {way}",
                100 * _ndcg(rank, asked),
                "%",
                len(asked),
                "within 1" if "one" in way else "",
            )
            for way, rank in ways.items()
        ]
        one.close()
        two.close()
    return out


def _rows(place: Place, name: str) -> Rows:
    path = place.set_file(name)
    assert path is not None
    return list(json_lines(path))


def _index(folder: Path, documents: list[tuple[str, str, str]]) -> EmbeddedIndex:
    index = EmbeddedIndex(folder, None)
    whole = [(Document(i, title, text), (Chunk(i, i, 0, len(text), text, 1, None),)) for i, title, text in documents]
    index.put([(document, chunks, "bench", "1") for document, chunks in whole])
    index.catch_up(lambda *_: None)
    return index


def _analyzer() -> Callable[[str], list[str]]:
    """The tokens of the index's `en_stem`."""
    made = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple()).filter(tantivy.Filter.remove_long(40))
    analyzer = made.filter(tantivy.Filter.lowercase()).filter(tantivy.Filter.stemmer("English")).build()
    return lambda text: list(analyzer.analyze(text))


def _ours(index: EmbeddedIndex) -> Callable[[str], list[str]]:
    def rank(question: str) -> list[str]:
        pks = [pk for pk, _ in index.words.search(question, Access(), K)]
        rows = index.store.rows(pks)
        return [rows[pk].chunk.doc_id for pk in pks]

    return rank


def _bm25s(corpus: Rows, tokens: Callable[[str], list[str]]) -> Callable[[str], list[str]]:
    """BM25 by bm25s in Lucene's form with k1 1.2 and b 0.75, which is what tantivy scores by."""
    model = importlib.import_module("bm25s").BM25(method="lucene", k1=1.2, b=0.75)
    numbers: dict[str, int] = {}
    texts = [[numbers.setdefault(t, len(numbers)) for t in tokens(f"{d['title']}\n{d['text']}")] for d in corpus]
    model.index((texts, numbers), show_progress=False)

    def rank(question: str) -> list[str]:
        asked = [t for t in dict.fromkeys(tokens(question)) if t in numbers]
        asked = [t for t in asked if t not in STOP_WORDS] or asked
        if not asked:
            return []
        found = model.retrieve([asked], k=K, show_progress=False)[0][0]
        return [corpus[number]["doc_id"] for number in found]

    return rank


def _ndcg(rank: Callable[[str], list[str]], asked: Rows) -> float:
    scores = [ndcg(rank(str(row["history"][-1]["text"])), set(row["relevant"]), 10) for row in asked]
    return mean([score for score in scores if score is not None]) or 0.0
