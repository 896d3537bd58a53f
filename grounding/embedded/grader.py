"""Embedded grader: relevance of a passage from words, names, kind of value and meaning, calibrated to a score in [0, 1].

A sentence is scored by a logistic regression over six explained features (`tools/fit_grader.py`), a passage by its best sentence and by
nearness (`tools/fit_enough.py`), each with a part kept aside; figures stand in docs/decisions/0006-grader.md and
0010-grade-in-two-steps.md. Vectors of sentences are kept by the embedder, so a warm turn embeds the question alone.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import replace

from grounding.grading.features import (
    QuestionTerms,
    SentenceCandidate,
    binary_of,
    candidates,
    label_of,
    lacks,
    place_score,
    read_question,
)
from grounding.ports import Embedder
from grounding.query.conversation import focus
from grounding.records import Grade, Grading, Passage, Span
from grounding.store.chunks import embedding_text

LOOKED_AT = 24
"""Sentences of all passages whose meaning is looked at: those that score best by words. The rest take their passage's."""

INTERCEPT, COEFFICIENTS = -7.98, (2.64, 6.04, 0.87, 4.41, 0.41, -1.06)
WORDS_INTERCEPT, WORDS_COEFFICIENTS = -7.41, (6.33, 0.94, 5.17, 0.48, -0.98)
"""Of `feature_row`, and of it without the meaning of the sentence, for a search by words only."""
BELIEVED, NEARNESS, ALONE = 0.96, 4.5, -2.85
"""What the grade of a passage is made of: the log odds of its best sentence, how near in meaning sentence or passage is, a constant.
Words and rank tell the sample's questions apart, meaning tells those over long prose; see docs/decisions/0010-grade-in-two-steps.md.
"""
STRANGE_AT_MOST = 0.39


class EmbeddedGrader:
    """Grader over words and, when there is an embedder, over cosines."""

    name = "embedded"

    def __init__(self, embedder: Embedder | None, *, own: bool = True) -> None:
        """`own`: the passages' cosines are this embedder's; else they are computed anew, for the fit holds for one model."""
        self._embedder = embedder
        self._own = own

    async def grade(self, question: str, passages: Sequence[Passage]) -> Grading:
        """One grade per passage, same order: that of its best sentence, which is the extract."""
        if not self._own:
            passages = await told_anew(self._embedder, question, passages)
        asked, found = await asyncio.to_thread(shortlist, question, passages)
        near = await meanings(self._embedder, question, found, passages)
        scored = [(score(c, near_c, passages[c.passage]), c, near_c) for c, near_c in zip(found, near, strict=True)]
        return Grading(
            "graded",
            tuple(
                _grade(asked, passage, [s for s in scored if s[1].passage == i]) for i, passage in enumerate(passages)
            ),
        )


async def told_anew(embedder: Embedder | None, question: str, passages: Sequence[Passage]) -> list[Passage]:
    """The passages with cosines of this embedder in place of another's; with None where there is no embedder."""
    near = [i for i, p in enumerate(passages) if p.semantic is not None]
    retold = [replace(p, semantic=None) for p in passages]
    if embedder is not None and near:
        texts = [embedding_text(passages[i].title, passages[i].text) for i in near]
        vectors = await embedder.embed([focus(question), *texts])
        for i, cosine in zip(near, vectors[1:] @ vectors[0], strict=True):
            retold[i] = replace(retold[i], semantic=float(cosine))
    return retold


def shortlist(question: str, passages: Sequence[Passage]) -> tuple[QuestionTerms, list[SentenceCandidate]]:
    """The terms of the question, and all sentences of the passages that say something, as candidates."""
    asked = read_question(focus(question), passages)
    return asked, candidates(asked, passages)


async def meanings(
    embedder: Embedder | None, question: str, found: Sequence[SentenceCandidate], passages: Sequence[Passage]
) -> list[float | None]:
    """Cosine of each sentence to the question, or None without a model."""
    if embedder is None or not found:
        return [None] * len(found)
    by_words = [score(c, None, passages[c.passage]) for c in found]
    looked_at = sorted(range(len(found)), key=lambda i: (-by_words[i], i))[:LOOKED_AT]
    vectors = await embedder.embed([focus(question), *(found[i].embedded_as for i in looked_at)])
    near: list[float | None] = [passages[c.passage].semantic or 0.0 for c in found]
    for i, cosine in zip(looked_at, vectors[1:] @ vectors[0], strict=True):
        near[i] = float(cosine)
    return near


def feature_row(c: SentenceCandidate, sentence: float | None, passage: Passage) -> list[float]:
    """Six features of a candidate: cosine of the sentence, share of what is asked, kind of value, score of the passage, all names held,
    strange name.
    """
    return [
        max(0.0, sentence or 0.0),
        c.share,
        c.typed,
        place_score(passage),
        float(c.named == 1.0),
        float(c.strange),
    ]


def score(c: SentenceCandidate, sentence: float | None, passage: Passage) -> float:
    """Probability that the sentence answers the question, by the fitted logistic.

    A passage that never speaks of the model or version that the question names stays below what is kept: text about another
    one is how a right number gets into a wrong answer.
    """
    row = feature_row(c, sentence, passage)
    weights, z = (WORDS_COEFFICIENTS, WORDS_INTERCEPT) if sentence is None else (COEFFICIENTS, INTERCEPT)
    z += sum(w * x for w, x in zip(weights, row[1:] if sentence is None else row, strict=True))
    value = 1 / (1 + math.exp(-z))
    return min(value, STRANGE_AT_MOST) if c.strange else value


def enough(value: float, near: float | None) -> float:
    """Probability that a passage answers, from that of its best sentence and the nearness of the two in meaning, both in [0, 1].

    Without a model it is that of the sentence.
    """
    if near is None:
        return value
    odds = math.log(max(value, 1e-3) / max(1 - value, 1e-3))
    return 1 / (1 + math.exp(-(BELIEVED * odds + NEARNESS * near + ALONE)))


def _grade(
    asked: QuestionTerms, passage: Passage, scored: Sequence[tuple[float, SentenceCandidate, float | None]]
) -> Grade:
    if not scored:
        return Grade(passage.chunk_id, 0.0, "Awful", "no", None, "no sentence of it says anything")
    best, c, near = max(scored, key=lambda s: (s[0], -s[1].index))
    value = enough(best, None if near is None else max(0.0, near, passage.semantic or 0.0))
    if c.named == 1 and any(char.isdigit() for name in asked.named for char in name):
        # a code or a model that stands there says more than any nearness: vectors do not read codes
        value = max(value, best)
    value = round(min(value, STRANGE_AT_MOST) if c.strange else value, 4)
    missing = lacks(asked, c)[:4]
    why = f"best sentence holds {c.share:.0%} of what is asked"
    why += "" if c.named == 1 else f", {c.named:.0%} of its names"
    why += "" if asked.kind is None else f", {'a' if c.typed else 'no'} value of the kind {asked.kind.name}"
    why += f"; lacks {', '.join(missing)}" if missing else ""
    return Grade(passage.chunk_id, value, label_of(value), binary_of(value), Span(c.start, c.end, c.text), why)
