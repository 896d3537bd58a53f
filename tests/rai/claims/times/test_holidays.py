"""Days with a name and a fixed date."""

from __future__ import annotations

import pytest

from rai.claims.find import find_values
from rai.claims.times import holidays


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("until New Year's Eve", "--12-31"),
        ("an Heiligabend geschlossen", "--12-24"),
        ("le jour de l'An", "--01-01"),
        ("en Nochevieja", "--12-31"),
        ("a Capodanno", "--01-01"),
        ("na véspera de Natal", "--12-24"),
        ("op tweede kerstdag", "--12-26"),
        ("w Wigilię", "--12-24"),
    ],
)
def test_a_named_day_is_a_date(text: str, day: str) -> None:
    assert [f.value for f in find_values(text) if f.kind == "date"] == [day]


@pytest.mark.parametrize("text", ["a new year", "the eve of the match", "Christmas menu", "Easter Monday"])
def test_what_has_no_fixed_day_is_none(text: str) -> None:
    assert holidays.find(text) == []
    assert not holidays.is_holiday(text)
