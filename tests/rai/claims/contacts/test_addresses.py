"""Postal addresses in six languages, and capitals with figures that are none."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from rai.claims.contacts.addresses import find, normal
from rai.claims.find import find_values
from tests.tables import Tables

TABLES = Tables(__file__)


@TABLES.each("addresses")
def test_addresses(text: str, characters: str, value: str) -> None:
    """The whole address as one claim, and its comparable form."""
    assert (characters, value) in [(text[f.start : f.end], f.value) for f in find_values(text) if f.entity == "address"]


@TABLES.each("no_addresses")
def test_no_addresses(text: str) -> None:
    """Prices, dates and titles are no addresses."""
    assert find(text) == []


@settings(max_examples=100, deadline=None)
@given(st.one_of(st.sampled_from([row["characters"] for row in TABLES.rows("addresses")]), st.text(max_size=40)))
def test_normal_forms_are_fixed_points(address: str) -> None:
    """Comparable once is comparable for good."""
    assert normal(normal(address)) == normal(address)
