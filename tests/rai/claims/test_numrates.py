"""What a value is per, and when two rates speak of the same thing."""

from __future__ import annotations

import pytest

from rai.claims.amounts.rates import per_of, same_per

PER = [
    ("$5 per 24 hours", "day"), ("$5 per 15 minutes", "15-minute"), ("$5 je angefangene Viertelstunde", "15-minute"), ("$5 per gereserveerd kwartier", "15-minute"),
    ("$5 für jede angefangene Stunde", "hour"), ("$5 per quarter of an hour", "15-minute"), ("$5 par assuré et par voyage", "person trip"),
    ("$5 per person and night", "night person"), ("$5 per maand", "month"), ("$5 na osobę", "person"), ("$5 for each started hour", "hour"),
    ("$5 per month", "month"), ("$5/month", "month"), ("$5 / mo", "month"), ("$5 a month", "month"), ("$5 monthly", "month"),
    ("$5 p.m.", "month"), ("$5 p.a.", "year"), ("$5 per annum", "year"), ("$5 an hour", "hour"), ("$5/hr", "hour"), ("$5 per person", "person"),
    ("$5 per head", "person"), ("$5 pp", "person"), ("$5 each", "item"), ("$5 apiece", "item"), ("$5 per user per month", "month user"),
    ("$5/user/month", "month user"), ("$5 each month", "month"), ("$5 per night per room", "night room"), ("$5 pro Monat", "month"),
    ("$5 par mois", "month"), ("$5 al mes", "month"), ("The monthly fee is $5", "month"), ("annual cost of $5", "year"), ("monthly fee: $5", "month"),
    ("$5", ""), ("$5 a lot", ""), ("$5 per se", ""), ("$5 a", ""), ("monthly. Then pay $5", ""), ("$5 p m", ""), ("$5 and a month", ""),
]  # fmt: skip

SAME = [
    ("month", "month", True), ("month", "year", False), ("month", "", True), ("", "", True), ("month", "person", True), ("person", "item", True),
    ("person", "night", True), ("person", "room", False), ("person", "adult", True), ("adult", "child", False), ("person", "child", False),
    ("month user", "month", True), ("month user", "year user", False), ("month user", "month device", False),
]  # fmt: skip


@pytest.mark.parametrize(("text", "per"), PER)
def test_per(text: str, per: str) -> None:
    """Read from behind the amount, and with its start from the words before it."""
    start = text.index("$5")
    assert per_of(text, start + 2, start) == per


@pytest.mark.parametrize(("mine", "theirs", "same"), SAME)
def test_same_per(mine: str, theirs: str, same: bool) -> None:
    """Two periods must agree, two things must agree; a period and a thing say nothing of each other. Symmetric."""
    assert same_per(mine, theirs) is same
    assert same_per(theirs, mine) is same
