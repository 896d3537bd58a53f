"""Relative dates: what is one, what only sounds like one, and which day it means."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rai.claims.times import relative

AT = datetime(2026, 5, 5, 12)
FOUND = [
    ("We close at 5 today.", "today", "day+0", ("2026-05-05",)), ("tomorrow we open", "tomorrow", "day+1", ("2026-05-06",)),
    ("shipped yesterday", "yesterday", "day-1", ("2026-05-04",)), ("next Monday", "next Monday", "-W-1+1", ("2026-05-11",)),
    ("next Friday", "next Friday", "-W-5+1", ("2026-05-08", "2026-05-15")), ("last Friday", "last Friday", "-W-5-1", ("2026-05-01",)),
    ("this Friday", "this Friday", "-W-5+0", ("2026-05-08",)), ("last week", "last week", "week-1", ("2026-W18", "2026-04-28")),
    ("in two days' time", "in two days' time", "day+2", ("2026-05-07",)), ("It arrives in two days.", "in two days", "day+2", ("2026-05-07",)),
    ("3 days ago", "3 days ago", "day-3", ("2026-05-02",)), ("this year", "this year", "year+0", ("2026",)),
    ("next month", "next month", "month+1", ("2026-06", "2026-06-05")), ("next quarter", "next quarter", "quarter+1", ("2026-Q3",)),
    ("a week ago", "a week ago", "week-1", ("2026-W18", "2026-04-28")), ("bis morgen", "morgen", "day+1", ("2026-05-06",)),
    ("nächste Woche", "nächste Woche", "week+1", ("2026-W20", "2026-05-12")), ("this weekend", "this weekend", "weekend+0", ("2026-05-09", "2026-05-10")),
    ("Your order was shipped today", "today", "day+0", ("2026-05-05",)),
]  # fmt: skip
NOT_FOUND = [
    "Call us today!", "Is there anything else I can help you with today?", "How are you today?", "Thank you for calling today.", "in today's world",
    "the next day", "within 3 days", "3 days before departure", "the last week of May", "next-day delivery", "next time", "Guten Morgen",
    "processed in 5 days", "por la mañana", "your last month", "Sign up today and save.",
]  # fmt: skip


@pytest.mark.parametrize(("text", "span", "what", "days"), FOUND)
def test_found_and_resolved(text: str, span: str, what: str, days: tuple[str, ...]) -> None:
    """One relative date, by span and normal form, and the dates it means on Tuesday, 5 May 2026."""
    (found,) = relative.find(text)
    assert (text[found.start : found.end], found.value) == (span, f"relative:{what}")
    assert relative.resolve(found.value, AT) == days
    assert relative.find(found.value)[0].value == found.value


@pytest.mark.parametrize("text", NOT_FOUND)
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
