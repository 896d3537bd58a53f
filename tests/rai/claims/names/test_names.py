"""Names by their shape, each with the text that looks alike and holds none, and their normal form."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rai.claims.names import names


def _names(text: str) -> list[str]:
    found = names.find(text)
    assert all(text[f.start : f.end] and 0 <= f.start < f.end <= len(text) for f in found)
    return [text[f.start : f.end] for f in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Stay at the Orchard Garden Hotel.", ["Orchard Garden Hotel"]),
        ("The Orchard Garden Hotel's bar is open.", ["Orchard Garden Hotel"]),
        ("We ship from Lisbon on weekdays.", ["Lisbon"]),
        ("Lisbon is our hub.", []),  # a first word may be any word
        ("It is open on Monday in January.", []),
        ("They serve Italian food and speak German.", []),
        ("No, there are no German-speaking staff.", []),
        ("Use the Internet and your TV.", []),
        ("please ask Gail about it", ["Gail"]),
        ("please ask. Gail knows", []),
        ('he said "Great" and left', []),
        ("Abby and Gail talked to Maria Lopez and John Smith.", ["Gail", "Maria Lopez", "John Smith"]),
        ("We met Abby and Gail.", ["Abby", "Gail"]),
        ("They use Marks & Spencer gift cards.", ["Marks & Spencer"]),
        ("It reached Ukraine's Kyiv Region today.", ["Ukraine", "Kyiv Region"]),
        ("Ask Dr. Lopez about it.", ["Lopez"]),
        ("Ms Lopez is in.", ["Lopez"]),
        ("The meeting is at 8P M. Anything else?", []),
        ("we told U.S. customers", ["U.S."]),
        ("it opens at 9 a.m. and closes at 5 p.m. today", []),
        ("your VAT and HR data as PDF", []),
        ("we told NASA about it", ["NASA"]),
        ("the Wren X2 is white", ["Wren"]),  # X2 is an identifier and found as one
        ("OPENING HOURS ARE HERE", []),
        ("Opening Hours\nWe open early.", []),
        ("# Contact Us\nCall early.", []),
        ("Terms:\n- Free Delivery\n- refunds", []),
        ("the São Paulo office and the Zürich shop", ["São Paulo", "Zürich"]),
    ],
)
def test_find(text: str, expected: list[str]) -> None:
    assert _names(text) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("U.S.", "US"),
        ("Wi-Fi  Hub", "wi fi hub"),
        ("José Núñez", "jose nunez"),
        ("O’Brien Bar", "o'brien bar"),
        ("WREN Basic", "Wren basic"),
    ],
)
def test_one_form_for_one_name(one: str, other: str) -> None:
    assert names.normal(one) == names.normal(other)


@pytest.mark.parametrize(("one", "other"), [("US", "us"), ("IT", "it"), ("Lopez", "Lopes"), ("Wren Pro", "WrenPro")])
def test_another_form_for_another_name(one: str, other: str) -> None:
    assert names.normal(one) != names.normal(other)


@given(st.text(max_size=60) | st.from_regex(r"[A-Za-z.]{1,9}([ -][A-Z.']{1,6}){0,3}", fullmatch=True))
def test_the_form_of_a_form_is_itself(text: str) -> None:
    assert names.normal(names.normal(text)) == names.normal(text)


@given(st.text(alphabet=st.sampled_from("ABcde .,'’\n-&19and M"), max_size=120))
def test_spans_lie_in_the_text_and_do_not_overlap(text: str) -> None:
    found = names.find(text)
    assert all(0 <= f.start < f.end <= len(text) for f in found)
    assert all(a.end <= b.start for a, b in pairwise(found))


@pytest.mark.parametrize("unit", ["A", "A ", "A.", "Ab and ", "Ab's ", "(", "9", ". ", "Ab of the "])
def test_a_long_text_is_read(unit: str) -> None:
    """300,000 characters without a border that a pattern could stop at."""
    text = unit * (300_000 // len(unit))
    assert all(f.end <= len(text) for f in names.find(text))
