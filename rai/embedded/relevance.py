"""How well an answer meets its question: meaning by cosine, words by overlap, on one calibrated scale."""

from __future__ import annotations

import asyncio
import math

from grounding.errors import ServiceError, StoreError
from grounding.ports import Embedder
from grounding.text import sentences, terms
from rai.statements.wording import is_question

_LIMIT = 12
"""Sentences of an answer that are compared with the question; an answer has three, a pasted page many."""

# Logistic regression (bias, cosine, overlap) on 700 pairs of DSTC9 and 29 of MTRAG-UN, both weighted alike, against the
# same answers with another's question. On those same pairs (none held out), at 0.3: 1.9 % and 0 % of right pairs fall, 13 % and 0 % of shuffled pairs stay (DSTC9
# asks the same things of many hotels); by words alone 8 % and 7 % fall, 12 % and 10 % stay.
_BOTH = (-5.71, 14.6, 4.7)
_WORDS = (-2.3, 12.7)


class EmbeddedRelevance:
    """AnswerScorer over an Embedder and words; by words alone if there is none or it fails.

    0.3 is meant to separate answers to the question from answers to other questions.
    """

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder

    async def relevance(self, question: str, answer: str) -> float:
        """In [0, 1]; higher is better. An answer without words of its own scores 0."""
        said = [s.text for s in sentences(answer) if not is_question(s.text)][:_LIMIT]
        if not said or not terms(question):
            return 0.0 if not said else 1.0
        overlap = word_overlap(question, answer)
        cosine = await self._cosine(question, said)
        if cosine is None:
            bias, weight = _WORDS
            return round(_logistic(bias + weight * overlap), 4)
        bias, by_meaning, by_words = _BOTH
        return round(_logistic(bias + by_meaning * cosine + by_words * overlap), 4)

    async def _cosine(self, question: str, said: list[str]) -> float | None:
        """The best cosine, in [-1, 1], of the question with a sentence or with the whole answer."""
        if self._embedder is None:
            return None
        try:
            vectors = await self._embedder.embed([question, " ".join(said), *said])
        except (ServiceError, StoreError):
            return None
        return float(await asyncio.to_thread((vectors[1:] @ vectors[0]).max))


def word_overlap(question: str, answer: str) -> float:
    """Share of the question's content words, stemmed, that the answer has, in [0, 1]."""
    asked = set(terms(question))
    return len(asked & set(terms(answer))) / len(asked) if asked else 0.0


def _logistic(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x))
