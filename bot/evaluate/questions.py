"""Records of one evaluated question: conversation, query, figures, relevant documents with their ranks, and documents that were found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from grounding.records import Query, Turn

Where = Literal["present", "absent"]


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that was found, by its best passage. `grade` in [0, 1] where the grader was asked; `cited` and `shown` (in the prompt) in a whole turn."""

    rank: int
    doc_id: str
    title: str
    text: str
    relevant: bool
    score: float
    bm25: float | None = None
    semantic: float | None = None
    grade: float | None = None
    cited: bool = False
    shown: bool = False


@dataclass(frozen=True, slots=True)
class Sought:
    """A document that should be found. `rank` counts documents from 1; None: not among those looked at.

    `plain_rank` is its rank by the baseline; `known` is False where the knowledge base has no such document; `cited` says
    whether the answer of a whole turn rests on it.
    """

    doc_id: str
    title: str
    text: str
    rank: int | None
    plain_rank: int | None = None
    known: bool = True
    cited: bool | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A row with its figures. `plain`: the same figures for the baseline, where there is one.

    `kind` is the row's own word for whether it can be answered, `where` what follows from it; `action` is the corrective
    decision and `answered` whether anything was kept to answer from, or for a whole turn whether an answer was given. `grade`
    is the best grade, in [0, 1]. `severity`: of two that are equally wrong, the higher is looked at first.
    """

    id: str
    turns: tuple[Turn, ...]
    query: Query
    metrics: dict[str, float]
    plain: dict[str, float] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    sought: tuple[Sought, ...] = ()
    hits: tuple[Hit, ...] = ()
    kind: str | None = None
    where: Where | None = None
    action: str | None = None
    answered: bool | None = None
    grade: float | None = None
    wanted: str | None = None
    answer: str | None = None
    why: tuple[str, ...] = ()
    severity: int = 0

    @property
    def first_rank(self) -> int | None:
        """Rank of the first document that should be found."""
        return min((s.rank for s in self.sought if s.rank is not None), default=None)

    def as_json(self) -> dict[str, Any]:
        """What a later run is compared with: figures without any text of the question."""
        parts = {
            "plain": self.plain,
            "kind": self.kind,
            "where": self.where,
            "action": self.action,
            "answered": self.answered,
            "grade": self.grade,
        }
        return {"id": self.id, "metrics": self.metrics} | {k: v for k, v in parts.items() if v not in (None, {})}


def average(questions: Sequence[Question], metric: str) -> float | None:
    """Mean of a figure over the questions that have it."""
    values = [q.metrics[metric] for q in questions if metric in q.metrics]
    return sum(values) / len(values) if values else None


def metric_names(questions: Sequence[Question]) -> list[str]:
    """Every figure that occurs, in order of appearance."""
    return list(dict.fromkeys(name for q in questions for name in q.metrics))
