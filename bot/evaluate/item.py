"""One question as the page shows it: the conversation with what became the query marked, and what was found beside what was sought."""

from __future__ import annotations

from dataclasses import dataclass

from bot.evaluate.questions import Hit, Question, Sought
from bot.evaluate.wording import name_of
from bot.evaluate.worst import words_apart
from bot.view.markup import Mark, Segment, segments
from grounding.records import Sentence

TURNS = 8
HITS = 5
_SUMMARY = 160


@dataclass(frozen=True, slots=True)
class SaidTurn:
    """A turn; segments with a key became part of the query."""

    number: int
    role: str
    pieces: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """A question, folded to its last turn (`asked`) and one line that says what went wrong."""

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
