"""Relevance of an answer to its question: error rates, AUROC and calibration over right and wrong pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bot.evaluate.bench import Bench
from bot.evaluate.results import SetResult
from bot.evaluate.rows import spread
from bot.evaluate.statistics import metrics
from bot.evaluate.suites.provenance.answer_pairs import Pair, answer_pairs
from bot.system import CheckRequest
from rai.records import Report

RIGHT_TO_WRONG = 7.64
"""Right answers for each wrong one on the scale of the score: `odds` of `rai/embedded/relevance.json`."""


@dataclass(frozen=True, slots=True)
class _Scored:
    pair: Pair
    relevance: float
    refused: bool


async def relevance(bench: Bench) -> list[SetResult]:
    """Right pairs refused, wrong ones let through, AUROC and calibration: of all pairs, of each set, and of what is kept aside.

    Empty where the folder has nothing to make pairs of, or the system does not judge relevance.
    """
    scored = []
    for pair in bench.track("relevance", spread(list(answer_pairs(bench.data)), bench.limit)):
        report = await bench.system.check(CheckRequest(answer=pair.answer, sources=(), question=pair.question))
        if report.relevance is None:
            return []
        scored.append(_Scored(pair, report.relevance, _refused(report)))
    return list(_sets(scored)) if scored else []


def _refused(report: Report) -> bool:
    """By the layer alone: a report on an answer without sources is decided by other layers."""
    return any(layer.name == "relevance" and layer.verdict == "irrelevant" for layer in report.layers)


def _sets(scored: Sequence[_Scored]) -> Iterator[SetResult]:
    for name in (None, *dict.fromkeys(s.pair.name for s in scored)):
        for aside in (False, True):
            mine = [s for s in scored if name in (None, s.pair.name) and (s.pair.aside or not aside)]
            title = "relevance" + (f":{name}" if name else "") + (":kept_aside" if aside else "")
            if mine:
                yield _measure(title, mine)


def _measure(name: str, scored: Sequence[_Scored]) -> SetResult:
    of = {truth: [s for s in scored if s.pair.truth == truth] for truth in ("right", "random", "hard")}
    scores = {truth: [s.relevance for s in rows] for truth, rows in of.items()}
    truths = [s.pair.truth == "right" for s in scored]
    wrong = len(truths) - sum(truths)
    weights = [RIGHT_TO_WRONG * wrong / sum(truths) if true else 1.0 for true in truths] if any(truths) else None
    given = [s.relevance for s in scored]
    measured = metrics.defined(
        right_refused=metrics.share([s.refused for s in of["right"]]),
        random_let_through=metrics.share([not s.refused for s in of["random"]]),
        hard_let_through=metrics.share([not s.refused for s in of["hard"]]),
        auroc=metrics.auroc(scores["right"], scores["random"] + scores["hard"]),
        auroc_random=metrics.auroc(scores["right"], scores["random"]),
        auroc_hard=metrics.auroc(scores["right"], scores["hard"]),
        ece=metrics.expected_calibration_error(given, truths, weights),
        brier=metrics.brier(given, truths, weights),
    )
    return SetResult(name, len(scored), measured)
