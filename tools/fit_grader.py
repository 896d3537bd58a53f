"""Fit the embedded grader's logistic on a public set, with a part kept aside.

usage: python tools/fit_grader.py DATA/retrieval/mtrag_un MODEL.onnx

Every query's last turn retrieves 12 passages; those named relevant are positive. Queries are split by a hash of their
conversation, a third kept aside. Prints coefficients, then AUROC, Brier score and a reliability table on both parts.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import sys
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import bot.settings  # noqa: F401 - first of all: it tells onnxruntime to send nothing
from grounding.chunk import split
from grounding.embedded.embedder import WIDTH, MiniLM
from grounding.embedded.grader import features
from grounding.embedded.index import EmbeddedIndex
from grounding.embedded.retriever import EmbeddedRetriever
from grounding.embedded.vectors import VectorIndex
from grounding.records import Access, Document

Matrix = NDArray[np.float64]


def is_held(query_id: str) -> bool:
    """A third of the conversations, chosen by hash, is kept aside."""
    return hashlib.sha256(query_id.split("<::>", maxsplit=1)[0].encode()).digest()[0] % 3 == 0


async def examples(data: Path, model: Path) -> tuple[Matrix, Matrix, Matrix]:
    """Features (n, 3): cosine, whole, sentence; labels (n,); held flags (n,)."""
    embedder = MiniLM(model)
    relevant_rows = [json.loads(line) for line in (data / "queries.jsonl").read_text("utf-8").splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        index = EmbeddedIndex(Path(folder), embedder)
        index.lock()
        rows = (json.loads(line) for line in (data / "corpus.jsonl").read_text("utf-8").splitlines())
        documents = [Document(r["doc_id"], r["title"], r["text"]) for r in rows]
        index.put([(d, split(d), "fit", "1") for d in documents])
        index.catch_up(lambda *_: None)
        await index.embed_missing(64, lambda done, total: print(f"\r{done}/{total}", end="", file=sys.stderr))
        vectors = VectorIndex(index.store, embedder.fingerprint, WIDTH)
        retriever = EmbeddedRetriever(index.store, index.words, vectors, embedder)
        xs: list[list[float]] = []
        ys: list[float] = []
        held: list[float] = []
        for row in relevant_rows:
            question = row["history"][-1]["text"]
            passages = (await retriever.retrieve(question, Access(), 12)).passages
            for passage, found in zip(passages, features(question, passages), strict=True):
                xs.append([passage.semantic or 0.0, found.whole, found.sentence])
                ys.append(float(passage.doc_id in row["relevant"]))
                held.append(float(is_held(row["id"])))
        index.close()
    return np.array(xs), np.array(ys), np.array(held)


def fit(x: Matrix, y: Matrix, rounds: int = 50, ridge: float = 1e-3) -> Matrix:
    """Intercept and coefficients by Newton's method on the logistic loss."""
    design = np.hstack([np.ones((len(x), 1)), x])
    w = np.zeros(design.shape[1])
    for _ in range(rounds):
        p = 1 / (1 + np.exp(-design @ w))
        hessian = design.T @ (design * (p * (1 - p))[:, None]) + ridge * np.eye(len(w))
        w += np.linalg.solve(hessian, design.T @ (y - p) - ridge * w)
    return w


def auroc(score: Matrix, y: Matrix) -> float:
    """Area under the ROC curve by ranks (Mann-Whitney); ties count half."""
    order = np.argsort(score, kind="stable")
    ranks = np.empty(len(score))
    ranks[order] = np.arange(1, len(score) + 1)
    for value in np.unique(score):
        same = score == value
        ranks[same] = ranks[same].mean()
    positive = y == 1
    n, m = positive.sum(), (~positive).sum()
    return float((ranks[positive].sum() - n * (n + 1) / 2) / (n * m))


def report(name: str, w: Matrix, x: Matrix, y: Matrix) -> None:
    """One part's figures."""
    p = 1 / (1 + np.exp(-(np.hstack([np.ones((len(x), 1)), x]) @ w)))
    print(f"{name}: n={len(y)} positive={y.mean():.3f} AUROC={auroc(p, y):.3f} Brier={((p - y) ** 2).mean():.3f}")
    for low in np.arange(0, 1, 0.1):
        inside = (p >= low) & (p < low + 0.1)
        if inside.any():
            print(
                f"  {low:.1f}-{low + 0.1:.1f}  n={inside.sum():5d}  said {p[inside].mean():.2f}  was {y[inside].mean():.2f}"
            )


def main() -> int:
    """Fit and print."""
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    x, y, held = asyncio.run(examples(Path(sys.argv[1]), Path(sys.argv[2])))
    w = fit(x[held == 0], y[held == 0])
    print("\nintercept %.2f, meaning %.2f, whole %.2f, sentence %.2f" % tuple(w))
    lexical = fit(x[held == 0][:, 1:], y[held == 0])
    print("words only: intercept %.2f, whole %.2f, sentence %.2f" % tuple(lexical))
    report("development", w, x[held == 0], y[held == 0])
    report("kept aside", w, x[held == 1], y[held == 1])
    report("words only, kept aside", lexical, x[held == 1][:, 1:], y[held == 1])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
