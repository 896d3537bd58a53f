"""Fits the logistic for the relevance of an answer to its question, with a part kept aside by document.

usage: python -m tools.fit_relevance DATA [MODEL.onnx] [--aside]

Pairs come from `bot.evaluate.suites.provenance.answer_pairs`: questions with their own answers, with a random other one, and with one of the same
hotel, shop or conversation (hard). Sets weigh alike; in each, right pairs weigh one half, random and hard ones a quarter. Documents with
crc32 % 3 == 0 take no part; `--aside` reports them too. A feature whose weight would have the wrong sign, or none to speak of, is
left out, so that each one that stays can be explained. The bias is then moved so that AT is the score that FALL of the right
pairs stay below (FALL_WORDS by words alone, so that an answer which says nothing of the question falls): this is the scale of a service in which right answers are `odds` times as many as wrong ones (Saerens et al.
2002), printed with the fit. One fit has the features of meaning, one is by words alone; without MODEL.onnx only the latter is
made. Written to rai/embedded/relevance.json. Nothing is drawn anew, so a repeated run gives the same.
"""

from __future__ import annotations

import asyncio
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bot.evaluate.statistics.metrics import auroc, brier, expected_calibration_error
from bot.evaluate.suites.provenance.answer_pairs import Pair, answer_pairs
from grounding.embedded.vectors.embedder import MiniLM
from rai.embedded.relevance import MODEL, EmbeddedRelevance
from rai.embedded.relevance_features import FEATURES, MEANING, brief_answer, read_question
from tools.fitting.logistic import newton

Vector = NDArray[np.float64]
AGAINST = frozenset({"unnamed", "missing", "stray_yes", "silent", "length"})
SHARE = {"right": 0.5, "random": 0.25, "hard": 0.25}
UNFIT = {"meaning": frozenset({"silent"}), "words": frozenset({"brief", "length"})}
"""Left out. With vectors, silence: they see what the words do not. Without, brevity: a short question would meet any answer."""
AT = 0.3
FALL, FALL_WORDS = 0.01, 0.08
PENALTY = 2e-3
LEAST = 0.02
TIED = 5


@dataclass(frozen=True, slots=True)
class Table:
    """Pairs with their features, shape (n, len(FEATURES)), and the score of those judged by rule, NaN for the others, shape (n,)."""

    pairs: Sequence[Pair]
    features: Vector
    ruled: Vector

    @property
    def right(self) -> Vector:
        """1 for right pairs, else 0."""
        return np.array([float(p.truth == "right") for p in self.pairs])

    def part(self, *, aside: bool) -> Table:
        """The pairs that are kept aside, or the others."""
        mine = np.array([p.aside == aside for p in self.pairs])
        return Table([p for p in self.pairs if p.aside == aside], self.features[mine], self.ruled[mine])

    def weights(self) -> Vector:
        """Sets alike, kinds by SHARE; sum 1."""
        keys = [(p.name, p.truth) for p in self.pairs]
        names = len({p.name for p in self.pairs})
        return np.array([SHARE[key[1]] / names / keys.count(key) for key in keys])


async def table(pairs: Sequence[Pair], embedder: MiniLM | None) -> Table:
    """Features of every pair."""
    scorer = EmbeddedRelevance(embedder)
    rows, ruled = [], []
    for pair in pairs:
        asked = read_question(pair.question)
        brief = brief_answer(asked, pair.answer)
        ruled.append(math.nan if brief is None else brief)
        values = {} if brief is not None else await scorer.features(asked, pair.answer)
        rows.append([values.get(name, 0.0) for name in FEATURES])
    return Table(pairs, np.array(rows), np.array(ruled))


def logistic(x: Vector, y: Vector, weight: Vector) -> tuple[Vector, Vector, float]:
    """Penalised logistic of standardised features: weights, the same in standard deviations, bias."""
    mean, deviation = x.mean(0), x.std(0) + 1e-9
    z = np.c_[(x - mean) / deviation, np.ones(len(x))]
    penalty = np.r_[np.full(x.shape[1], PENALTY), 0.0]
    w = newton(z, y, weight, penalty, rounds=50)
    raw = w[:-1] / deviation
    return raw, w[:-1], float(w[-1] - raw @ mean)


def explained(rows: Table, names: Sequence[str]) -> tuple[dict[str, float], float]:
    """Weights by name and bias, features of a wrong sign left out one by one, the worst first."""
    free = np.isnan(rows.ruled)
    kept = list(names)
    while True:
        columns = [FEATURES.index(n) for n in kept]
        raw, standard, bias = logistic(rows.features[free][:, columns], rows.right[free], rows.weights()[free])
        wrong = {n: abs(v) for n, v in zip(kept, standard, strict=True) if (v > 0) == (n in AGAINST) or abs(v) < LEAST}
        if not wrong:
            return dict(zip(kept, map(float, raw), strict=True)), bias
        kept.remove(max(wrong, key=lambda n: wrong[n]))


def logits(rows: Table, weights: dict[str, float], bias: float) -> Vector:
    """Before the logistic; of pairs judged by rule, the logit of their score."""
    x = rows.features[:, [FEATURES.index(n) for n in weights]] @ np.array(list(weights.values())) + bias
    ruled = np.clip(rows.ruled, 1e-4, 1 - 1e-4)
    found: Vector = np.where(np.isnan(ruled), x, np.log(ruled / (1 - ruled)))
    return found


def at_share(x: Vector, weight: Vector, share: float) -> float:
    """The value that `share` of the weight stays below; where many share one value, half way to the next."""
    order = np.argsort(x)
    value = x[order][np.searchsorted(np.cumsum(weight[order]) / weight.sum(), share)]
    tied = np.isclose(x, value)
    return float(value if tied.sum() < TIED else (value + x[~tied & (x > value)].min()) / 2)


def report(title: str, rows: Table, x: Vector, odds: float) -> None:
    """Both error rates, AUROC and calibration of each set and of all."""
    print(title)
    score = 1 / (1 + np.exp(-x))
    weight = rows.weights() * np.where(rows.right == 1, odds, 1.0)
    for name in (*dict.fromkeys(p.name for p in rows.pairs), "all"):
        mine = np.array([name in (p.name, "all") for p in rows.pairs])
        by = {t: score[mine & np.array([p.truth == t for p in rows.pairs])].tolist() for t in SHARE}
        s, y, w = score[mine].tolist(), rows.right[mine].astype(bool).tolist(), weight[mine].tolist()
        ece, loss = expected_calibration_error(s, y, w), brier(s, y, w)
        print(
            f"  {name:9} right refused {np.mean(np.array(by['right']) < AT):.3f} n {len(by['right'])}"
            f"  let through: random {np.mean(np.array(by['random']) >= AT):.3f} n {len(by['random'])}"
            f"  hard {np.mean(np.array(by['hard']) >= AT):.3f} n {len(by['hard'])}"
            f"  AUROC {auroc(by['right'], by['random']):.3f} {auroc(by['right'], by['hard']):.3f}"
            f"  ECE {ece:.3f} Brier {loss:.3f}"
        )


def fitted(rows: Table, names: Sequence[str], title: str, fall: float, *, aside: bool) -> dict[str, object]:
    """Fit, move the bias, report; what is stored."""
    dev = rows.part(aside=False)
    weights, bias = explained(dev, names)
    free = np.isnan(dev.ruled)
    right = (dev.right == 1) & free
    low = at_share(logits(dev, weights, bias)[right], dev.weights()[right], fall)
    shift = math.log(AT / (1 - AT)) - low
    odds = math.exp(shift)
    print(f"{title}: right answers {odds:.2f} times as many as wrong ones; {np.sum(~free)} pairs judged by rule")
    print("  " + ", ".join(f"{n} {v:.3f}" for n, v in weights.items()))
    report(f"{title}, development", dev, logits(dev, weights, bias + shift), odds)
    if aside:
        kept = rows.part(aside=True)
        report(f"{title}, kept aside", kept, logits(kept, weights, bias + shift), odds)
    return {
        "weights": {n: round(v, 4) for n, v in weights.items()},
        "bias": round(bias + shift, 4),
        "odds": round(odds, 2),
    }


def main() -> int:
    """Fit, print, write."""
    given = [a for a in sys.argv[1:] if not a.startswith("--")]
    aside = "--aside" in sys.argv
    if len(given) not in (1, 2):
        print(__doc__, file=sys.stderr)
        return 2
    pairs = list(answer_pairs(Path(given[0])))
    stored = json.loads(MODEL.read_text("utf-8")) if MODEL.exists() else {}
    stored["from"] = "tools/fit_relevance.py over DSTC9 and DSTC11 track 5 and MTRAG-UN, development documents"
    if len(given) == 2:
        rows = asyncio.run(table(pairs, MiniLM(Path(given[1]))))
        stored["meaning"] = fitted(
            rows, [n for n in FEATURES if n not in UNFIT["meaning"]], "meaning and words", FALL, aside=aside
        )
    rows = asyncio.run(table(pairs, None))
    by_words = [name for name in FEATURES[MEANING:] if name not in UNFIT["words"]]
    stored["words"] = fitted(rows, by_words, "words alone", FALL_WORDS, aside=aside)
    MODEL.write_text(json.dumps(stored, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
