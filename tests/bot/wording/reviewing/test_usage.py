"""What a turn took, in one line."""

from __future__ import annotations

import pytest

from bot.wording.reviewing.usage import price_words, usage_words

CHAT = {"calls": 2, "prompt_tokens": 1830, "completion_tokens": 240}


@pytest.mark.parametrize(
    ("usage", "line"),
    [
        ({}, ""),
        (CHAT, "2 calls of a model, 1,830 tokens in, 240 out"),
        (
            {**CHAT, "calls": 1, "reasoning_tokens": 128},
            "1 call of a model, 1,830 tokens in, 240 out (128 of them thought)",
        ),
        ({**CHAT, "calls": 1, "cached_tokens": 1024}, "1 call of a model, 1,830 tokens in (1,024 cached), 240 out"),
        (
            {**CHAT, "embedding_tokens": 12, "cost": "0.00041", "currency": "EUR"},
            "2 calls of a model, 1,830 tokens in, 240 out, 12 embedded, 0.00041 EUR",
        ),
        (
            {
                "calls": 0,
                "prompt_tokens": 0,
                "completion_tokens": 0,
                "embedding_tokens": 12,
                "cost": "0.00000024",
                "currency": "USD",
            },
            "12 tokens embedded, 0.00000024 USD",
        ),
        (
            {**CHAT, "uncounted_calls": 1, "cost": "0.0004", "currency": "USD"},
            "2 calls of a model, 1,830 tokens in, 240 out, 1 not counted by the service, at least 0.0004 USD",
        ),
        ({"calls": "many", "cost": None}, ""),
    ],
)
def test_the_line(usage: dict[str, object], line: str) -> None:
    assert usage_words(usage) == line


def test_the_prices() -> None:
    prices = {"input": "2.5", "cached_input": None, "output": "10", "embedding": "0.02", "currency": "USD"}
    assert price_words(prices) == "2.5 USD a million tokens in, 10 out, 0.02 embedded"
    assert price_words({**prices, "cached_input": "1.25"}).startswith("2.5 USD a million tokens in, 1.25 cached, ")
    assert price_words({}) == ""
