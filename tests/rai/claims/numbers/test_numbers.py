"""Percentages and quantities: units, ranges, sides, multiples and rates, each with its near miss; forms are fixed points."""

from __future__ import annotations

import itertools
from decimal import Decimal

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rai.claims.found import Found
from rai.claims.numbers.numbers import find_number, find_percent, find_quantity
from rai.claims.numbers.units import MEASURES
from tests.tables import Tables

TABLES = Tables(__file__)


def _forms(text: str, found: list[Found]) -> list[list[str]]:
    return [[text[f.start : f.end], f.value] for f in found]


@TABLES.each("quantities")
def test_quantities(text: str, expected: list[list[str]]) -> None:
    """Every quantity of the text with its exact span and normal form, and no other."""
    assert _forms(text, find_quantity(text)) == expected


@TABLES.each("rates")
def test_what_a_quantity_is_per(text: str, per: str) -> None:
    """The period and the thing after per, a, each and a slash; other words are none."""
    assert find_quantity(text)[0].per == per


@TABLES.each("percentages")
def test_percentages(text: str, expected: list[list[str]]) -> None:
    """Every percentage of the text with its exact span and normal form, and no other."""
    assert _forms(text, find_percent(text)) == expected


def test_what_holds_its_own_unit_is_no_number() -> None:
    """Twice and an hour are quantities; as bare numbers they would match any 2 and any 1."""
    assert find_number("twice a week, an hour before, one of them") == []


def _shortest(number: Decimal) -> str:
    return f"{number:f}".rstrip("0").rstrip(".")


NUMBERS = st.decimals(min_value=0, max_value=10**7, places=2, allow_nan=False).map(_shortest)


@settings(max_examples=200, deadline=None)
@given(NUMBERS, st.sampled_from(sorted(MEASURES)), st.sampled_from(["", "business "]))
def test_a_quantity_form_reads_as_itself(number: str, unit: str, adjective: str) -> None:
    """The normal form of a quantity, read again, is itself over its whole length."""
    value = f"{number} {adjective if unit == 'day' else ''}{unit}"
    assert [(f.start, f.end, f.value) for f in find_quantity(value)] == [(0, len(value), value)]


@settings(max_examples=100, deadline=None)
@given(NUMBERS, st.sampled_from(["%", "pp"]))
def test_a_percent_form_reads_as_itself(number: str, sign: str) -> None:
    """The normal form of a percentage, read again, is itself."""
    assert [f.value for f in find_percent(f"{number}{sign}")] == [f"{number}{sign}"]


PARTS = st.sampled_from(TABLES.texts("parts"))
TEXTS = st.one_of(
    st.lists(PARTS, max_size=15).map(" ".join), st.lists(PARTS, max_size=15).map("".join), st.text(max_size=40)
)


@settings(max_examples=300, deadline=None)
@example("5 hour and a half month")
@example("3-2 h 30 before")
@given(TEXTS)
def test_spans_ascend_and_every_form_reads_as_itself(text: str) -> None:
    """Spans of one finder do not overlap, and every normal form that it gives it also reads."""
    for find in (find_percent, find_quantity, find_number):
        found = find(text)
        assert all(0 <= f.start < f.end <= len(text) for f in found)
        assert all(a.end <= b.start for a, b in itertools.pairwise(found))
        for form in {form for f in found for form in f.forms}:
            assert any(form in again.forms for again in find(form)), form


@pytest.mark.parametrize(
    "piece", ["5 days ", "5-8 ", "5x", "5 h 5 min ", "5 GB per ", "5 square ", "5% ", "5 to ", "monthly fee of 5 GB "]
)
def test_long_runs_end(piece: str) -> None:
    """100,000 characters of one kind are read in one pass."""
    text = piece * (100_000 // len(piece))
    assert all(f.end <= len(text) for find in (find_percent, find_quantity, find_number) for f in find(text))
