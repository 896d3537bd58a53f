"""What the characters of a value may mean beside what stands around them."""

from __future__ import annotations

import pytest

from rai.check.reading.readings import readings
from rai.claims.find import find_values


@pytest.mark.parametrize(
    ("text", "written", "kind", "form"),
    [
        ("Open from 10 to 5 on Saturdays.", "5", "time", "17:00"),
        ("They leave on Friday 15 or so.", "15", "date", "--05-15"),
        ("From the 26th to the 30th.", "30", "date", "--10-30"),
        ("It ends on 31.12 at night", "31.12", "date", "--12-31"),
        ("It holds up to 90 pounds.", "90 pounds", "quantity", "90 lb"),
        ("Your 9-year-old pays less.", "9-year", "number", "9"),
    ],
)
def test_a_second_reading_is_offered(text: str, written: str, kind: str, form: str) -> None:
    value = next(v for v in find_values(text) if text[v.start : v.end] == written)
    assert any(r.kind == kind and form in r.forms for r in readings(value, text))


@pytest.mark.parametrize("text", ["It has 5 doors.", "Version 31.13 is out.", "They paid $90."])
def test_nothing_else_is_read_where_nothing_says_so(text: str) -> None:
    for value in find_values(text):
        assert readings(value, text) == (value,)


def test_a_span_may_be_counted_back_from_today() -> None:
    (found,) = [f for f in find_values("It was active for 7 days.") if f.kind == "quantity"]
    assert "relative:day-7" in [r.value for r in readings(found, "It was active for 7 days.")]


def test_a_number_below_nought_keeps_its_sign() -> None:
    text = "a meno 18 può rimettere tutto"
    (found,) = find_values(text)
    assert "-18" in [r.value for r in readings(found, text)]
