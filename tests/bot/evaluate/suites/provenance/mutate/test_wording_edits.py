"""Negations put in and taken out, and what is taken for a name."""

from __future__ import annotations

import random

import pytest

from bot.evaluate.suites.provenance.mutate.wording_edits import names, negated, telling
from tests.bot.evaluate.suites.provenance.mutate.supported import supported


@pytest.mark.parametrize(
    ("answer", "after"),
    [
        ("Parking is free for guests.", "Parking is not free for guests."),
        ("Parking is not free for guests.", "Parking is free for guests."),
        ("Guests don't need parking permits.", "Guests do need parking permits."),
        ("Guests cannot bring parking permits.", "Guests can bring parking permits."),
    ],
)
def test_negation(answer: str, after: str) -> None:
    base = supported(answer, answer)
    (span,) = telling(base)
    edits = [negated(base, span, random.Random(seed)) for seed in range(9)]
    assert after in {answer[: e.start] + e.now + answer[e.end :] for e in edits if e}


@pytest.mark.parametrize(
    "answer",
    [
        "Is there anything else I can help you with?",
        "Would parking be free for guests?",
        "Enjoy your stay at the hotel.",
    ],
)
def test_courtesies_and_questions_are_not_negated(answer: str) -> None:
    assert list(telling(supported(answer, answer))) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Please ask Anna Brandt about the Harbour View Hotel.", ["Anna Brandt", "Harbour View Hotel"]),
        ("The Hotel is on Monday.", []),
        ("You Can call.", []),
    ],
)
def test_names(text: str, found: list[str]) -> None:
    assert [text[a:b] for a, b, _ in names(text)] == found
