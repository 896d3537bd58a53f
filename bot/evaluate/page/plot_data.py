"""Numbers behind the charts: recall@k, ranks of the first right document, means by tag with intervals, and a reliability diagram of grades."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from bot.evaluate.page.svg import Bar
from bot.evaluate.questions import Question, Sought
from bot.evaluate.statistics.bootstrap import Interval, interval

DEEPEST = 50
RANKS = ((1, 1), (2, 2), (3, 3), (4, 5), (6, 10), (11, 20), (21, 50))
MOST_TAGS = 16
GRADES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
"""Ends of the bands of grades."""
ANSWERABLE = 2 / 3
"""Share of questions with an answer to which the shares of two sets are brought, so that they can be compared."""
Rank = Callable[[Sought], int | None]


def here(sought: Sought) -> int | None:
    """The document's rank in this run."""
    return sought.rank


def plain(sought: Sought) -> int | None:
    """The document's rank by the baseline."""
    return sought.plain_rank


def recall_curve(questions: Sequence[Question], rank: Rank, deepest: int = DEEPEST) -> list[float]:
    """Mean recall at k = 1 … `deepest` over the questions that have something to find."""
    with_sought = [q for q in questions if q.sought]
    gained = [0.0] * (deepest + 1)
    for question in with_sought:
        for sought in question.sought:
            place = rank(sought)
            if place is not None and place <= deepest:
                gained[place] += 1 / len(question.sought)
    total, curve = 0.0, []
    for step in gained[1:]:
        total += step
        curve.append(total / len(with_sought) if with_sought else 0.0)
    return curve


def rank_names() -> list[str]:
    """The names of the columns that `first_ranks` counts."""
    return [str(a) if a == b else f"{a}–{b}" for a, b in RANKS] + ["none"]


def first_ranks(questions: Sequence[Question], rank: Rank) -> list[float]:
    """How many questions have their first right document at each of `RANKS`, and how many at none."""
    counted = [0.0] * (len(RANKS) + 1)
    for question in questions:
        if question.sought:
            first = min((place for s in question.sought if (place := rank(s)) is not None), default=None)
            counted[_column(first)] += 1
    return counted


def by_tag(questions: Sequence[Question], metric: str) -> list[Bar]:
    """Mean of a figure for each tag, with its bootstrap interval, the largest parts first; none for a single tag."""
    tags = list(dict.fromkeys(tag for q in questions for tag in q.tags))
    bars = []
    for tag in tags if len(tags) > 1 else ():
        span = interval([q.metrics[metric] for q in questions if tag in q.tags and metric in q.metrics])
        if span is not None:
            bars.append(Bar(tag, span.mean, span.low, span.high, span.n))
    return sorted(bars, key=lambda bar: -bar.n)[:MOST_TAGS]


@dataclass(frozen=True, slots=True)
class Band:
    """A band of the reliability diagram: questions whose best grade lies in it. `mean`: of their grades; `present`: whose answer is there.

    `span`: the interval of the share of these; `balanced`: what the share would be if `ANSWERABLE` of all questions had an answer.
    """

    name: str
    mean: float
    n: int
    present: int
    span: Interval
    balanced: float

    @property
    def share(self) -> float:
        """Share whose answer is there."""
        return self.present / self.n


def reliability(questions: Sequence[Question]) -> list[Band]:
    """Reliability diagram: for each band of the best grade the share of questions whose answer is there (Murphy & Winkler, 1977).

    Empty unless there are questions with and without an answer.
    """
    known = [(q.grade, q.where == "present") for q in questions if q.grade is not None and q.where is not None]
    present = sum(there for _, there in known)
    if present in (0, len(known)):
        return []
    odds = ANSWERABLE / (1 - ANSWERABLE) * (len(known) - present) / present
    bands = []
    for low, high in pairwise(GRADES):
        held = [(grade, there) for grade, there in known if low <= grade < high or grade == high == GRADES[-1]]
        span = interval([float(there) for _, there in held])
        if span is not None:
            count = sum(there for _, there in held)
            weighed = odds * count
            mean = sum(grade for grade, _ in held) / len(held)
            balanced = weighed / (weighed + (len(held) - count))
            bands.append(Band(f"{low:g} to {high:g}", mean, len(held), count, span, balanced))
    return bands


def _column(first: int | None) -> int:
    if first is None:
        return len(RANKS)
    return next((i for i, (low, high) in enumerate(RANKS) if low <= first <= high), len(RANKS))
