"""Error analysis: the questions that scored worst, or were answered or refused wrongly, each with the conversation, its query marked in it, and what was found beside what was sought."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from bot.evaluate.glossary import name_of
from bot.evaluate.questions import Hit, Question, Sought
from bot.view.markup import Mark, Segment, segments
from grounding.records import Sentence

TURNS = 8
HITS = 5
_SUMMARY = 160
_WORD = re.compile(r"[a-z0-9]+")
_PERFECT = 1 - 1e-9


@dataclass(frozen=True, slots=True)
class SaidTurn:
    """A turn; segments with a key became part of the query."""

    number: int
    role: str
    pieces: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """A question as the page lists it, folded to its last turn (`asked`) and one line that says what went wrong."""

    anchor: str
    question: Question
    asked: str
    value: str
    tone: str
    line: str
    earlier: int
    turns: tuple[SaidTurn, ...]
    sentences: tuple[Sentence, ...]
    sought: tuple[Sought, ...]
    hits: tuple[Hit, ...]
    missing: tuple[str, ...]
    extra: tuple[str, ...]


def worst_first(questions: Sequence[Question], metric: str) -> list[Question]:
    """Questions whose figure is below 1, lowest first.

    Of equals first the severest, then those whose first right document stands lowest or was not found at all, then those with most reasons,
    then in the order given.
    """
    below = [q for q in questions if q.metrics.get(metric, 1.0) < _PERFECT]
    return sorted(below, key=lambda q: (q.metrics[metric], -q.severity, -_depth(q), -len(q.why)))


def answered_though_absent(questions: Sequence[Question]) -> list[Question]:
    """Questions that were answered from passages that cannot hold the answer, the surest first."""
    found = [q for q in questions if q.where == "absent" and q.answered]
    return sorted(found, key=lambda q: -best_grade(q))


def refused_though_present(questions: Sequence[Question]) -> list[Question]:
    """Questions for which nothing was kept although the answer is there, the nearest to the threshold first."""
    found = [q for q in questions if q.where == "present" and q.answered is False]
    return sorted(found, key=lambda q: -best_grade(q))


def best_grade(question: Question) -> float:
    """The best grade among the passages shown, 0 without any."""
    return max((hit.grade for hit in question.hits if hit.grade is not None), default=0.0)


def item_of(anchor: str, question: Question, main: str) -> Item:
    """The view of one question; `main` is the figure it is ranked by."""
    missing, extra = words_apart(question.query.text, question.wanted) if question.wanted else ([], [])
    last = " ".join(question.turns[-1].text.split()) if question.turns else ""
    begin = max(0, len(question.turns) - TURNS)
    value = question.metrics.get(main)
    return Item(
        anchor=anchor,
        question=question,
        asked=last if len(last) <= _SUMMARY else last[: _SUMMARY - 1] + "…",
        value="" if value is None or main == "right" else f"{name_of(main)} {value:.2f}",
        tone="bad" if value is None or value < 0.5 else "doubt",
        line=_line(question),
        earlier=begin,
        turns=tuple(_said(question, number) for number in range(begin, len(question.turns))),
        sentences=question.query.sentences,
        sought=question.sought,
        hits=question.hits[:HITS],
        missing=tuple(missing),
        extra=tuple(extra),
    )


def words_apart(have: str, want: str) -> tuple[list[str], list[str]]:
    """Words of `want` that `have` lacks, and words of `have` that `want` has not; each once, in order."""
    mine, theirs = ([*dict.fromkeys(_WORD.findall(text.lower()))] for text in (have, want))
    return [w for w in theirs if w not in mine], [w for w in mine if w not in theirs]


def _depth(question: Question) -> float:
    return math.inf if question.first_rank is None else float(question.first_rank)


def _said(question: Question, number: int) -> SaidTurn:
    turn = question.turns[number]
    marks = [Mark(s.start, s.end, str(i)) for i, s in enumerate(question.query.sentences) if s.turn == number]
    return SaidTurn(number + 1, turn.role, tuple(segments(turn.text, marks)))


def _line(question: Question) -> str:
    """What went wrong, in a few words."""
    if question.why:
        return "; ".join(question.why)
    if question.wanted is not None:
        return ""
    if not question.sought:
        return f"decided {question.action}" if question.action else ""
    first = question.first_rank
    found = sum(s.rank is not None for s in question.sought)
    where = f"first right document at rank {first}" if first else "no right document among 50"
    return f"{where} · {found} of {len(question.sought)} found"
