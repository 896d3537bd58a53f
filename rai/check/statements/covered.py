"""How likely it is that the pieces a sentence speaks of say the same: one logistic over `features`, fitted by tools/fit_covered.py.

`covered.json` holds the coefficients, the threshold from which a sentence counts as held, and the scale on which the result is a
chance: how often sentences of so much were right on the desk's development answers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from rai.check.lexicon.load import Cue
from rai.check.statements.features import FEATURES, features
from rai.check.statements.prepared import PreparedStatement

MODEL = Path(__file__).with_name("covered.json")
VETOES = ("all_more", "ordered", "regardless", "only_less")
"""Features of which one that is not 0 keeps a sentence open, however much of it is held."""


@dataclass(frozen=True, slots=True)
class CoveredModel:
    """`weights`, one a feature; `held_from`: the logit from which a sentence is held; `scale`: (slope, shift) from logit to chance."""

    weights: tuple[float, ...]
    bias: float
    held_from: float
    scale: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Covered:
    """`p`: the chance that the sentence is supported, in (0, 1). `held`: the pieces that it speaks of say it."""

    p: float
    held: bool


@lru_cache(maxsize=1)
def model() -> CoveredModel:
    """The fitted model."""
    stored = json.loads(MODEL.read_text("utf-8"))
    weights = tuple(float(stored["weights"].get(name, 0.0)) for name in FEATURES)
    return CoveredModel(weights, stored["bias"], stored["held_from"], tuple(stored["scale"]))


def covered(said: PreparedStatement) -> Covered:
    """What the features of a sentence come to."""
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
"""Words of a sentence of which one that no source has is as good as all."""
SHORT = 5
"""Words that tell something of a sentence that is not decided by its words alone: of fewer each small word counts."""
_VETOED = {name: FEATURES.index(name) for name in VETOES}
