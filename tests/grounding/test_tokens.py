"""Counts of GPT-4o tokens, compared with counts of tiktoken's o200k_base made once with another implementation."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grounding.tokens import count_tokens, fits, splitter


@pytest.mark.row("4-09")
@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("hello world", 2),
        ("unbelievable", 3),
        ("<|endoftext|>", 7),
        ("Plan: Basic | Price: $9.00 | Data: 50 GB", 16),
        ("Rufen Sie 030 23125 480 an.\nÖffnungszeiten: 9–17 Uhr", 21),
        ("漢字かな、交じり文。", 9),
        ("Call +1 206-555-0171 or visit https://help.kestrelby.example/contact.", 22),
        ("a" * 1000, 125),
        ("x.\n\nY\n  - z\n", 8),
    ],
)
def test_counts_as_tiktoken_does(text: str, tokens: int) -> None:
    assert count_tokens(text) == tokens


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from(["a", "Foo", "don't", " ", "\n", "12345", "$9.00", ".", "/", "é", "字", "。", "😀", "--"]),
        max_size=12,
    )
)
def test_count_is_the_smallest_capacity_that_keeps_a_line_whole(parts: list[str]) -> None:
    """On one line the splitter looks at the whole text, so its own answer is exact."""
    text = "".join(parts).replace("\n", " ")
    n = count_tokens(text)
    if text.strip() and n > 1:
        assert len(splitter(n).chunks(text)) == 1
    assert n <= len(text.encode())


def test_fits_agrees_with_the_count() -> None:
    text = "The quick brown fox jumps over the lazy dog, 42 times. " * 9
    n = count_tokens(text)
    assert fits(text, n)
    assert not fits(text, n - 1)
    assert fits("=" * 500, 400)
    assert not fits("字" * 500, 400)


def test_a_run_without_a_cut_is_counted_in_slices() -> None:
    """Bisected as a whole, a ruled line of 20,000 signs took seconds, on the server's own loop. Slices cost a token here and there."""
    run = "base64" * 500
    tokens = count_tokens(run)
    assert tokens == sum(count_tokens(run[at : at + 400]) for at in range(0, len(run), 400))
    assert fits(run, tokens - 1), "the run as a whole has fewer: choose another, or the slices show nothing"
    assert 20_050 / 16 < count_tokens("≠" * 20_050) <= 20_050 * 3
