"""Amounts of money: every form with the near miss that looks like it."""

from __future__ import annotations

import itertools
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rai.check.same.values import currency_stands, same_money
from rai.claims.amounts import money
from rai.claims.amounts.currencies import COMMON
from rai.claims.numbers.numerals import canonical

FOUND = [
    ("$6 Canadian, once", ["6 CAD"]), ("ten dollars fifty rather than nine", ["10.5 USD"]), ("ten dollars more", ["10 USD"]),
    ("$ 160 million", ["160000000 USD"]), ("$5k", ["5000 USD"]), ("$1.2m", ["1200000 USD"]), ("5 bucks", ["5 USD"]), ("99 cents", ["0.99 USD"]),
    ("£1.50", ["1.5 GBP"]), ("1,50 €", ["1.5 EUR"]), ("EUR 1.234,50", ["1234.5 EUR"]), ("Rs. 1,500", ["1500 INR"]), ("₹1.2 crore", ["12000000 INR"]),
    ("CHF 5.-", ["5 CHF"]), ("5,- €", ["5 EUR"]), ("5.- CHF", ["5 CHF"]), ("a total of -$5", ["-5 USD"]), ("minus $5", ["-5 USD"]),
    ("$10–$20", ["10 USD", "20 USD"]), ("$10-20", ["10 USD", "20 USD"]), ("between $10 and $20", ["10 USD", "20 USD"]), ("10-20 €", ["10 EUR", "20 EUR"]),
    ("between 10 and 20 euros", ["10 EUR", "20 EUR"]), ("$10-20 million", ["10000000 USD", "20000000 USD"]), ("5 Canadian dollars", ["5 CAD"]),
    ("$5 CAD", ["5 CAD"]), ("HK$5", ["5 HKD"]), ("5 dollars canadiens", ["5 CAD"]), ("5 Schweizer Franken", ["5 CHF"]),
    ("10 libras esterlinas", ["10 GBP"]), ("5 dólares", ["5 USD"]), ("10 reais", ["10 BRL"]), ("5 dollars and 50 cents", ["5.5 USD"]),
    ("5 euro cents", ["0.05 EUR"]), ("50p", ["0.5 GBP"]), ("thirty dollars, 50 cents", ["30 USD", "0.5 USD"]), ("5 EUR 10 USD", ["5 EUR", "10 USD"]),
    ("$5-10 minutes", ["5 USD"]), ("2 x $5", ["5 USD"]),
]  # fmt: skip
NOT_FOUND = [
    "dollars",
    "5 pounds of coffee",
    "it weighs 5 pounds",
    "720p",
    "3 real people",
    "the 5 won the game",
    "5 free tickets",
    "free",
    "9 to 5",
]


@pytest.mark.parametrize(("text", "expected"), FOUND)
def test_found(text: str, expected: list[str]) -> None:
    """Exactly these amounts, the likeliest reading first."""
    assert [f.value for f in money.find(text)] == expected


@pytest.mark.parametrize("text", NOT_FOUND)
def test_not_found(text: str) -> None:
    """A weight, a resolution or a verb is no amount."""
    assert money.find(text) == []


def test_a_rate_goes_with_its_amount() -> None:
    """What is paid each month is not what is paid once."""
    (monthly,) = money.find("$5 per month")
    assert (monthly.value, monthly.per) == ("5 USD", "month")
    assert money.find("$5 a lot")[0].per == ""


@pytest.mark.parametrize(
    ("claim", "line", "stands"),
    [("$5", "Price in dollars: 5", True), ("5 CAD", "Canadian dollars: 5", True), ("5 SEK", "Preis (SEK): 5", True), ("$5", "Price in euros: 5", False),
     ("€5", "europe: 5", False)],
)  # fmt: skip
def test_currency_stands(claim: str, line: str, stands: bool) -> None:
    """A currency in the line of a table makes its numbers amounts."""
    assert currency_stands(money.find(claim)[0], line) is stands


@pytest.mark.parametrize(
    ("claim", "source", "same"),
    [("$5", "5 dollars", True), ("$5", "CA$5", False), ("99 cents", "€0.99", True), ("$5", "£5", False)],
)
def test_same_money(claim: str, source: str, same: bool) -> None:
    """Number and currency agree, or the amounts do not."""
    assert same_money(money.find(claim)[0], money.find(source)[0]) is same


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
