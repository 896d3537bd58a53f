"""What claims something and what only frames it."""

from __future__ import annotations

import pytest

from rai.check.phrasing.plain import substance


@pytest.mark.parametrize(
    "sentence",
    [
        "Sorry to hear that!",
        "Sorry to hear they're both under the weather!",
        "Gern!",
        "Klar!",
        "Running late?",
        "No fee?",
        "Good and bad news.",
        "Congratulations!",
        "Here's how the £9,600 splits up:",
    ],
)
def test_a_courtesy_a_lead_in_and_a_short_question_claim_nothing(sentence: str) -> None:
    assert not substance(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Sorry, the fee is $5.",
        "Sorry you cannot return it.",
        "Sorry to say that it is 5 days.",
        "Great news: it is free.",
        "Bien sûr, c'est gratuit.",
        "The fee is $5, is there more?",
        "Klar ist die Gebühr fünf Euro.",
    ],
)
def test_what_tells_after_a_courtesy_claims(sentence: str) -> None:
    assert substance(sentence)
