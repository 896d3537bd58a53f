"""Sets of questions for `retrieval`: the files that a folder holds, the knowledge base that each is asked of, and warnings about them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bot.evaluate.bench import Bench
from bot.evaluate.questions import Question
from bot.system import System

OWN_QUESTIONS = "questions.jsonl"
_NAMED = 5
"""Ids that a warning spells out."""


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """A file of questions. `corpus`: what they are asked of; None is the knowledge base that is there."""

    name: str
    path: Path
    corpus: Path | None


def question_sets(data: Path) -> list[QuestionSet]:
    """The sets of a folder: retrieval/NAME/queries.jsonl with or without a corpus.jsonl beside it, then questions.jsonl of the folder itself."""
    found = []
    for path in sorted((data / "retrieval").glob("*/queries.jsonl")):
        corpus = path.parent / "corpus.jsonl"
        found.append(QuestionSet(path.parent.name, path, corpus if corpus.is_file() else None))
    own = data / OWN_QUESTIONS
    return [*found, QuestionSet(own.stem, own, None)] if own.is_file() else found


def folders_with_corpus(data: Path) -> list[Path]:
    """The folders retrieval/NAME that hold both queries.jsonl and corpus.jsonl, by name."""
    return [found.path.parent for found in question_sets(data) if found.corpus]


@asynccontextmanager
async def asked_of(bench: Bench, questions: QuestionSet) -> AsyncIterator[System]:
    """The system that the set is asked of: over its corpus, in a temporary home, or the one that is there."""
    if questions.corpus is None:
        yield bench.system
        return
    async with bench.fresh(questions.corpus) as system:
        yield system


def notes_of(questions: QuestionSet, asked: Sequence[Question], held: int) -> tuple[str, ...]:
    """What the person who made the set should know: what it was asked of, and what can never be found."""
    notes = []
    if questions.corpus is None:
        notes.append(
            f"{questions.name}: no corpus.jsonl beside {questions.path}: asked of the knowledge base that is there, {held} documents"
        )
    if questions.corpus is None and not held:
        notes.append(f"{questions.name}: the knowledge base is empty; fill it with `attest ingest` first")
    unknown = list(dict.fromkeys(s.doc_id for q in asked for s in q.sought if not s.known))
    if unknown:
        count = sum(any(not s.known for s in q.sought) for q in asked)
        more = f" and {len(unknown) - _NAMED} more" if len(unknown) > _NAMED else ""
        notes.append(
            f"{questions.name}: {count} of {len(asked)} questions name {len(unknown)} doc_ids in 'relevant' that are not in the "
            f"knowledge base and can never be found: {', '.join(unknown[:_NAMED])}{more}"
        )
    return tuple(notes)
