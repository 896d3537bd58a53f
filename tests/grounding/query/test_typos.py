"""Words found by what was typed instead."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from grounding.query.typos import FROM, TWO_FROM, SpellingIndex

LETTERS = st.text("abcdeé1", min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("typed", "word", "slips"),
    [
        ("gonvile", "gonville", 1),
        ("gonvlile", "gonville", 1),
        ("gonvillle", "gonville", 1),
        ("gonvikke", "gonville", 2),
        ("belfrey", "belfry", 1),
        ("blefry", "belfry", 1),
        ("ghonevile", "gonville", 0),
        ("worht", "worth", 1),
        ("north", "worth", 0),
        ("loose", "moose", 0),
        ("iphone14", "iphone13", 0),
        ("ihpone13", "iphone13", 1),
        ("huot", "hut", 0),
    ],
)
def test_slips_of_the_hand(typed: str, word: str, slips: int) -> None:
    """`slips` 0: another word."""
    assert SpellingIndex([word]).near(typed) == ([(word, slips)] if slips else [])


def test_the_word_itself_is_no_slip() -> None:
    assert SpellingIndex(["belfry"]).near("belfry") == []


def test_nothing_is_near_nothing() -> None:
    assert SpellingIndex([]).near("belfry") == []
    assert SpellingIndex(["belfry"]).near("") == []


@given(st.lists(LETTERS, max_size=30), LETTERS)
def test_nothing_that_a_plain_comparison_finds_is_missed(words: list[str], token: str) -> None:
    """Few words are compared, and the same are found."""

    def near(word: str) -> bool:
        longer = max(len(word), len(token))
        distance = OSA.distance(word, token)
        digits = [[c for c in w if c in string.digits] for w in (word, token)]
        return (
            min(len(word) + 1, len(token)) >= FROM
            and 0 < distance <= (2 if longer >= TWO_FROM else 1)
            and (longer >= TWO_FROM or word[0] == token[0])
            and digits[0] == digits[1]
        )

    found = SpellingIndex(set(words)).near(token)
    assert {word for word, _ in found} == {word for word in words if near(word)}
    assert len(found) == len({word for word, _ in found})
    assert all(OSA.distance(word, token) == slips for word, slips in found)
