"""When a value of a source says what a value of an answer says: tables of pairs that do and of pairs that look as if."""

from __future__ import annotations

import pytest

from rai.check.comparison.values import same_value
from rai.claims.found import Found
from rai.claims.numbers.numbers import find_number, find_percent, find_quantity
from tests.tables import Tables

TABLES = Tables(__file__)


def _values(text: str) -> list[Found]:
    found: list[Found] = []
    for group in (find_percent(text), find_quantity(text), find_number(text)):
        found += [f for f in group if all(f.end <= g.start or g.end <= f.start for g in found)]
    return sorted(found, key=lambda f: f.start)


def _held(answer: str, source: str) -> list[bool]:
    """For each value of the answer: whether a value of the source is the same."""
    theirs = _values(source)
    return [any(same_value(mine, other, source) for other in theirs) for mine in _values(answer)]


@TABLES.each("both_ways")
def test_same_either_way_round(answer: str, source: str, same: bool) -> None:
    """Equality of values is symmetric."""
    assert all(_held(answer, source)) is same
    assert all(_held(source, answer)) is same


@TABLES.each("from_the_source")
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
