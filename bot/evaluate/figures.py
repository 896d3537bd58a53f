"""What the page plots, as plain numbers: curves, counts and parts of a set."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bot.evaluate.bootstrap import interval
from bot.evaluate.plots import Bar
from bot.evaluate.questions import Question, Sought

DEEPEST = 50
RANKS = ((1, 1), (2, 2), (3, 3), (4, 5), (6, 10), (11, 20), (21, 50))
MOST_TAGS = 16
Rank = Callable[[Sought], int | None]


def here(sought: Sought) -> int | None:
    """Rank in this run."""
    return sought.rank


def plain(sought: Sought) -> int | None:
    """Rank by the baseline."""
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
    """The figure of each part of the set that a tag names, with its interval, the largest parts first; none for a single tag."""
    tags = list(dict.fromkeys(tag for q in questions for tag in q.tags))
    bars = []
    for tag in tags if len(tags) > 1 else ():
        span = interval([q.metrics[metric] for q in questions if tag in q.tags and metric in q.metrics])
        if span is not None:
            bars.append(Bar(tag, span.mean, span.low, span.high, span.n))
    return sorted(bars, key=lambda bar: -bar.n)[:MOST_TAGS]


def _column(first: int | None) -> int:
    if first is None:
        return len(RANKS)
    return next((i for i, (low, high) in enumerate(RANKS) if low <= first <= high), len(RANKS))
