"""Fits the logistic for the support score of statements, with a part kept aside by document.

usage: python -m tools.fit_statements DATA [--aside]

DATA/provenance/{dstc9,summedits}.jsonl. Both sets and both labels weigh alike, so that neither the 8,189 supported rows of
DSTC9 nor the 64 % unsupported ones of SummEdits decide. Coefficients of what counts against a sentence cannot be negative.
Rows with crc32(first source) % 3 == 0 take no part; `--aside` reports them too. Printed: six-fold cross-validation by document,
then the fit, which is written to rai/check/phrasing/model.json. Nothing is drawn at random, so a repeated run gives the same.
"""

from __future__ import annotations

import json
import sys
import zlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bot.evaluate.rows import json_lines
from bot.evaluate.statistics.metrics import auroc
from grounding.text import sentences
from rai.check.match import check_claims
from rai.check.phrasing.phrasing_features import FEATURES
from rai.check.phrasing.plain import substance
from rai.check.phrasing.weigh import MODEL, feature_row
from rai.records import Source

Matrix = NDArray[np.float64]
FOLDS = 6
PENALTY = 3e-3
STEPS = 4000
SAFE_FLAGS = 0.003
EITHER_SIGN = frozenset("synonyms derived unsaid_generic unsaid_many replaced_alike left_out".split())
EDITS = (
    "antonym_swap",
    "entity_modification",
    "negation_insertion_removal",
    "hallucinated_fact_insertion",
    "number_changed",
)


@dataclass(frozen=True, slots=True)
class Row:
    """An answer: features of its sentences (n, len(FEATURES)), whether it is unsupported, its set, document and tags."""

    features: Matrix
    bad: bool
    name: str
    document: int
    tags: frozenset[str]

    @property
    def aside(self) -> bool:
        """True if it takes no part in the fit."""
        return self.document % 3 == 0


def read(path: Path) -> list[Row]:
    """Rows of one set."""
    return [_row(record, path.stem) for record in json_lines(path)]


def _row(record: dict[str, Any], name: str) -> Row:
    sources = [Source(**s) for s in record["sources"]]
    claims = check_claims(record["answer"], sources)
    found = []
    for s in sentences(record["answer"]):
        if not substance(s.text):
            continue
        kinds = [
            c.kind for c in claims if c.unsupported and s.start <= c.start and c.end <= s.end and c.kind != "statement"
        ]
        names = kinds.count("entity")
        row = feature_row(s.text, sources, len(kinds) - names, names)
        if row is not None:
            found.append(row)
    document = zlib.crc32(sources[0].text.encode())
    features = np.array(found, float).reshape(-1, len(FEATURES))
    return Row(features, record["label"] == "unsupported", name, document, frozenset(record["tags"]))


def table(rows: list[Row]) -> tuple[Matrix, Matrix, Matrix]:
    """Features of the worst and the mean sentence (n, 2 * len(FEATURES)), labels, weights."""
    x = np.array(
        [np.r_[r.features.max(0), r.features.mean(0)] if len(r.features) else np.zeros(2 * len(FEATURES)) for r in rows]
    )
    counts = Counter((r.name, r.bad) for r in rows)
    return (
        x,
        np.array([float(r.bad) for r in rows]),
        np.array([1 / (len(counts) * counts[r.name, r.bad]) for r in rows]),
    )


def fit(x: Matrix, y: Matrix, weight: Matrix) -> Matrix:
    """Penalised logistic with signs held, by accelerated projected gradient (Beck & Teboulle 2009); bias last."""
    scale = x.std(0) + 1e-6
    z = np.c_[x / scale, np.ones(len(x))]
    free = np.array([n in EITHER_SIGN for n in FEATURES] * 2 + [True])
    penalty = np.r_[np.full(x.shape[1], 2 * PENALTY), 0.0]
    step = 1 / (0.25 * np.linalg.eigvalsh((z * weight[:, None]).T @ z)[-1] + 2 * PENALTY)
    w = ahead = np.zeros(z.shape[1])
    momentum = 1.0
    for _ in range(STEPS):
        slope = z.T @ (weight * (1 / (1 + np.exp(-np.clip(z @ ahead, -30, 30))) - y)) + penalty * ahead
        new = ahead - step * slope
        new = np.where(free, new, np.maximum(new, 0))
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead, w, momentum = new + (momentum - 1) / following * (new - w), new, following
    found: Matrix = np.r_[w[:-1] / scale, w[-1]]
    return found


def balanced(score: Matrix, y: Matrix, threshold: float) -> float:
    """Balanced accuracy."""
    return float((np.mean(score[y == 1] > threshold) + np.mean(score[y == 0] <= threshold)) / 2)


def best_threshold(score: Matrix, y: Matrix) -> float:
    """The threshold of the best balanced accuracy."""
    return float(max(np.quantile(score, np.linspace(0.02, 0.98, 97)), key=lambda t: balanced(score, y, float(t))))


def report(title: str, rows: list[Row], score: Matrix, even: float, safe: float) -> None:
    """Figures of each set at both thresholds, and SummEdits by edit."""
    print(title)
    y = np.array([float(r.bad) for r in rows])
    for name in ("dstc9", "summedits"):
        mine = np.array([r.name == name for r in rows])
        s, t = score[mine], y[mine]
        area = auroc([float(v) for v in s[t == 1]], [float(v) for v in s[t == 0]])
        for label, at in (("even", even), ("safe", safe)):
            bad, good = np.mean(s[t == 1] > at), np.mean(s[t == 0] > at)
            accuracy = f"balanced accuracy {balanced(s, t, at):.3f} bad {bad:.3f} good {good:.4f}"
            print(f"  {name:10} AUROC {area:.3f}  {label}: {accuracy}")
    for edit in EDITS:
        mine = np.array([edit in r.tags and r.bad for r in rows])
        print(
            f"    {edit:28} found, even {np.mean(score[mine] > even):.2f}  safe {np.mean(score[mine] > safe):.2f}  n {mine.sum()}"
        )


def safe_threshold(rows: list[Row], score: Matrix) -> float:
    """The score that at most SAFE_FLAGS of the supported rows of DSTC9 exceed."""
    good = np.array([r.name == "dstc9" and not r.bad for r in rows])
    return float(np.quantile(score[good], 1 - SAFE_FLAGS))


def main() -> int:
    """Fit, print, write."""
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    every = [row for name in ("dstc9", "summedits") for row in read(Path(sys.argv[1]) / "provenance" / f"{name}.jsonl")]
    rows, aside = [r for r in every if not r.aside], [r for r in every if r.aside]
    x, y, weight = table(rows)
    fold = np.array([r.document // 3 % FOLDS for r in rows])
    score = np.zeros(len(rows))
    for part in range(FOLDS):
        w = fit(x[fold != part], y[fold != part], weight[fold != part])
        score[fold == part] = x[fold == part] @ w[:-1] + w[-1]
    summedits = np.array([r.name == "summedits" for r in rows])
    even, safe = best_threshold(score[summedits], y[summedits]), safe_threshold(rows, score)
    report("cross-validation by document", rows, score, even, safe)
    w = fit(x, y, weight)
    if "--aside" in sys.argv:
        ax, _, _ = table(aside)
        report("kept aside", aside, ax @ w[:-1] + w[-1], even, safe)
    parts = {"worst": w[: len(FEATURES)], "mean": w[len(FEATURES) : -1]}
    named = {
        part: {n: round(float(v), 4) for n, v in zip(FEATURES, values, strict=True) if abs(v) > 1e-4}
        for part, values in parts.items()
    }
    stored = {
        "from": "tools/fit_statements.py over DSTC9 track 1 and SummEdits, development documents",
        **named,
        "bias": round(float(w[-1]), 4),
        "even": [1.0, round(-even, 4)],
        "safe": [1.0, round(-safe, 4)],
    }
    MODEL.write_text(json.dumps(stored, indent=1) + "\n", "utf-8")
    print(json.dumps(stored))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
