"""When a value of a source says what a value of an answer says: tables of pairs that do and of pairs that look as if."""

from __future__ import annotations

import pytest

from rai.check.same.values import same_value
from rai.claims.found import Found
from rai.claims.numbers.numbers import find_number, find_percent, find_quantity


def _values(text: str) -> list[Found]:
    found: list[Found] = []
    for group in (find_percent(text), find_quantity(text), find_number(text)):
        found += [f for f in group if all(f.end <= g.start or g.end <= f.start for g in found)]
    return sorted(found, key=lambda f: f.start)


def _held(answer: str, source: str) -> list[bool]:
    """For each value of the answer: whether a value of the source is the same."""
    theirs = _values(source)
    return [any(same_value(mine, other, source) for other in theirs) for mine in _values(answer)]


BOTH_WAYS = [
    # the same value, or not, whichever of the two is the answer's
    ("2 million", "2,000,000", True), ("2 million", "200,000", False), ("1'200", "1,200", True), ("1,20", "1.2", True), ("12,34,567", "1234567", True),
    ("5 lakh", "500,000", True), ("5 lakh", "5 million", False), ("a dozen", "12", True), ("half a dozen", "6", True), ("half a dozen", "12", False),
    ("two and a half", "2.5", True), ("2½", "2.5", True), ("three quarters", "3/4", True), ("two thirds", "one third", False), ("2nd", "the second floor", True),
    ("2nd", "the third floor", False), ("at -5", "at 5", False), ("at −5", "at minus 5", True), ("nineteen ninety-nine", "1999", True),
    ("30 days", "thirty days", True), ("30 days", "30 Tage", True), ("30 days", "1 month", False), ("7 days", "1 week", True), ("7 days", "1 business day", False),
    ("5 business days", "5 working days", True), ("5 business days", "5 days", False), ("24 hours", "1 day", True), ("24-hour", "24 hours", True),
    ("an hour before", "1 hour before", True), ("an hour before", "2 hours before", False), ("half an hour", "30 minutes", True),
    ("2 hours 30 minutes", "150 minutes", True), ("2 hours 30 minutes", "2.5 hours", True), ("2 hours 30 minutes", "2 hours", False),
    ("1.5 GB", "1500 MB", True), ("16 GB", "16 MB", False), ("16 GB", "16 GiB", False), ("100 Mb/s", "100 MB/s", False), ("100 Mb a second", "100 Mbps", True),
    ("20 °C", "68 °F", True), ("-5 °C", "5 °C", False), ("5 degrees", "5 °C", True), ("5 degrees", "6 °C", False), ("6 feet", "72 inches", True), ("8 km", "5 miles", False),
    ("50%", "fifty per cent", True), ("50%", "5%", False), ("5%", "5 percentage points", False), ("5‰", "0.5%", True), ("50 basis points", "0.5 percentage points", True),
    ("50 basis points", "50%", False), ("half of them", "50%", True), ("a third of them", "30%", False), ("5 GB per month", "5 GB monthly", True),
    ("5 GB per month", "5 GB per year", False), ("5 GB per month", "5 GB", True), ("twice a week", "2 times per week", True), ("twice a week", "2 times a day", False),
]  # fmt: skip

FROM_THE_SOURCE = [
    # the answer's values, the source, whether each stands
    ("5-8 days", "5 to 8 days", [True, True]),
    ("5-9 days", "5-8 days", [True, False]),
    ("within 8 days", "5 to 8 days", [True]),
    ("within 6 days", "5 to 8 days", [False]),
    ("10-20%", "between 10 and 20 per cent", [True, True]),
    ("85x60x60cm", "85 cm by 60 cm by 60 cm", [True, True, True]),
    ("85x60x65cm", "85x60x60cm", [True, True, False]),
    ("5 to 10 million", "5 million to 10 million", [True, True]),
    ("has 30 of them", "30 days", [True]),
    ("30 days", "Days: 30", [True]),
    ("30 days", "Hours: 30", [False]),
    ("18 years", "18 and older", [True]),
    ("50%", "Share in percent: 50", [True]),
    ("5 percentage points", "Share in percent: 5", [False]),
    ("5%", "it fell: -5%", [True]),
    ("by -5%", "it fell by 5%", [True]),
    ("by -5%", "it rose by 5%", [False]),
    ("5", "at -5 °C", [False]),
]


@pytest.mark.parametrize(("answer", "source", "same"), BOTH_WAYS)
def test_same_either_way_round(answer: str, source: str, same: bool) -> None:
    """Equality of values is symmetric."""
    assert all(_held(answer, source)) is same
    assert all(_held(source, answer)) is same


@pytest.mark.parametrize(("answer", "source", "expected"), FROM_THE_SOURCE)
def test_what_a_source_holds(answer: str, source: str, expected: list[bool]) -> None:
    """Each value of the answer against all values of the source; a unit may stand elsewhere in the source's line."""
    assert _held(answer, source) == expected


@pytest.mark.parametrize(
    ("mine", "theirs", "line", "same"),
    [
        (Found("money", 0, 1, "5 USD", per="month"), Found("money", 0, 1, "5 USD", per="year"), "", False),
        (Found("money", 0, 1, "5 USD", per="month"), Found("money", 0, 1, "5 USD"), "", True),
        (Found("money", 0, 1, "5 USD"), Found("money", 0, 1, "-5 USD"), "discount", True),
        (Found("money", 0, 1, "-5 USD"), Found("money", 0, 1, "5 USD"), "the fee", False),
        (Found("money", 0, 1, "-5 USD"), Found("money", 0, 1, "5 USD"), "a discount", True),
    ],
)
def test_amounts(mine: Found, theirs: Found, line: str, same: bool) -> None:
    """Amounts agree only in what they are per, and a minus says no more than a word for less."""
    assert same_value(mine, theirs, line) is same
