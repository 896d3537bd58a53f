"""Knowing when not to answer: answered though nothing is there, refused though something is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.commands import fields
from bot.evaluate import metrics
from bot.evaluate.bench import Row
from bot.evaluate.questions import Question, Where, misjudged
from bot.system import System
from grounding.correct import Decision, decide
from grounding.policy import Policy
from grounding.query import without_names
from grounding.records import Access, Action, Grading, Passage, Query

_WHERE: Mapping[str, Where | None] = {"ANSWERABLE": "present", "PARTIAL": "present", "UNANSWERABLE": "absent"}
"""Kinds of MTRAG-UN that say where the answer is; a conversational or underspecified turn says nothing of it."""

_ORDER: Mapping[Where | None, int] = {"present": 0, None: 1, "absent": 2}


@dataclass(frozen=True, slots=True)
class Judged:
    """What the corrective step decided over the passages of one query. `answered`: something was kept to answer from."""

    decision: Decision
    grading: Grading
    answered: bool


def kind_of(row: Row, relevant: Sequence[str]) -> tuple[str | None, Where | None]:
    """The row's `answerability` in its own word, and where the answer is; without it, what `relevant` says. Raises InputError."""
    given = row.get("answerability")
    names = (given,) if isinstance(given, str) else fields.texts(row, "answerability")
    if names:
        return names[0].upper(), _WHERE.get(names[0].upper())
    if "relevant" not in row:
        return None, None
    return None, "present" if relevant else "absent"


async def judged(system: System, query: Query, access: Access, found: Sequence[Passage]) -> Judged:
    """As a turn decides: over the best `grade_k` passages that are not screened, and once more without the names of earlier turns."""
    policy = system.settings.policies[system.settings.policy]
    first = await _judge(system, query.text, found, policy)
    alone = without_names(query)
    if first.decision.action is not Action.INCORRECT or not query.entities or not alone.text or access.product:
        return first
    again = await system.retriever.retrieve(alone, access, policy.retrieve_k)
    second = await _judge(system, alone.text, again.passages, policy)
    return first if second.decision.action is Action.INCORRECT else second


async def _judge(system: System, text: str, found: Sequence[Passage], policy: Policy) -> Judged:
    passages = [p for p in found[: policy.retrieve_k] if not p.screened][: policy.grade_k]
    grading = await system.grader.grade(text, passages)
    decision = decide(grading, policy)
    kept = set(decision.kept)
    return Judged(decision, grading, any(p.chunk_id in kept and not p.internal for p in passages))


def measures(questions: Sequence[Question]) -> dict[str, float]:
    """Both rates with the number of questions that each is over; nothing where nothing was decided."""
    wrong = misjudged(questions)
    absent, present = wrong["answered_though_absent"], wrong["refused_though_present"]
    return metrics.defined(
        answered_though_absent=metrics.mean(absent),
        absent_n=float(len(absent)) if absent else None,
        refused_though_present=metrics.mean(present),
        present_n=float(len(present)) if present else None,
    )


def confusion(questions: Sequence[Question]) -> dict[str, Counter[str]]:
    """Of each kind of question, how many met each action; kinds whose answer is there first, those whose answer is not last."""
    counted: dict[str, Counter[str]] = {}
    for question in sorted(questions, key=lambda q: _ORDER[q.where]):
        if question.action is not None:
            kind = question.kind or (f"answer {question.where}" if question.where else "not said")
            counted.setdefault(kind, Counter())[question.action] += 1
    return counted
