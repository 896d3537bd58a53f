"""The chance that the sources support a sentence in other words: a logistic regression over `features`, fitted by tools/fit_covered.py.

`covered.json` holds the coefficients, the threshold from which a sentence counts as held, and the scale that makes a probability of the
result: how often sentences of that result were right in the answers as they stand, before the tool changes any.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from rai.check.lexicon.load import Cue
from rai.check.statements.prepared import PreparedStatement
from rai.check.statements.statement_features import FEATURES, features

MODEL = Path(__file__).with_name("covered.json")
VETOES = ("all_more", "ordered", "regardless", "only_less")
"""Features that keep a sentence open when they are not 0, however much of it is held."""


@dataclass(frozen=True, slots=True)
class CoveredModel:
    """The fitted coefficients. `weights`: one a feature; `held_from`: the logit from which a sentence is held; `scale`: (slope, shift) from
    that logit to the logit of `Covered.p`.
    """

    weights: tuple[float, ...]
    bias: float
    held_from: float
    scale: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Covered:
    """How far the sources support a sentence. `p`: the chance that they do, in (0, 1); `held`: whether it counts as supported."""

    p: float
    held: bool


@lru_cache(maxsize=1)
def model() -> CoveredModel:
    """The fitted model, read from `covered.json` once."""
    stored = json.loads(MODEL.read_text("utf-8"))
    weights = tuple(float(stored["weights"].get(name, 0.0)) for name in FEATURES)
    return CoveredModel(weights, stored["bias"], stored["held_from"], tuple(stored["scale"]))


def covered(said: PreparedStatement) -> Covered:
    """The chance that the sources support a sentence, and whether it counts as supported."""
    fitted, values = model(), features(said)
    logit = fitted.bias + sum(w * v for w, v in zip(fitted.weights, values, strict=True))
    slope, shift = fitted.scale
    held = logit >= fitted.held_from and not open_whatever(said, values)
    return Covered(round(1 / (1 + math.exp(-slope * logit - shift)), 3), held)


def open_whatever(said: PreparedStatement, values: Sequence[float]) -> bool:
    """True if a sentence stays open however much of it is held. `values`: its features."""
    return any(values[_VETOED[name]] for name in VETOES) or _too_little(said) or _qualified(said)


def _too_little(said: PreparedStatement) -> bool:
    """True if a sentence tells so little that any small word may turn it: then it is held only as it stands."""
    many = sum(len(p.clause.terms) for p in said.parts)
    return many < SHORT or (many < LONGER and any(p.aligned is None or p.aligned.unsaid for p in said.parts))


def _qualified(said: PreparedStatement) -> bool:
    """True if it or what it speaks of is lessened by a word that the other lacks: almost, rarely, former, most."""
    mine = {c.key for p in said.parts for c in p.clause.cues if _lessens(c)}
    theirs = {c.key for p in said.parts for n in p.candidates[:1] for c in n.unit.cues if _lessens(c)}
    near = {c.key for p in said.parts for n in p.candidates[:1] for c in n.two.piece.cues if _lessens(c)}
    return not mine <= theirs or not near <= mine


def _lessens(cue: Cue) -> bool:
    return cue.concept == "qualifiers" or (cue.concept == "universals" and cue.key == "some")


LONGER = 7
"""Words that tell something from which on one that no source has may be overlooked; a shorter sentence stays open for it."""
SHORT = 5
"""Fewest words that tell something in a sentence that words alone can decide: of fewer each small word counts."""
_VETOED = {name: FEATURES.index(name) for name in VETOES}
