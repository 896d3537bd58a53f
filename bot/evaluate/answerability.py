"""Error rates of answering unanswerable questions and of refusing answerable ones, with balanced accuracy, and the confusion table behind them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from bot.evaluate.questions import Question, Where
from bot.evaluate.statistics import metrics

_ORDER: Mapping[Where | None, int] = {"present": 0, None: 1, "absent": 2}


def misjudged(questions: Sequence[Question]) -> dict[str, list[float]]:
    """Both kinds of error, question by question: 1 where it was answered though its answer is absent, or refused though it is present, else 0.

    Each list is over the questions of which it is known where the answer is and whether they were answered.
    """
    known = [q for q in questions if q.answered is not None]
    return {
        "answered_though_absent": [float(bool(q.answered)) for q in known if q.where == "absent"],
        "refused_though_present": [float(not q.answered) for q in known if q.where == "present"],
    }


def measures(questions: Sequence[Question]) -> dict[str, float]:
    """Rates of both errors in [0, 1], the number of questions that each is over (`absent_n`, `present_n`), and balanced accuracy.

    What no question tells is left out; balanced accuracy needs questions of both kinds.
    """
    wrong = misjudged(questions)
    absent, present = wrong["answered_though_absent"], wrong["refused_though_present"]
    refused = metrics.mean(present)
    return metrics.defined(
        balanced_accuracy=metrics.balanced_accuracy(None if refused is None else 1 - refused, metrics.mean(absent)),
        answered_though_absent=metrics.mean(absent),
        absent_n=float(len(absent)) if absent else None,
        refused_though_present=refused,
        present_n=float(len(present)) if present else None,
    )


def confusion(questions: Sequence[Question]) -> dict[str, Counter[str]]:
    """Confusion table: for each kind of question a count of the actions that it met. Kinds whose answer is there first, those whose answer is not last."""
    counted: dict[str, Counter[str]] = {}
    for question in sorted(questions, key=lambda q: _ORDER[q.where]):
        if question.action is not None:
            kind = question.kind or (f"answer {question.where}" if question.where else "not said")
            counted.setdefault(kind, Counter())[question.action] += 1
    return counted
