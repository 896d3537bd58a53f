"""The relevance of an answer to its question: meaning by cosine, words and kinds of value by rule, on one calibrated scale."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from grounding.errors import ServiceError, StoreError
from grounding.ports import Embedder
from rai.embedded.relevance_features import (
    FEATURES,
    MEANING,
    RelatedQuestion,
    apart,
    brief_answer,
    read_question,
    told_sentences,
    word_features,
)

MODEL = Path(__file__).with_name("relevance.json")
"""Coefficients and where they come from; written by `tools/fit_relevance.py`."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A logistic regression over `FEATURES`; one that has no weight counts nothing."""

    weights: Mapping[str, float]
    bias: float

    def score(self, values: Mapping[str, float]) -> float:
        """The chance, in (0, 1), that an answer of these features belongs to its question, where as many do as in service."""
        x = self.bias + sum(weight * values[name] for name, weight in self.weights.items())
        return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, x))))


class EmbeddedRelevance:
    """A `rai.ports.AnswerScorer` by the vectors of an embedder and by words; by words alone if there is no embedder or it fails.

    Calibrated so that 0.3, the policies' threshold, refuses at most 1 % of the right answers it was fitted on; by words
    alone it refuses one in ten of them, those that say nothing of the question in its own words or a synonym.
    """

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder

    async def relevance(self, question: str, answer: str) -> float:
        """The relevance of `answer`, in [0, 1]; higher is better. One that tells nothing scores 0, one of a few words is judged by its kind alone."""
        asked = read_question(question)
        brief = brief_answer(asked, answer)
        if brief is not None:
            return brief
        values = await self.features(asked, answer)
        return round(scales()["meaning" if "near" in values else "words"].score(values), 4)

    async def features(self, asked: RelatedQuestion, answer: str) -> dict[str, float]:
        """The features of an answer by name; without those of meaning if no embedder answers."""
        told = told_sentences(answer)
        by_words = dict(zip(FEATURES[MEANING:], word_features(asked, answer, told), strict=True))
        by_meaning = await self._meaning(asked, told)
        return by_words if by_meaning is None else by_words | dict(zip(FEATURES[:MEANING], by_meaning, strict=True))

    async def _meaning(self, asked: RelatedQuestion, told: Sequence[str]) -> list[float] | None:
        if self._embedder is None:
            return None
        parts, answers = list(dict.fromkeys([asked.text, *asked.parts])), list(dict.fromkeys([" ".join(told), *told]))
        texts = [*parts, *answers, *apart(asked, parts), *apart(asked, answers)]
        try:
            vectors = await self._embedder.embed(texts)
        except (ServiceError, StoreError):
            return None
        return await asyncio.to_thread(_cosines, np.asarray(vectors), len(parts), len(answers))


def _cosines(vectors: np.ndarray[tuple[int, int], np.dtype[np.float32]], parts: int, answers: int) -> list[float]:
    whole = parts + answers
    named = vectors[:parts] @ vectors[parts:whole].T
    unnamed = vectors[whole : whole + parts] @ vectors[whole + parts :].T
    each = named[0, 1:] if answers > 1 else named[0]
    return [float(named.max()), float(named[0, 0]), float(unnamed.max()), float(each.mean())]


@lru_cache(maxsize=1)
def scales() -> dict[str, Scale]:
    """The two fitted scales: `meaning`, for where vectors are at hand, and `words`, for where they are not."""
    stored = json.loads(MODEL.read_text("utf-8"))
    return {name: Scale(stored[name]["weights"], stored[name]["bias"]) for name in ("meaning", "words")}
