"""Questions that somebody tells instead of asking them."""

from __future__ import annotations

import pytest

from grounding.query.indirect import asked_directly


@pytest.mark.parametrize(
    ("told", "asked"),
    [
        ("my customer wants to cancel Watch Plus", "how to cancel Watch Plus"),
        ("I need to reset a Wren X1.", "how to reset a Wren X1"),
        ("he wants to pay by invoice", "how to pay by invoice"),
        ("customer wants to know how long refunds take", "how long refunds take"),
        ("Customer asks: can he use PayPal?", "can he use PayPal?"),
        ("hi, she is asking when you open", "when you open"),
        ("kunde möchte watch plus kündigen", "wie kann man watch plus kündigen"),
        ("der Kunde fragt, ob er bar zahlen kann", "ob er bar zahlen kann"),
    ],
)
def test_what_somebody_wants_is_asked(told: str, asked: str) -> None:
    assert asked_directly(told) == asked


@pytest.mark.parametrize(
    "question",
    [
        "",
        "How long do refunds take?",
        "she wants to cancel 2 of her 4 nights, what exactly does she click",
        "customer wants a refund",
        "she wants to speak to a manager",
        "new customer wants view plus monthly, how many euros",
        "he wants to swap it. allowed?",
        "she wants to cancel " + "and cancel " * 20,
        "what does a customer want to know first",
    ],
)
def test_what_asks_by_itself_or_wants_no_steps_stays(question: str) -> None:
    assert asked_directly(question) == question
