"""Evaluation metrics of ranking (nDCG, recall@k, reciprocal rank), classification (AUROC, balanced accuracy), probabilities (Brier, ECE) and overlap (ROUGE-1).

Where a measure is not defined (one class absent, nothing relevant) the function returns None; None is left out of
results rather than counted as zero.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Sequence

_WORD = re.compile(r"[a-z0-9]+")


def auroc(positives: Sequence[float], negatives: Sequence[float]) -> float | None:
    """Area under the ROC curve: the chance that a positive scores above a negative, a tie counting half.

    Computed from mid-ranks as the Mann-Whitney U statistic (Hanley and McNeil, Radiology 143, 1982). O(n log n).
    """
    if not positives or not negatives:
        return None
    scored = sorted([(score, True) for score in positives] + [(score, False) for score in negatives])
    rank_sum = 0.0
    begin = 0
    while begin < len(scored):
        end = begin
        while end < len(scored) and scored[end][0] == scored[begin][0]:
            end += 1
        middle = (begin + 1 + end) / 2
        rank_sum += middle * sum(positive for _, positive in scored[begin:end])
        begin = end
    count = len(positives)
    return (rank_sum - count * (count + 1) / 2) / (count * len(negatives))


def share(hits: Collection[bool]) -> float | None:
    """Part of `hits` that is true: recall over what should be found, false flags over what should not."""
    return sum(hits) / len(hits) if hits else None


def balanced_accuracy(recall: float | None, false_flags: float | None) -> float | None:
    """Mean of recall and of 1 - false flags (Brodersen et al., ICPR 2010)."""
    return None if recall is None or false_flags is None else (recall + 1 - false_flags) / 2


def recall_at_false_flags(positives: Sequence[float], negatives: Sequence[float], limit: float) -> float | None:
    """Best recall of any threshold on the scores whose share of flagged negatives is at most `limit`.

    A row is flagged when its score is above the threshold. This asks what the score could do, not what the decision does.
    """
    if not positives or not negatives:
        return None
    allowed = math.floor(limit * len(negatives) + 1e-9)
    threshold = sorted(negatives, reverse=True)[allowed] if allowed < len(negatives) else -math.inf
    return sum(score > threshold for score in positives) / len(positives)


def ndcg(ranked: Sequence[str], relevant: Collection[str], k: int) -> float | None:
    """Normalised discounted cumulative gain at `k` with gains 0 and 1 and discount log2(rank + 1).

    Järvelin and Kekäläinen, ACM TOIS 20(4), 2002; ids in `ranked` are distinct.
    """
    if not relevant:
        return None
    gain = sum(1 / math.log2(rank + 1) for rank, item in enumerate(ranked[:k], start=1) if item in relevant)
    best = sum(1 / math.log2(rank + 1) for rank in range(1, min(k, len(relevant)) + 1))
    return gain / best


def recall_at(ranked: Sequence[str], relevant: Collection[str], k: int) -> float | None:
    """Part of the relevant items that stand among the first `k`."""
    return len(set(ranked[:k]) & set(relevant)) / len(relevant) if relevant else None


def reciprocal_rank(ranked: Sequence[str], relevant: Collection[str]) -> float | None:
    """1 / rank of the first relevant item, 0 without one; its mean over queries is MRR (Voorhees, TREC-8, 1999)."""
    if not relevant:
        return None
    return next((1 / rank for rank, item in enumerate(ranked, start=1) if item in relevant), 0.0)


def rouge_1(candidate: str, reference: str) -> float:
    """ROUGE-1 F: harmonic mean of unigram precision and recall with clipped counts (Lin, ACL workshop, 2004).

    Words are runs of a-z and 0-9 of the lower-cased text. 0 when either text has no word.
    """
    have, want = Counter(_WORD.findall(candidate.lower())), Counter(_WORD.findall(reference.lower()))
    overlap = sum((have & want).values())
    return 2 * overlap / (have.total() + want.total()) if overlap else 0.0


def mean(values: Sequence[float]) -> float | None:
    """Arithmetic mean."""
    return math.fsum(values) / len(values) if values else None


def defined(**measures: float | None) -> dict[str, float]:
    """The measures that are defined, in the order given."""
    return {name: value for name, value in measures.items() if value is not None}


def brier(scores: Sequence[float], truths: Sequence[bool], weights: Sequence[float] | None = None) -> float | None:
    """Mean squared difference of probability and outcome (Brier, Monthly Weather Review 78(1), 1950), weighted."""
    weigh = weights or [1.0] * len(scores)
    total = math.fsum(weigh)
    loss = math.fsum(w * (s - t) ** 2 for s, t, w in zip(scores, truths, weigh, strict=True))
    return loss / total if total else None


def expected_calibration_error(
    scores: Sequence[float], truths: Sequence[bool], weights: Sequence[float] | None = None, bins: int = 10
) -> float | None:
    """Mean distance of score and share of true in `bins` equal parts of [0, 1] (Guo et al., ICML 2017), weighted."""
    weigh = weights or [1.0] * len(scores)
    gaps = [0.0] * bins
    for score, truth, weight in zip(scores, truths, weigh, strict=True):
        gaps[min(int(score * bins), bins - 1)] += weight * (score - truth)
    total = math.fsum(weigh)
    return math.fsum(abs(gap) for gap in gaps) / total if total else None
