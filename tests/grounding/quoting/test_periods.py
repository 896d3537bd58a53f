"""What amounts are for."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest

from grounding.quoting.periods import periods_in


@pytest.mark.parametrize(
    ("text", "periods"),
    [
        ("what does it cost per year", {"year"}),
        ("9,49 € im Monat", {"month"}),
        ("Price per month | Plus: $8.99 | yearly: $89.90", {"month", "year"}),
        ("9,79 € par mois", {"month"}),
        ("al mese", {"month"}),
        ("por noche", {"night"}),
        ("per week", {"week"}),
        ("monthly and annual fees", {"month", "year"}),
        ("wöchentlich, jaarlijks", {"week", "year"}),
        ("model: Pavo | per_month: 64.90", {"month"}),
        ("12 months, 2 years", set()),
        ("a yearling, an hour, per person", set()),
        ("", set()),
    ],
)
def test_the_periods_that_a_text_names(text: str, periods: set[str]) -> None:
    assert periods_in(text) == periods


def test_no_word_stands_for_two_periods() -> None:
    held = json.loads(files("grounding.quoting").joinpath("periods.json").read_text("utf-8"))
    named = [word for part in ("named", "alone") for told in held[part].values() for word in told]
    assert len(named) == len(set(named))
