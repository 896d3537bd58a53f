"""The chance that the sources support a statement, and the doubt of a whole answer: a logistic regression over `features`.

It is fitted on public sets by `tools/fit_statements.py`. The model weighs an answer by its worst sentence and by the mean of its sentences; a sentence by itself is an answer of one.
`model.json` holds the coefficients, where they come from, and two scales: `even`, on which 0.5 parts supported from unsupported
answers best, and `safe`, on which 0.5 flags at most `flags` of the supported answers of DSTC9's development part.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rai.check.phrasing.phrasing_features import FEATURES, beside
from rai.check.phrasing.plain import substance
from rai.records import Claim, Source

Vector = NDArray[np.float64]
MODEL = Path(__file__).with_name("model.json")


@dataclass(frozen=True, slots=True)
class WordingModel:
    """The fitted coefficients. `worst`, `mean`: those of an answer's largest and mean features, shape (len(FEATURES),) each; `even`, `safe`:
    (slope, shift) of the logistic scales.
    """

    worst: Vector
    mean: Vector
    bias: float
    even: tuple[float, float]
    safe: tuple[float, float]

    def logit(self, rows: Vector) -> float:
        """How far an answer is from being supported, as a logit. `rows`: the features of its sentences, shape (n, len(FEATURES))."""
        if not len(rows):
            return self.bias
        return float(self.worst @ rows.max(axis=0) + self.mean @ rows.mean(axis=0) + self.bias)


@dataclass(frozen=True, slots=True)
class Weighing:
    """The claims of an answer with the score of every statement, and the chance that something in it is unsupported, in [0, 1].

    `doubt`: that chance on the scale `safe`, above 0.5 the answer is to be held back; `even_doubt`: on the scale `even`.
    """

    claims: tuple[Claim, ...]
    doubt: float
    even_doubt: float


@lru_cache(maxsize=1)
def model() -> WordingModel:
    """The fitted model, read from `model.json` once."""
    stored = json.loads(MODEL.read_text("utf-8"))
    worst, mean = (np.array([stored[part].get(name, 0.0) for name in FEATURES]) for part in ("worst", "mean"))
    return WordingModel(worst, mean, stored["bias"], tuple(stored["even"]), tuple(stored["safe"]))


def weigh_claims(claims: Sequence[Claim], sources: Sequence[Source]) -> Weighing:
    """The claims with the score of every statement that claims something, and the doubt of them all.

    A statement that stands in a source (`entailed`) is supported for certain, one that is contradicted or absent is not.
    Values and names of `claims` that are unsupported count against the sentence they stand in.
    """
    wrong = sorted((c for c in claims if c.unsupported), key=_start)
    rows = {n: row for n, claim in enumerate(claims) if (row := _row(claim, wrong, sources)) is not None}
    scored = tuple(replace(c, score=_score(c, rows[n])) if n in rows else c for n, c in enumerate(claims))
    logit = model().logit(np.array(list(rows.values())).reshape(-1, len(FEATURES)))
    if not rows:
        return Weighing(scored, 0.0, 0.0)
    return Weighing(scored, _on(model().safe, logit), _on(model().even, logit))


def feature_row(sentence: str, sources: Sequence[Source], values: int = 0, names: int = 0) -> list[float] | None:
    """The features of one sentence, in the order of `FEATURES`; None if it has no words to compare.

    `values`, `names`: how many unsupported ones stand in it.
    """
    weighed = beside(sentence, _ordered(sources))
    if weighed is None:
        return None
    counted = {"values": float(min(2, values)), "names": float(min(2, names))}
    return [counted.get(name, value) for name, value in zip(FEATURES, weighed.row(), strict=True)]


def _start(claim: Claim) -> int:
    return claim.start


def _row(claim: Claim, wrong: Sequence[Claim], sources: Sequence[Source]) -> list[float] | None:
    """The features of a statement, all 0 if it is entailed; None of any other claim. `wrong`: the unsupported claims of the answer, ascending."""
    if claim.kind != "statement" or not substance(claim.text):
        return None
    if claim.status == "entailed":
        return [0.0] * len(FEATURES)
    within = wrong[bisect_left(wrong, claim.start, key=_start) : bisect_left(wrong, claim.end, key=_start)]
    inside = [c for c in within if c.end <= claim.end]
    names = sum(c.kind == "entity" for c in inside)
    return feature_row(claim.text, sources, sum(c.kind not in ("entity", "statement") for c in inside), names)


def _score(claim: Claim, row: Sequence[float]) -> float:
    if claim.status in ("contradicted", "absent"):
        return 0.0
    doubt = _on(model().even, model().logit(np.array([row])))
    return round(1 - doubt, 4) if claim.status != "entailed" else 1.0


def _on(scale: tuple[float, float], logit: float) -> float:
    slope, shift = scale
    return round(float(1 / (1 + np.exp(-np.clip(slope * logit + shift, -30, 30)))), 4)


def _ordered(sources: Sequence[Source]) -> tuple[Source, ...]:
    return tuple(sorted(set(sources), key=lambda s: (s.id, s.title, s.text)))
