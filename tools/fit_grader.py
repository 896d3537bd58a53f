"""Fits the logistic of the embedded grader's first step, the score of a sentence, with a part kept aside.

usage: python -m tools.fit_grader MODEL.onnx CACHE [DATA]

The sample's golden questions of split "dev" label sentences: one that holds a `must` string and stands in a cited document
answers; of the other documents the sentences that score best do not (hard negatives, chosen anew in every round, so that the
score separates what looks like an answer from what is one). Rows without an answer give negatives alone. Reported: whether a
threshold of 0.4 on the best sentence tells answerable questions from others, on "dev" and on "held", which takes no part; and, with
DATA, AUROC over the documents of retrieval/mtrag_un, which takes no part either. CACHE keeps the indexes between runs.
"""

from __future__ import annotations

import asyncio
import math
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bot.evaluate.rows import json_lines
from bot.evaluate.statistics.metrics import auroc
from bot.settings.load import SAMPLE  # first of all: it tells onnxruntime to send nothing
from grounding.embedded.grader import feature_row, meanings, shortlist
from grounding.embedded.index import EmbeddedIndex
from grounding.embedded.indexes.vector_index import VectorIndex
from grounding.embedded.retriever import EmbeddedRetriever
from grounding.embedded.vectors.embedder import MiniLM
from grounding.ingest.ingest import ingest
from grounding.records import Access, Query
from tools.fitting.library import K, golden_rows, library
from tools.fitting.logistic import Matrix, logistic

NAMES = ("sentence", "share", "typed", "rank", "named", "strange")
HARD = 6


@dataclass(frozen=True, slots=True)
class Example:
    """The sentences of one question: features (n, 6), labels (n,), and which of them may serve as negatives."""

    features: Matrix
    labels: Matrix
    negative: NDArray[np.bool_]
    answerable: bool
    held: bool


async def golden(embedder: MiniLM, cache: Path) -> list[Example]:
    """Examples of the sample's golden questions."""
    kb = await library(embedder, cache / "sample", SAMPLE / "kb")
    out: list[Example] = []
    for row, access in golden_rows():
        expect = row["expect"]
        if expect["cite"] and not expect["must"]:
            continue
        query = await kb.query(row, access)
        found = await kb.found(query, access)
        _, sentences = shortlist(query.text, found)
        near = await meanings(embedder, query.text, sentences, found)
        features = np.array([feature_row(c, n, found[c.passage]) for c, n in zip(sentences, near, strict=True)])
        cited = np.array([found[c.passage].doc_id in expect["cite"] for c in sentences])
        says = np.array([any(m in c.text for m in expect["must"]) for c in sentences])
        out.append(
            Example(features, (cited & says).astype(float), ~cited, bool(expect["cite"]), row["split"] == "held")
        )
    kb.index.close()
    return out


async def mtrag(embedder: MiniLM, data: Path, cache: Path, w: Matrix) -> tuple[Matrix, Matrix]:
    """Best sentence's score and label of every passage retrieved for MTRAG-UN's last turns."""
    index = EmbeddedIndex(cache / "mtrag_un", embedder)
    await ingest(index, [data / "corpus.jsonl"])
    retriever = EmbeddedRetriever(
        index.store, index.words, VectorIndex(index.store, embedder.fingerprint, embedder.width), embedder
    )
    scores: list[float] = []
    labels: list[float] = []
    for row in json_lines(data / "queries.jsonl"):
        question = row["history"][-1]["text"]
        found = (await retriever.retrieve(Query(question), Access(), K)).passages
        _, sentences = shortlist(question, found)
        near = await meanings(embedder, question, sentences, found)
        best: dict[int, float] = {}
        for c, n in zip(sentences, near, strict=True):
            value = float(w[0] + np.dot(w[1:], feature_row(c, n, found[c.passage])))
            best[c.passage] = max(best.get(c.passage, -99.0), value)
        scores += best.values()
        labels += [float(found[i].doc_id in row["relevant"]) for i in best]
    index.close()
    return np.array(scores), np.array(labels)


def fit_examples(examples: list[Example], columns: list[int], rounds: int = 6) -> Matrix:
    """Right sentences against the HARD best wrong ones of each question under the coefficients so far."""
    w = np.array([-9.0, *np.full(len(columns), 2.0)])
    for _ in range(rounds):
        xs, ys, weights = [], [], []
        for e in examples:
            x = e.features[:, columns]
            value = x @ w[1:]
            right, wrong = np.flatnonzero(e.labels == 1), np.flatnonzero(e.negative)
            right, wrong = right[np.argsort(-value[right])][:2], wrong[np.argsort(-value[wrong])][:HARD]
            weight_wrong = 1.0 if e.answerable else 2.0  # questions without an answer are few
            xs += [x[right], x[wrong]]
            ys += [np.ones(len(right)), np.zeros(len(wrong))]
            weights += [np.full(len(right), 2 / max(1, len(right))), np.full(len(wrong), weight_wrong * 2 / HARD)]
        w = logistic(np.vstack(xs), np.concatenate(ys), np.concatenate(weights))
    return w


def area(score: Matrix, y: Matrix) -> float:
    """AUROC of scores whose label is 1 against the others; NaN where one of the two is missing."""
    found = auroc([float(v) for v in score[y == 1]], [float(v) for v in score[y != 1]])
    return math.nan if found is None else found


def report(name: str, w: Matrix, examples: list[Example], columns: list[int]) -> None:
    """How well the best sentence's score tells answerable questions from others, and how often it is the right sentence."""
    best = [int(np.argmax(e.features[:, columns] @ w[1:])) for e in examples]
    p = np.array(
        [1 / (1 + np.exp(-(w[0] + e.features[i][columns] @ w[1:]))) for e, i in zip(examples, best, strict=True)]
    )
    y = np.array([float(e.answerable) for e in examples])
    first = np.mean([e.labels[i] for e, i in zip(examples, best, strict=True) if e.answerable])
    print(
        f"  {name}: n={len(y)} AUROC {area(p, y):.3f}, right at 0.4 {np.mean((p >= 0.4) == (y == 1)):.3f}, first sentence right {first:.3f}"
    )


async def main() -> int:
    """Fit and print."""
    if len(sys.argv) not in (3, 4):
        print(__doc__, file=sys.stderr)
        return 2
    embedder, cache = MiniLM(Path(sys.argv[1])), Path(sys.argv[2])
    examples = await golden(embedder, cache)
    for title, columns in (("with meaning", [0, 1, 2, 3, 4, 5]), ("words only", [1, 2, 3, 4, 5])):
        w = fit_examples([e for e in examples if not e.held], columns)
        print(
            f"{title}: intercept {w[0]:.2f}, "
            + ", ".join(f"{NAMES[c]} {v:.2f}" for c, v in zip(columns, w[1:], strict=True))
        )
        report("development", w, [e for e in examples if not e.held], columns)
        report("kept aside", w, [e for e in examples if e.held], columns)
        if len(sys.argv) == 4 and columns[0] == 0:
            scores, labels = await mtrag(embedder, Path(sys.argv[3]) / "retrieval" / "mtrag_un", cache, w)
            print(f"  mtrag_un, passages: n={len(labels)} AUROC {area(scores, labels):.3f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(asyncio.run(main()))
