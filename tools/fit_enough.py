"""Fits the logistic of the embedded grader's second step, the grade of a passage, on two collections at once.

usage: python -m tools.fit_enough MODEL.onnx CACHE DATA

A logistic of two things over the passages of a question: the log odds of the best sentence (`score`, first step) and how near
in meaning sentence or passage is. A question counts by its best passage under the coefficients so far. Rows: the sample's golden
questions of split "dev", and the half of DATA/retrieval/mtrag_un whose conversations hash to an even byte; both collections and both
classes weigh alike. Then the scale, on the sample alone: 0.4 and 0.8 lie where as many answerable questions reach them as reach them
by the first step, in quarters of the logistic's log odds. The sample's split "held" is reported and takes no part; the other half
of MTRAG-UN is not read. CACHE keeps the indexes between runs.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bot.evaluate.rows import json_lines
from bot.evaluate.statistics.metrics import auroc, balanced_accuracy
from bot.evaluate.suites.retrieval.corrective_step import kind_of
from bot.settings.load import SAMPLE
from grounding.embedded.grader import ALONE, BELIEVED, NEARNESS, STRANGE_AT_MOST, meanings, score, shortlist
from grounding.embedded.vectors.embedder import MiniLM
from grounding.query.conversation import without_names
from grounding.records import Access, Query
from tools.fitting.library import Library, Row, golden_rows, library
from tools.fitting.logistic import Matrix, logistic

ROUNDS, RIDGE = 8, 0.3
STEP = 0.25
KEPT, CERTAIN = 0.4, 0.8


def odds(p: float) -> float:
    """Log odds, of a probability in [0.001, 0.999]."""
    return math.log(max(p, 1e-3) / max(1 - p, 1e-3))


@dataclass(frozen=True, slots=True)
class Example:
    """A question by its passages, one row each: log odds of the best sentence and nearness (n, 2), and whether it is strange (n,)."""

    source: str
    held: bool
    present: bool
    features: Matrix
    strange: Matrix

    def values(self, w: Matrix) -> Matrix:
        """Log odds of each passage."""
        z = w[0] + self.features @ w[1:]
        capped: Matrix = np.where(self.strange > 0, np.minimum(z, odds(STRANGE_AT_MOST)), z)
        return capped


async def passages(embedder: MiniLM, kb: Library, query: Query, access: Access) -> list[tuple[float, float, float]]:
    """Of each passage that the query finds: log odds of its best sentence, nearness, and 1 if it is strange, else 0."""
    found = await kb.found(query, access)
    _, sentences = shortlist(query.text, found)
    near = await meanings(embedder, query.text, sentences, found)
    best: dict[int, tuple[float, float, float]] = {}
    for c, n in zip(sentences, near, strict=True):
        passage = found[c.passage]
        row = odds(score(c, n, passage)), max(0.0, n or 0.0, passage.semantic or 0.0), float(c.strange)
        if c.passage not in best or row[0] > best[c.passage][0]:
            best[c.passage] = row
    return list(best.values())


async def example(
    embedder: MiniLM, kb: Library, row: Row, access: Access, source: str, *, held: bool, present: bool
) -> Example | None:
    """The question as a turn asks it, with and without the names of earlier turns; None if it finds nothing."""
    query = await kb.query(row, access)
    seen = await passages(embedder, kb, query, access)
    alone = without_names(query)
    if query.entities and alone.text and not access.product:
        seen += await passages(embedder, kb, alone, access)
    table = np.array(seen)
    return Example(source, held, present, table[:, :2], table[:, 2]) if seen else None


async def sample(embedder: MiniLM, cache: Path) -> list[Example]:
    """Golden questions that must be answered, or must not."""
    kb = await library(embedder, cache / "sample", SAMPLE / "kb")
    out = []
    for row, access in golden_rows():
        outcomes = (
            {row["expect"]["outcome"]} if isinstance(row["expect"]["outcome"], str) else set(row["expect"]["outcome"])
        )
        answered = outcomes & {"answered", "repaired"}
        if answered and "insufficient" in outcomes:
            continue
        out.append(
            await example(embedder, kb, row, access, "sample", held=row["split"] == "held", present=bool(answered))
        )
    kb.index.close()
    return [e for e in out if e is not None]


async def mtrag_un(embedder: MiniLM, data: Path, cache: Path) -> list[Example]:
    """The development half, by conversation."""
    kb = await library(embedder, cache / "mtrag_un", data / "corpus.jsonl")
    out = []
    for row in json_lines(data / "queries.jsonl"):
        _, where = kind_of(row, row.get("relevant", ()))
        conversation = row["id"].split("<::>")[0]
        if where is not None and hashlib.sha256(conversation.encode()).digest()[0] % 2 == 0:
            out.append(await example(embedder, kb, row, Access(), "mtrag_un", held=False, present=where == "present"))
    kb.index.close()
    return [e for e in out if e is not None]


def best(e: Example, w: Matrix) -> float:
    """Log odds of the question's best passage."""
    return float(e.values(w).max())


def fit(examples: Sequence[Example]) -> Matrix:
    """Intercept and two coefficients, each question by its best passage."""
    counts = Counter((e.source, e.present) for e in examples)
    y = np.array([float(e.present) for e in examples])
    weight = np.array([len(examples) / len(counts) / counts[e.source, e.present] for e in examples])
    w = np.array([0.0, 1.0, 0.0])
    for n in range(ROUNDS):
        x = np.array([e.features[int(e.values(w).argmax())] for e in examples])
        mean, deviation = x.mean(0), x.std(0) + 1e-9
        standard = logistic((x - mean) / deviation, y, weight, ridge=RIDGE)
        raw = standard[1:] / deviation
        new = np.array([standard[0] - raw @ mean, *raw])
        w = new if n == 0 else (w + new) / 2  # the best passages change with the coefficients: half steps settle
    return w


def anchor(before: Sequence[float], after: Sequence[float], at: float) -> float:
    """The quarter above which about as many of `after` lie as of `before`, both log odds, lie above `at`."""
    share = np.mean(np.array(before) >= odds(at))
    return round(float(np.quantile(after, 1 - share)) / STEP) * STEP


def report(name: str, w: Matrix, examples: Sequence[Example]) -> None:
    """How well the best passage tells questions whose answer is there from others, at 0.4."""
    there = [best(e, w) for e in examples if e.present]
    absent = [best(e, w) for e in examples if not e.present]
    kept, wrong = (float(np.mean(np.array(z) >= odds(KEPT))) for z in (there, absent))
    certain = float(np.mean(np.array(there) >= odds(CERTAIN)))
    ba, area = balanced_accuracy(kept, wrong) or 0.0, auroc(there, absent) or 0.0
    print(
        f"  {name:28} n {len(there):3} + {len(absent):2}  AUROC {area:.3f}  balanced accuracy {ba:.3f}"
        f"  there: kept {kept:.3f}, certain {certain:.3f}  absent: kept {wrong:.3f}"
    )


async def main() -> int:
    """Fit and print."""
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    embedder, cache, data = MiniLM(Path(sys.argv[1])), Path(sys.argv[2]), Path(sys.argv[3])
    ours = await sample(embedder, cache)
    theirs = await mtrag_un(embedder, data / "retrieval" / "mtrag_un", cache)
    w = fit([e for e in ours if not e.held] + theirs)
    first = np.array([0.0, 1.0, 0.0])
    answerable = [e for e in ours if e.present and not e.held]
    low, high = (
        anchor([best(e, first) for e in answerable], [best(e, w) for e in answerable], at) for at in (KEPT, CERTAIN)
    )
    slope = (odds(CERTAIN) - odds(KEPT)) / (high - low)
    scaled = slope * w + np.array([odds(KEPT) - slope * low, 0.0, 0.0])
    print(f"fitted: intercept {w[0]:.3f}, log odds of the sentence {w[1]:.3f}, nearness {w[2]:.3f}")
    print(f"scale: {KEPT} at {low:g}, {CERTAIN} at {high:g}: {slope:.2f} z {odds(KEPT) - slope * low:+.2f}")
    print(f"as constants: BELIEVED {scaled[1]:.2f}, NEARNESS {scaled[2]:.2f}, ALONE {scaled[0]:.2f}")
    code = np.array([ALONE, BELIEVED, NEARNESS])
    for title, weights in (
        ("first step alone", first),
        ("both steps, in code", code),
        ("both steps, as fitted", scaled),
    ):
        print(title)
        report("sample, development", weights, [e for e in ours if not e.held])
        report("sample, kept aside", weights, [e for e in ours if e.held])
        report("mtrag_un, development half", weights, theirs)
    return 0


if __name__ == "__main__":
    raise SystemExit(asyncio.run(main()))
