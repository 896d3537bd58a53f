"""Digits and number words: each phenomenon with its readings and spans, beside what looks alike and is otherwise."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rai.claims.numbers.read_digits import canonical, items_in_line, numerals
from tests.tables import Tables

TABLES = Tables(__file__)


def _read(text: str) -> list[list[str]]:
    return [[text[n.start : n.end], "|".join(n.readings)] for n in numerals(text) if not n.unit]


@TABLES.each("read")
def test_numerals(text: str, expected: list[list[str]]) -> None:
    """Every numeral of the text, with its exact span and all its readings, and no other."""
    assert _read(text) == expected


@TABLES.each("other_languages")
def test_number_words_of_other_languages(text: str, expected: list[list[str]]) -> None:
    """Number words count in the language of the text; words that are also others do not."""
    assert _read(text) == expected


@settings(max_examples=100, deadline=None)
@given(st.integers(min_value=0, max_value=10**12), st.sampled_from([",", ".", "'", "’", "\u00a0", "\u202f"]))
def test_grouped_digits_are_read_back(number: int, mark: str) -> None:
    """A number written with any grouping mark has that number among its readings, over its whole span."""
    text = f"{number:,}".replace(",", mark)
    found = numerals(text)
    assert len(found) == 1
    assert (found[0].start, found[0].end) == (0, len(text))
    assert str(number) in found[0].readings


@settings(max_examples=100, deadline=None)
@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9, places=4))
def test_a_canonical_number_reads_as_itself(number: Decimal) -> None:
    """The normal form of a number, read again where it is plainly signed, is itself."""
    once = canonical(number)
    assert numerals(f"it is {once}")[0].readings[0] == once


@TABLES.each("long_runs", "piece")
def test_long_runs_end(piece: str) -> None:
    """200,000 characters of one kind are read in one pass; a backtracking trap would never end."""
    text = piece * (200_000 // len(piece))
    assert all(0 <= n.start < n.end <= len(text) for n in numerals(text))


def test_the_numbers_of_a_list_in_one_line_are_no_numbers() -> None:
    text = "Do this: 1. Turn it off. 2. Open the 3 valves. 3. Press reset."
    assert items_in_line(text) == {text.index("1."), text.index("2."), text.index("3. Press")}
    assert [text[n.start : n.end] for n in numerals(text)] == ["3"]


@pytest.mark.parametrize(
    "text",
    [
        "It costs 1. No more.",
        "1. Turn it off. 2. Open the valve.",
        "There are 4. Then 5. Then 6. are gone.",
        "On 1. May, 2. June and 3. July",
    ],
)
def test_other_numbers_before_a_point_are_numbers(text: str) -> None:
    assert items_in_line(text) == frozenset()
