"""Relative dates: what is one, what only sounds like one, and which day it means."""

from __future__ import annotations

from datetime import datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from rai.claims.times import relative
from tests.tables import Tables

TABLES = Tables(__file__)

AT = datetime(2026, 5, 5, 12)


@TABLES.each("found")
def test_found_and_resolved(text: str, span: str, what: str, days: list[str]) -> None:
    """One relative date, by span and normal form, and the dates it means on Tuesday, 5 May 2026."""
    (found,) = relative.find(text)
    assert (text[found.start : found.end], found.value) == (span, f"relative:{what}")
    assert list(relative.resolve(found.value, AT)) == days
    assert relative.find(found.value)[0].value == found.value


@TABLES.each("not_found")
def test_not_found(text: str) -> None:
    """An offer, a span or what another date fixes is not relative to the conversation."""
    assert relative.find(text) == []


def test_other_dates_do_not_resolve() -> None:
    """Only relative dates resolve, and none outside the calendar."""
    assert relative.resolve("2026-05-05", AT) == ()
    assert relative.resolve("relative:year+9999", AT) == ()


@settings(max_examples=60, deadline=None)
@given(st.integers(-400, 400), st.datetimes(min_value=datetime(1990, 1, 1), max_value=datetime(2060, 1, 1)))
def test_days_are_counted_from_the_conversation(days: int, at: datetime) -> None:
    """N days from now is N days from now."""
    assert relative.resolve(f"relative:day{days:+d}", at) == ((at.date() + timedelta(days=days)).isoformat(),)
