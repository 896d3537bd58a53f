"""The embedded grader: words and meaning of question and passage, calibrated to a score in [0, 1].

A logistic of three explained features. The coefficients are fitted by `tools/fit_grader.py` on public development data with
a part kept aside; its figures stand in docs/decisions/0006-grader.md.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence

from grounding.embedded.store import embedding_text
from grounding.grade import Match, binary_of, label_of, match, weights
from grounding.ports import Embedder
from grounding.records import Grade, Grading, Passage
from grounding.text import terms

INTERCEPT, BY_MEANING, BY_WHOLE, BY_SENTENCE = -5.41, 10.55, -0.39, 0.73
LEXICAL_INTERCEPT, LEXICAL_WHOLE, LEXICAL_SENTENCE = -1.07, 1.29, 0.24


class EmbeddedGrader:
    """Grader over words and, when there is an embedder, cosine to the question."""

    name = "embedded"

    def __init__(self, embedder: Embedder | None) -> None:
        self._embedder = embedder

    async def grade(self, question: str, passages: Sequence[Passage]) -> Grading:
        """One grade per passage, same order."""
        cosines = await self._cosines(question, passages)
        grades = await asyncio.to_thread(_grades, question, passages, cosines)
        return Grading("graded", grades)

    async def _cosines(self, question: str, passages: Sequence[Passage]) -> list[float | None]:
        known = [p.semantic for p in passages]
        missing = [i for i, c in enumerate(known) if c is None]
        if self._embedder is None or not missing:
            return known
        vectors = await self._embedder.embed(
            [question, *(embedding_text(passages[i].title, passages[i].text) for i in missing)]
        )
        for row, i in enumerate(missing, 1):
            known[i] = float(vectors[row] @ vectors[0])
        return known


def features(question: str, passages: Sequence[Passage]) -> list[Match]:
    """The lexical features of each passage for this question."""
    asked = terms(question)
    texts = [frozenset(terms(p.title)) | frozenset(terms(p.text)) for p in passages]
    idf = weights(asked, texts)
    return [match(asked, p, idf) for p in passages]


def score(found: Match, cosine: float | None) -> float:
    """Probability that the passage answers the question, by the fitted logistic."""
    if cosine is None:
        z = LEXICAL_INTERCEPT + LEXICAL_WHOLE * found.whole + LEXICAL_SENTENCE * found.sentence
    else:
        z = INTERCEPT + BY_MEANING * max(0.0, cosine) + BY_WHOLE * found.whole + BY_SENTENCE * found.sentence
    return 1 / (1 + math.exp(-z))


def _grades(question: str, passages: Sequence[Passage], cosines: Sequence[float | None]) -> tuple[Grade, ...]:
    out = []
    for passage, found, cosine in zip(passages, features(question, passages), cosines, strict=True):
        value = round(score(found, cosine), 4)
        near = "no vector" if cosine is None else f"meaning {cosine:.2f}"
        lacks = f"; lacks {', '.join(found.missing[:4])}" if found.missing else ""
        why = f"{near}, holds {found.whole:.0%} of the question's terms, {found.sentence:.0%} in one sentence{lacks}"
        out.append(Grade(passage.chunk_id, value, label_of(value), binary_of(value), found.extract, why))
    return tuple(out)
