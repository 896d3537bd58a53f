"""Amounts of money: every form with the near miss that looks like it."""

from __future__ import annotations

import itertools
from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from rai.check.comparison.values import currency_stands
from rai.claims.amounts import money
from rai.claims.amounts.currencies import COMMON
from rai.claims.numbers.read_digits import canonical
from tests.tables import Tables

TABLES = Tables(__file__)


@TABLES.each("found")
def test_found(text: str, expected: list[str]) -> None:
    """Exactly these amounts, the likeliest reading first."""
    assert [f.value for f in money.find(text)] == expected


@TABLES.each("not_found")
def test_not_found(text: str) -> None:
    """A weight, a resolution or a verb is no amount."""
    assert money.find(text) == []


def test_a_rate_goes_with_its_amount() -> None:
    """What is paid each month is not what is paid once."""
    (monthly,) = money.find("$5 per month")
    assert (monthly.value, monthly.per) == ("5 USD", "month")
    assert money.find("$5 a lot")[0].per == ""


@TABLES.each("currency_in_a_line")
def test_currency_stands(claim: str, line: str, stands: bool) -> None:
    """A currency in the line of a table makes its numbers amounts."""
    assert currency_stands(money.find(claim)[0], line) is stands


@TABLES.each("same")
def test_same_money(claim: str, source: str, same: bool) -> None:
    """Number and currency agree, or the amounts do not."""
    assert money.find(claim)[0].shares_form(money.find(source)[0]) is same


@settings(max_examples=60, deadline=None)
@given(st.decimals(min_value=0, max_value=10**9, places=2), st.sampled_from(COMMON))
def test_normal_forms_are_fixed_points(number: Decimal, code: str) -> None:
    """A normal form read again is itself."""
    form = f"{canonical(number)} {code}"
    assert [(f.start, f.end, f.value) for f in money.find(form)] == [(0, len(form), form)]
    assert money.find(f"-{form}")[0].value in (f"-{form}", form)


PIECES = st.sampled_from(
    [
        "$",
        "5",
        "10",
        "-",
        "–",
        " ",
        "EUR",
        "€",
        "cents",
        "and",
        "dollars",
        "Canadian",
        ".",
        ",",
        "k",
        "million",
        "between",
        "p",
        "Rs.",
        "minus",
        "(",
        ")",
    ]
)


@settings(max_examples=120, deadline=None)
@given(st.lists(PIECES, max_size=14).map("".join) | st.lists(PIECES, max_size=14).map(" ".join))
def test_spans_are_apart(text: str) -> None:
    """Spans ascend without sharing a character, and every form is a number with a code."""
    found = money.find(text)
    assert all(0 <= f.start < f.end <= len(text) for f in found)
    assert all(a.end <= b.start for a, b in itertools.pairwise(sorted(found, key=lambda f: f.start)))
    assert all(
        Decimal(form.split(" ")[0]).is_finite() and len(form.split(" ")[1]) == 3 for f in found for form in f.forms
    )
