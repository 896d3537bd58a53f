"""Which of the values that a source has an answer asks for: a softmax over its candidates, fitted by tools/fit_places.py.

A place has a score, linear in `features`; a value has the mean of what its places have (log-mean-exp), for one that stands twice is no likelier by that.
`places.json` holds the coefficients and the margins from which a value is doubtful.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, log
from pathlib import Path

from rai.check.answer import Answer
from rai.check.places.features import FEATURES, features, heard
from rai.check.reading.sources import Place

MODEL = Path(__file__).with_name("places.json")
_STEEPEST = 30.0


@dataclass(frozen=True, slots=True)
class PlaceModel:
    """The fitted weights and thresholds. `weights`: one a feature. `doubt_from`: the margin of the best rival from which a value is doubtful; of a contact `contact_doubt_from`, and
    from `contact_from` on the rival is meant.
    """

    weights: tuple[float, ...]
    doubt_from: float
    contact_from: float
    contact_doubt_from: float


@dataclass(frozen=True, slots=True)
class Ranked:
    """How the places of a value compare. `margin`: the score of `rival`, the best other value, less that of the value's own best place, `place`. `p`: the value's share in (0, 1)."""

    place: Place
    rival: Place
    margin: float
    p: float


@lru_cache(maxsize=1)
def model() -> PlaceModel:
    """The fitted model."""
    stored = json.loads(MODEL.read_text("utf-8"))
    weights = tuple(float(stored["weights"].get(name, 0.0)) for name in FEATURES)
    return PlaceModel(weights, stored["doubt_from"], stored["contact_from"], stored["contact_doubt_from"])


def ranked(n: int, own: Sequence[Place], rivals: Sequence[Place], answer: Answer) -> Ranked:
    """The n-th value, which stands at `own`, among `rivals`, the places of other values that could be said in its place; neither may be empty."""
    weights = model().weights
    scored = [(place, _score(weights, row)) for place, row in rows(n, own, rivals, answer)]
    mine, others = scored[: len(own)], scored[len(own) :]
    by_value: dict[str, list[tuple[Place, float]]] = {}
    for place, score in others:
        by_value.setdefault(place.found.value, []).append((place, score))
    ours = _mean([score for _, score in mine])
    theirs = {value: _mean([score for _, score in found]) for value, found in by_value.items()}
    best = max(theirs, key=theirs.__getitem__)
    whole = exp(0.0) + sum(exp(min(_STEEPEST, score - ours)) for score in theirs.values())
    place, rival = max(mine, key=_second)[0], max(by_value[best], key=_second)[0]
    return Ranked(place, rival, theirs[best] - ours, 1 / whole)


def rows(n: int, own: Sequence[Place], rivals: Sequence[Place], answer: Answer) -> list[tuple[Place, list[float]]]:
    """The features of each candidate, those of `own` first."""
    told = heard(n, answer, [*own, *rivals])
    return [(place, features(place, told)) for place in (*own, *rivals)]


def _score(weights: Sequence[float], row: Sequence[float]) -> float:
    score = sum(w * x for w, x in zip(weights, row, strict=True))
    return max(-_STEEPEST, min(_STEEPEST, score))


def _mean(scores: Sequence[float]) -> float:
    most = max(scores)
    return most + log(sum(exp(score - most) for score in scores) / len(scores))


def _second(scored: tuple[Place, float]) -> float:
    return scored[1]
