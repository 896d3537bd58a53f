"""Times of day: every form with the near miss that looks like it."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rai.check.comparison.times import same_time
from rai.claims.times import times
from tests.tables import Tables

TABLES = Tables(__file__)


@TABLES.each("found")
def test_found(text: str, expected: list[str]) -> None:
    """Exactly these times, the likeliest reading first."""
    assert [f.value for f in times.find(text)] == expected


@TABLES.each("not_found")
def test_not_found(text: str) -> None:
    """A duration, a ratio, a score or a count is no time."""
    assert [text[f.start : f.end] for f in times.find(text)] == []


@TABLES.each("same")
def test_same_time(claim: str, source: str, same: bool) -> None:
    """The same instant agrees in any two zones; a time without a zone agrees with any."""
    assert same_time(times.find(claim)[0], times.find(source)[0]) is same


PIECES = st.sampled_from(TABLES.texts("pieces"))


@settings(max_examples=120, deadline=None)
@given(st.lists(PIECES, max_size=14).map("".join) | st.lists(PIECES, max_size=14).map(" ".join))
def test_spans_are_apart_and_forms_are_fixed_points(text: str) -> None:
    """Spans ascend without sharing a character; a normal form read again is itself."""
    found = times.find(text)
    assert all(0 <= f.start < f.end <= len(text) for f in found)
    assert all(a.end <= b.start for a, b in itertools.pairwise(found))
    for form in {form for f in found for form in f.forms}:
        (again,) = times.find(form)
        assert (again.start, again.end, again.value) == (0, len(form), form)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 23), st.integers(0, 59))
def test_twelve_and_twenty_four_hours_agree(hour: int, minute: int) -> None:
    """Every minute of the day is the same on both clocks."""
    half = "PM" if hour >= 12 else "AM"
    (twelve,) = times.find(f"{hour % 12 or 12}:{minute:02d} {half}")
    (whole,) = times.find(f"{hour:02d}:{minute:02d}")
    assert twelve.value == whole.value == f"{hour:02d}:{minute:02d}"


@pytest.mark.parametrize("piece", ["9:00 ", "9-", "9:", "half ", "9h", "24/", "9 to ", "noon"])
def test_long_runs_are_read(piece: str) -> None:
    """100,000 characters of one kind on one line end."""
    text = piece * (100_000 // len(piece))
    assert all(f.end <= len(text) for f in times.find(text))
