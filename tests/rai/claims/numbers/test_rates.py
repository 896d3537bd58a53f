"""What a value is per, and when two rates speak of the same thing."""

from __future__ import annotations

from rai.claims.numbers.rates import per_of, per_of_label, same_per
from tests.tables import Tables

TABLES = Tables(__file__)


@TABLES.each("per")
def test_per(text: str, per: str) -> None:
    """Read from behind the amount, and with its start from the words before it."""
    start = text.index("$5")
    assert per_of(text, start + 2, start) == per


@TABLES.each("same")
def test_same_per(mine: str, theirs: str, same: bool) -> None:
    """Two periods must agree, two things must agree; a period and a thing say nothing of each other. Symmetric."""
    assert same_per(mine, theirs) is same
    assert same_per(theirs, mine) is same


def test_a_label_says_what_its_amounts_are_per() -> None:
    told = {
        "Parked, per minute": "minute",
        "Price (per night)": "night",
        "€/hour": "hour",
        "Preis je Stunde": "hour",
        "Monthly price": "month",
        "per started hour": "hour",
        "Cap per 24 hours": "day",
        "price_eur": "",
        "Extra km": "",
        "Annually agreed": "year",
    }
    assert {label: per_of_label(label) for label in told} == told
