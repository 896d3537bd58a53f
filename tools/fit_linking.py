"""Fits the logistic of entity linking, which names of a knowledge base a conversation asks about, with a third of the conversations kept aside.

usage: python -m tools.fit_linking DATA

DATA/retrieval/NAME/{corpus,queries}.jsonl. A name is asked about if a relevant document's title begins with it. Each set
weighs alike, whatever its size. Conversations with crc32(id without its turn) % 3 == 0 take no part; both parts are reported. Printed are the coefficients
for `grounding.query.linking.WEIGHTS`. Nothing is drawn at random, so a repeated run gives the same.
"""

from __future__ import annotations

import json
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bot.evaluate.rows import json_lines
from bot.evaluate.suites.retrieval.question_sets import folders_with_corpus
from grounding.query.gazetteer import Gazetteer, key_of, names_of
from grounding.query.linking import LOOK_BACK, TAKE_AT, WEIGHTS, features
from grounding.records import Turn
from tools.fitting.logistic import Matrix, newton

PENALTY = 1.0
STEPS = 60
PARTS = 3


@dataclass(frozen=True, slots=True)
class Named:
    """Names of one set of conversations: features, whether they are asked about, and whether they are kept aside."""

    name: str
    x: Matrix
    y: Matrix
    aside: NDArray[np.bool_]


def read(folder: Path) -> Named:
    """Every name that the conversations of a set speak of."""
    titles = {row["doc_id"]: row["title"] for row in json_lines(folder / "corpus.jsonl")}
    gazetteer = Gazetteer(names_of(titles.values()))
    x, y, aside = [], [], []
    for row in json_lines(folder / "queries.jsonl"):
        if not row["relevant"]:
            continue
        turns = [Turn(t["role"], t["text"]) for t in row["history"]]
        asked = len(turns) - 1
        first = max(0, asked - LOOK_BACK)
        found = [(i, name) for i in range(first, asked + 1) for name in gazetteer.link(turns[i].text)]
        keys = [key_of(titles[doc_id]) for doc_id in row["relevant"]]
        for key, values in features(turns, asked, found).items():
            x.append([values[name] for name in WEIGHTS])
            y.append(any(k[: len(key)] == key for k in keys))
            aside.append(zlib.crc32(row["id"].split("<")[0].encode()) % PARTS == 0)
    return Named(folder.name, np.array(x, float), np.array(y, float), np.array(aside))


def report(w: Matrix, sets: list[Named]) -> None:
    """Accuracy of the choice in both parts of each set, and precision and recall of the names taken along."""
    for found in sets:
        for part, rows_ in (("development", ~found.aside), ("kept aside", found.aside)):
            p = 1 / (1 + np.exp(-found.x[rows_] @ w))
            y, taken = found.y[rows_], p >= TAKE_AT
            print(
                f"{found.name:12} {part:12} n {len(y):5} right {np.mean((p > 0.5) == y):.3f} "
                f"taken: precision {y[taken].mean():.3f} recall {y[taken].sum() / y.sum():.3f}"
            )


def main() -> int:
    """Fit, report, print."""
    folders = folders_with_corpus(Path(sys.argv[1])) if len(sys.argv) == 2 else []
    if not folders:
        print(__doc__, file=sys.stderr)
        return 2
    sets = [read(folder) for folder in folders]
    most = max(len(s.y) for s in sets)
    x = np.concatenate([s.x[~s.aside] for s in sets])
    y = np.concatenate([s.y[~s.aside] for s in sets])
    weight = np.concatenate([np.full(int((~s.aside).sum()), (most / len(s.y)) ** 0.5) for s in sets])
    w = newton(x, y, weight, np.full(x.shape[1], PENALTY), STEPS)
    report(w, sets)
    print(json.dumps({name: round(float(value), 2) for name, value in zip(WEIGHTS, w, strict=True)}, indent=4))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
