"""Units within a dimension: what is the same, what is only rounded, what must stay apart."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rai.claims.numbers.units import MEASURES, converted, dimension_of, prefixed, unit_of
from tests.tables import Tables

TABLES = Tables(__file__)


@TABLES.each("agree")
def test_quantities_in_two_units(claim: str, source: str, agreement: str | None) -> None:
    """An exact conversion is the same, a conversion to the stated decimals is rounded, all else is neither."""
    assert converted(claim, source) == agreement


@pytest.mark.parametrize(
    ("claim", "source"), [(r["claim"], r["source"]) for r in TABLES.rows("agree") if r["agreement"] == "same"]
)
def test_same_is_symmetric(claim: str, source: str) -> None:
    """Which of the two is the answer's does not matter where they are the same."""
    assert converted(source, claim) == "same"


@TABLES.each("spelled")
def test_spellings(word: str, unit: str | None) -> None:
    """Case counts only where it tells units apart."""
    assert unit_of(word) == unit


@TABLES.each("two_words")
def test_units_of_two_words(prefix: str, word: str, unit: str | None) -> None:
    """Square and cubic lengths, fluid ounces and degrees of a scale; other pairs are no unit."""
    assert prefixed(prefix, word) == unit


BY_DIMENSION = [
    (a, b) for a in MEASURES for b in MEASURES if a < b and dimension_of(a) and dimension_of(a) == dimension_of(b)
]


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(BY_DIMENSION), st.integers(min_value=1, max_value=999))
def test_agreement_has_one_direction_of_error(pair: tuple[str, str], number: int) -> None:
    """A quantity agrees with no more than its own conversion: doubled, it no longer does."""
    mine, theirs = pair
    for claimed in (number, number * 2):
        agreement = converted(f"{claimed} {mine}", f"{number} {theirs}")
        if agreement:
            assert converted(f"{claimed * 2} {mine}", f"{number} {theirs}") is None


def test_time_and_data_need_no_library() -> None:
    """Durations and file sizes are compared without loading pint, which takes half a second."""
    program = """
import sys
from rai.claims.numbers.units import converted
assert converted("7 day", "1 week") == "same"
assert converted("7 day", "5 kg") is None
sys.exit("pint" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
