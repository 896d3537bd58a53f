"""The ranking of a source's values by how well an answer's words ask for each: a softmax over candidates, fitted by tools/fit_places.py.

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
from rai.check.places.place_features import FEATURES, features, weighed_words
from rai.check.reading.sources import Place

MODEL = Path(__file__).with_name("places.json")
_STEEPEST = 30.0


@dataclass(frozen=True, slots=True)
class PlaceModel:
    """The fitted weights and thresholds. `weights`: one a feature; `doubt_from`: the margin of the best rival from which a value is doubtful;
    `contact_doubt_from`: the same of a contact; `contact_from`: the margin from which the answer means the rival of a contact.
    """

    weights: tuple[float, ...]
    doubt_from: float
    contact_from: float
    contact_doubt_from: float


@dataclass(frozen=True, slots=True)
class Ranked:
    """A value beside the best other one. `place`, `rival`: the best place of each; `margin`: the score of the other less that of the value;
    `p`: the value's share among all candidates, in (0, 1).
    """

    place: Place
    rival: Place
    margin: float
    p: float


@lru_cache(maxsize=1)
def model() -> PlaceModel:
    """The fitted model, read from `places.json` once."""
    stored = json.loads(MODEL.read_text("utf-8"))
    weights = tuple(float(stored["weights"].get(name, 0.0)) for name in FEATURES)
    return PlaceModel(weights, stored["doubt_from"], stored["contact_from"], stored["contact_doubt_from"])


def ranked(n: int, own: Sequence[Place], rivals: Sequence[Place], answer: Answer) -> Ranked:
    """The n-th value beside the best of its rivals. `own`: its places; `rivals`: those of other values that could be said instead; neither may be empty."""
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
    """The candidates with their features, those of `own` first."""
    told = weighed_words(n, answer, [*own, *rivals])
    return [(place, features(place, told)) for place in (*own, *rivals)]


def _score(weights: Sequence[float], row: Sequence[float]) -> float:
    score = sum(w * x for w, x in zip(weights, row, strict=True))
    return max(-_STEEPEST, min(_STEEPEST, score))


def _mean(scores: Sequence[float]) -> float:
    most = max(scores)
    return most + log(sum(exp(score - most) for score in scores) / len(scores))


def _second(scored: tuple[Place, float]) -> float:
    return scored[1]
