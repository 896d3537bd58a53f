"""Dates: every form with the near miss that looks like it."""

from __future__ import annotations

import itertools
from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rai.check.comparison.times import same_date
from rai.claims.found import Found
from rai.claims.times import dates, weekdays
from tests.tables import Tables

TABLES = Tables(__file__)


@TABLES.each("found")
def test_found(text: str, expected: list[list[str]]) -> None:
    """Exactly these dates, by span and normal form."""
    assert [[text[f.start : f.end], f.value] for f in dates.find(text)] == expected


@TABLES.each("not_found")
def test_not_found(text: str) -> None:
    """What only looks like a date is none."""
    assert dates.find(text) == []


def _one(text: str) -> Found:
    (found,) = dates.find(text)
    return found


@TABLES.each("same")
def test_same_date(claim: str, source: str, same: bool) -> None:
    """A source's date holds what it says in other words or more exactly, and nothing else."""
    assert same_date(_one(claim), _one(source), source) is same


def test_days_listed_one_by_one_hold_their_range() -> None:
    """Saturday and Sunday are the weekend, Saturday alone is not."""
    line = "Open Saturday and Sunday."
    assert all(same_date(_one("on weekends"), day, line) for day in dates.find(line))
    assert not same_date(_one("on weekends"), _one("Open Saturday."), "Open Saturday.")


DAYS = st.dates(min_value=date(1900, 1, 1), max_value=date(2069, 12, 31))


@settings(max_examples=60, deadline=None)
@given(
    DAYS,
    st.sampled_from(
        ["{0:%d %B %Y}", "{0:%B %d, %Y}", "{0:%Y-%m-%d}", "{0:%d.%m.%Y}", "{0:%A, %d %B %Y}", "{0:%b %d, %Y}"]
    ),
)
def test_every_day_is_read(day: date, form: str) -> None:
    """Each form of a day reads as that day, whole."""
    text = form.format(day)
    assert [(f.start, f.end, f.value) for f in dates.find(text)] == [(0, len(text), day.isoformat())]


@settings(max_examples=60, deadline=None)
@given(DAYS, st.integers(1, 6))
def test_a_wrong_weekday_stands_for_itself(day: date, off: int) -> None:
    """The weekday of another day is not swallowed by the date."""
    other = day + timedelta(days=off)
    text = f"{other:%A}, {day:%d %B %Y}"
    assert [f.value for f in dates.find(text)] == [f"-W-{other.isoweekday()}", day.isoformat()]


PIECES = st.sampled_from(TABLES.texts("pieces"))


@settings(max_examples=120, deadline=None)
@given(st.lists(PIECES, max_size=16).map("".join) | st.lists(PIECES, max_size=16).map(" ".join))
def test_spans_are_apart_and_forms_are_fixed_points(text: str) -> None:
    """Spans ascend without touching twice a character, and a normal form read again is itself."""
    found = dates.find(text)
    assert all(0 <= f.start < f.end <= len(text) for f in found)
    assert all(a.end <= b.start for a, b in itertools.pairwise(found))
    for form in {form for f in found for form in (f.value, *f.forms)}:
        assert [(f.start, f.end, f.value) for f in dates.find(form)] == [(0, len(form), form)]


def test_sets_of_days_wrap_around() -> None:
    """Friday to Monday are four days, every day is seven."""
    assert weekdays.days_of("-W-5/-W-1") == {5, 6, 7, 1}
    assert weekdays.days_of(weekdays.EVERY_DAY) == set(range(1, 8))
    assert weekdays.days_of("2026-05-05") == set()


@pytest.mark.parametrize("piece", ["May 5-", "Mon-", "1/1/", "5. ", "Q1 ", "to ", "'9", "2026-", "daily ", "week "])
def test_long_runs_are_read(piece: str) -> None:
    """100,000 characters of one kind end; a backtracking trap would not."""
    text = piece * (100_000 // len(piece))
    assert all(f.end <= len(text) for f in dates.find(text))
