"""Times of day: every form with the near miss that looks like it."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rai.check.same.times import same_time
from rai.claims.times import times

FOUND = [
    ("at 2 PM", ["14:00"]), ("2pm", ["14:00"]), ("14:00", ["14:00"]), ("14.00 Uhr", ["14:00"]), ("14h30", ["14:30"]), ("2:30 p.m.", ["14:30"]),
    ("at noon", ["12:00"]), ("12 noon", ["12:00"]), ("midnight", ["00:00"]), ("half past two", ["02:30"]), ("quarter to nine", ["08:45"]),
    ("a quarter past nine pm", ["21:15"]), ("ten past five", ["05:10"]), ("20 minutes to six", ["05:40"]), ("open 9 to 5", ["09:00", "17:00"]),
    ("9-5 Mon-Fri", ["09:00", "17:00"]), ("open 24/7", ["24/7"]), ("24 hours a day, 7 days a week", ["24/7"]), ("around the clock", ["24/7"]),
    ("9:00 CET", ["09:00 CET"]), ("9am ET", ["09:00 ET"]), ("9:00 UTC+2", ["09:00 UTC+02:00"]), ("14:00 GMT", ["14:00 UTC"]),
    ("10 a.m. Pacific Time", ["10:00 PT"]), ("9:00-17:00 CET", ["09:00 CET", "17:00 CET"]), ("2026-05-05T14:00Z", ["14:00 UTC"]),
    ("2026-05-05T14:00:00+02:00", ["14:00 UTC+02:00"]), ("von 9 bis 17 Uhr", ["09:00", "17:00"]), ("9h-18h", ["09:00", "18:00"]),
    ("nine am", ["09:00"]), ("two o'clock", ["02:00"]), ("9 in the morning", ["09:00"]), ("8 at night", ["20:00"]), ("24:00", ["00:00"]), ("to 8P M.", ["20:00"]),
    ("9–11pm", ["21:00", "23:00"]), ("between 9 and 5 pm", ["09:00", "17:00"]), ("9:00 to 17:30", ["09:00", "17:30"]),
]  # fmt: skip
NOT_FOUND = [
    "opens 2 h 30 before departure", "2h30 avant le départ",
    "call me at 5", "a ratio of 1:30", "16:10 aspect ratio", "1:30 hours", "2:30 min", "5 ampere", "1.30", "within 2h", "a 24h service", "takes 2h30",
    "9 to 5 people", "won 9-5", "$9 to 5", "25:00", "half past", "a quarter of sales", "ten to six people", "one morning", "three in a row",
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), FOUND)
def test_found(text: str, expected: list[str]) -> None:
    """Exactly these times, the likeliest reading first."""
    assert [f.value for f in times.find(text)] == expected


@pytest.mark.parametrize("text", NOT_FOUND)
def test_not_found(text: str) -> None:
    """A duration, a ratio, a score or a count is no time."""
    assert [text[f.start : f.end] for f in times.find(text)] == []


@pytest.mark.parametrize(
    ("claim", "source", "same"),
    [
        ("2 PM", "14:00", True), ("2 AM", "14:00", False), ("2:30", "2:30 PM", True), ("10:00", "22:00", False), ("half past two", "2:30 p.m.", True),
        ("14:00 UTC", "15:00 CET", True), ("14:00 UTC", "14:00 CET", False), ("9:00 CET", "9:00 ET", False), ("9:00", "9:00 CET", True),
        ("9:00 CET", "9:00", True), ("9 AM ET", "6 AM PT", True), ("9 AM ET", "9 AM EST", True), ("9 AM ET", "9 AM CT", False),
        ("9 AM CDT", "9 AM EST", False), ("23:00 UTC", "00:00 CET", True), ("9:00 UTC+5:30", "9:00 IST", True), ("noon", "12 p.m.", True),
        ("midnight", "12 p.m.", False), ("9-5 Mon-Fri", "9 a.m.", True),
    ],
)  # fmt: skip
def test_same_time(claim: str, source: str, same: bool) -> None:
    """The same instant agrees in any two zones; a time without a zone agrees with any."""
    assert same_time(times.find(claim)[0], times.find(source)[0]) is same


PIECES = st.sampled_from(
    ["9", ":", "30", " ", "-", "pm", "a.m.", "CET", "UTC+2", "half past", "two", "to", "noon", "24/7", "Uhr", "h", "open", "Mon", "o'clock", "(", ")", "T",
     "Z", "14", ".", "quarter"]
)  # fmt: skip


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
