"""Relevance separates answers to the question from answers to another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grounding.errors import ServiceUnavailable
from grounding.ports import Vectors
from grounding.text import terms
from rai.embedded.relevance import EmbeddedRelevance

THRESHOLD = 0.3
PAIRS = [
    ("Is there parking at the hotel?", "Yes, the hotel has free parking."),
    ("What time is check-in?", "Check-in time is 3 PM."),
    ("Are pets allowed?", "Pets are not allowed here."),
    ("How much does the Pro plan cost?", "The Pro plan costs $29 a month."),
    ("How do I reset my password?", "Open the settings and choose to reset the password."),
]


class BagOfWords:
    """Embedder whose vectors are hashed word counts: near for shared words, as a model's are for shared meaning."""

    fingerprint = "bag-of-words"
    width = 512

    async def embed(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), 512), np.float32)
        for i, text in enumerate(texts):
            for term in terms(text):
                rows[i, sum(map(ord, term)) * 31 % 512] += 1.0
        lengths = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
        return np.asarray(rows / lengths, np.float32)


class Broken:
    """Embedder that is down."""

    fingerprint = "broken"
    width = 512

    async def embed(self, texts: Sequence[str]) -> Vectors:
        raise ServiceUnavailable("embedder", "refused")


SCORERS = [EmbeddedRelevance(), EmbeddedRelevance(BagOfWords()), EmbeddedRelevance(Broken())]


@pytest.mark.row("4-22")
@pytest.mark.parametrize("scorer", SCORERS, ids=["words", "vectors", "broken"])
@pytest.mark.parametrize("i", range(len(PAIRS)))
async def test_right_answers_pass_and_others_fall(scorer: EmbeddedRelevance, i: int) -> None:
    """0.3 keeps the answer to the question and refuses the answer to the next one."""
    question, answer = PAIRS[i]
    assert await scorer.relevance(question, answer) >= THRESHOLD
    assert await scorer.relevance(question, PAIRS[(i + 1) % len(PAIRS)][1]) < THRESHOLD


async def test_a_failing_embedder_means_words_alone() -> None:
    """The score is that of no embedder at all."""
    assert await SCORERS[2].relevance(*PAIRS[0]) == await SCORERS[0].relevance(*PAIRS[0])


async def test_empty_answer_is_irrelevant() -> None:
    """An answer that only asks back answers nothing."""
    assert await SCORERS[0].relevance("Are pets allowed?", "Would you like to book?") == 0.0


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=40), st.text(max_size=40))
async def test_relevance_is_in_range(question: str, answer: str) -> None:
    """Any two texts have a score in [0, 1]."""
    assert 0.0 <= await SCORERS[1].relevance(question, answer) <= 1.0
