"""Formulas are read by a grammar that cannot run, grow or raise anything but its own error, and hold or are refused."""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rai.check.judging.arithmetic import NotComputed, computed

HOLDS = [
    ("9 * 12.00 = 108.00", "108"),
    ("9 months x $12.00 = $108", "108"),
    ("9 × 12 = 108", "108"),
    ("36 - 14 = 22", "22"),
    ("229 + 84 = 313", "313"),
    ("(229 + 84) * 2 = 626", "626"),
    ("229 + 84 * 2 = 397", "397"),
    ("1840 * 25% = 460", "460"),
    ("50 - 20% = 40", "40"),
    ("50 - 50 * 20% = 40", "40"),
    ("15 / 3 = 5", "5"),
    ("100 / 3 = 33.33", "33.33"),
    ("14 / 56 = 25%", "25"),
    ("1,249.50 * 2 = 2,499.00", "2499"),
    ("6 * 10 / 60 = 1", "1"),
    ("1 + 1 + 1 = 3", "3"),
    ("2026-03-28 - 2026-03-14 = 14 days", "14"),
    ("2026-03-28 - 2026-03-14 = 2 weeks", "2"),
    ("2026-10-31 - 2026-04-30 = 6 months", "6"),
    ("17:30 - 09:00 = 8.5 hours", "8.5"),
]
DATES = [
    ("2026-03-14 + 14 days = 2026-03-28", "2026-03-28", True),
    ("2026-01-31 + 1 month = 2026-02-28", "2026-02-28", True),
    ("2024-02-29 + 1 year = 2025-02-28", "2025-02-28", True),
    ("2026-11-20 + 5 working days = 2026-11-27", "2026-11-27", True),
    ("2026-11-23 - 1 business day = 2026-11-20", "2026-11-20", True),
    ("--12-20 + 14 days = --01-03", "2000-01-03", False),
    ("--05-31 + 30 days = --06-30", "2000-06-30", False),
]
REFUSED = [
    "9 * 12 = 118",  # a wrong result
    "7 / 2 = 4",  # rounded too far
    "108 = 108",  # computes nothing
    "108 * 1 = 108",
    "108 + 0 = 108",
    "5 - 5 = 0",
    "5 / 5 = 1",
    "5 / 0 = 0",
    "5 / (3 - 3) = 0",
    "9 ** 9 = 387420489",
    "9 ^ 2 = 81",
    "1e9 * 2 = 2e9",
    "9999999999999999 * 2 = 1",
    "999999999999999 * 999999999999999 = 1",
    "__import__('os').getpid() = 1",
    "9 * 12",
    "9 * 12 = 108 = 108",
    "= 108",
    "9 * = 108",
    "((((9 * 12) = 108",
    "9 12 = 108",
    "",
    "1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 = 9",  # more operands than a person follows
    "2026-02-30 + 1 day = 2026-03-01",
    "2026-03-14 + 14 = 2026-03-28",  # 14 of what
    "2026-03-14 + 14 hours = 2026-03-15",
    "2026-03-14 + 2026-03-14 = 4052",
    "--12-20 + 14 days = 2027-01-03",  # a year that nobody said
    "2026-03-14 + 99999 years = 2026-03-14",
    "9999-12-31 + 1 day = 2026-03-14",
    "25:30 - 09:00 = 990 minutes",
    "3 * 2026-03-14 = 2026-03-14",
    "5 + 20% = 25%",
    "(" * 150 + "1",
    "1" * 201,
]


@pytest.mark.parametrize(("formula", "result"), HOLDS)
def test_a_formula_that_holds_gives_its_result(formula: str, result: str) -> None:
    assert computed(formula).result.number == Decimal(result)


@pytest.mark.parametrize(("formula", "day", "has_year"), DATES)
def test_dates_take_spans(formula: str, day: str, has_year: bool) -> None:
    result = computed(formula).result
    assert (str(result.day), result.has_year) == (day, has_year)


def test_times_take_spans() -> None:
    assert computed("09:30 + 45 minutes = 10:15").result.number == 615
    assert computed("23:30 + 1 hour = 00:30").result.number == 30


@pytest.mark.parametrize("formula", REFUSED)
def test_everything_else_is_refused(formula: str) -> None:
    with pytest.raises(NotComputed):
        computed(formula)


def test_only_what_was_read_is_written() -> None:
    """Words that are no unit are left out, so that nothing a model adds gets into a record."""
    assert computed("9 months ignore all * 12 users = 108").written == "9 months × 12 = 108"


@given(st.text(alphabet="0123456789.,+-*/()= %:x$days", max_size=60))
def test_whatever_is_written_holds_or_is_refused(formula: str) -> None:
    with suppress(NotComputed):
        assert computed(formula).operands


@given(st.integers(2, 10**6), st.integers(2, 10**6), st.integers(1, 10**6))
def test_no_wrong_product_holds(a: int, b: int, off: int) -> None:
    assert computed(f"{a} * {b} = {a * b}").result.number == a * b
    with pytest.raises(NotComputed):
        computed(f"{a} * {b} = {a * b + off}")
