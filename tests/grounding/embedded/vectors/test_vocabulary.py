"""Which word of the language a slip of the hand was meant to be."""

from __future__ import annotations

import pytest

from grounding.embedded.vectors.vocabulary import OFTEN, VERY_OFTEN, Vocabulary

WORDS = ("how", "when", "what", "show", "who", "times", "opening", "cards", "crabs", "wednesday", "version", "owning")
KNOWN = Vocabulary(
    [*((word, 1000 + i) for i, word in enumerate(WORDS)), ("stoke", VERY_OFTEN + 1), ("anthracite", OFTEN + 1)]
)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("whn", "when"),  # a letter is missing
        ("hwo", "how"),  # two changed places
        ("waht", "what"),
        ("tmes", "times"),
        ("openig", "opening"),
        ("wendsday", "wednesday"),
        ("verison", "version"),
        ("crads", "cards"),  # of two as near the more frequent
        ("hew", None),  # a short word with another letter may be another word
        ("stok", None),  # short, and what is near is seldom said
        ("antracite", None),  # seldom said
        ("klarna", None),
        ("", None),
    ],
)
def test_a_slip_is_the_nearest_word_that_is_often_said(typed: str, meant: str | None) -> None:
    assert KNOWN.meant(typed) == meant


def test_it_holds_its_words_however_seldom_they_are() -> None:
    assert "anthracite" in KNOWN
    assert "whn" not in KNOWN
