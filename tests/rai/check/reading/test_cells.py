"""Whose cell a value stands in: every number of a real page of telephone numbers is tried in every wrong role."""

from __future__ import annotations

import itertools

import pytest

from rai.check.match import check_claims
from rai.records import Source

NUMBERS = {
    "United States": ("+1 206-555-0142", "+1 206-555-0157"),
    "United Kingdom": ("020 7946 0321", "020 7946 0388"),
    "Germany": ("030 23125 410", "030 23125 455"),
    "France": ("01 99 00 41 27", "01 99 00 41 88"),
}
PAGE = Source(
    "page",
    "Our support and billing numbers are free of charge.\n\n"
    + "\n".join(
        f"Country: {c} | Support: {s} | Billing: {b} | Hours: Monday to Friday" for c, (s, b) in NUMBERS.items()
    )
    + "\n\nSupport for partners has its own number.",
    "Telephone numbers",
)


def phone_status(answer: str, question: str | None = None) -> str:
    return next(c.status for c in check_claims(answer, [PAGE], question) if c.kind == "phone")


ROLES = list(itertools.product(NUMBERS, (0, 1)))
LABELS = ("support", "billing")


@pytest.mark.parametrize(("country", "column"), ROLES)
def test_the_right_number_stands(country: str, column: int) -> None:
    number = NUMBERS[country][column]
    assert phone_status(f"The {LABELS[column]} number in {country} is {number}.") == "exact"
    assert phone_status(f"Please call {number}.", f"What is the {LABELS[column]} number in {country}?") == "exact"


@pytest.mark.parametrize(("said", "given"), [(a, b) for a in ROLES for b in ROLES if a != b])
def test_a_number_in_another_role_is_refused(said: tuple[str, int], given: tuple[str, int]) -> None:
    """Another country's number, or the other line of the same country, in a sentence or against a question."""
    number = NUMBERS[given[0]][given[1]]
    assert phone_status(f"The {LABELS[said[1]]} number in {said[0]} is {number}.") == "wrong_role"
    assert phone_status(f"Call {number} for {LABELS[said[1]]} in {said[0]}.") == "wrong_role"


@pytest.mark.parametrize("short", ["the UK", "Britain"])
def test_a_country_may_be_called_otherwise(short: str) -> None:
    assert phone_status(f"The billing number in {short} is 020 7946 0388.") == "exact"
    assert phone_status(f"The billing number in {short} is 030 23125 455.") == "wrong_role"


PLANS = Source(
    "plans",
    "Plan: Watch Basic | Price: $3.99 | Clips: 7 days\nPlan: Watch Plus | Price: $8.99 | Clips: 30 days",
    "Plans",
)


@pytest.mark.parametrize(
    ("answer", "refused"),
    [
        ("Watch Basic keeps clips for 7 days and Watch Plus for 30 days.", []),
        pytest.param(
            "Watch Basic keeps clips for 30 days and Watch Plus for 7 days.",
            ["30 days", "7 days"],
            marks=pytest.mark.xfail(strict=True, reason="rules alone do not tell two values that change places"),
        ),
        ("Watch Plus costs $8.99.", []),
        ("Watch Plus costs $3.99.", ["$3.99"]),
        ("Plan: Watch Plus | Price: $8.99", []),
    ],
)
def test_plans_keep_their_values(answer: str, refused: list[str]) -> None:
    assert [c.text for c in check_claims(answer, [PLANS]) if c.unsupported and c.kind != "statement"] == refused
