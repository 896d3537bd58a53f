"""Postal addresses in six languages, and capitals with figures that are none."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rai.claims.contacts.addresses import find, normal
from rai.claims.find import find_values

ADDRESSES = [
    ("at 466 Bush St., San Francisco, CA 94108", "466 Bush St., San Francisco, CA 94108", "466 bush street san francisco ca 94108"),
    ("We are at 466 Bush Street. Come", "466 Bush Street", "466 bush street"),
    ("1 N. Main St, Suite 300, Springfield, IL 62701-1234", "1 N. Main St, Suite 300, Springfield, IL 62701-1234", "1 north main street suite 300 springfield il 62701-1234"),
    ("12 Main Street, 3rd floor, Boston", "12 Main Street, 3rd floor, Boston", "12 main street 3rd floor boston"),
    ("1600 Pennsylvania Avenue NW, Washington, DC 20500", "1600 Pennsylvania Avenue NW, Washington, DC 20500", "1600 pennsylvania avenue nw washington dc 20500"),
    ("221B Baker Street, London NW1 6XE", "221B Baker Street, London NW1 6XE", "221b baker street london nw1 6xe"),
    ("near 12 Park Place in Boston", "12 Park Place", "12 park place"),
    ("from 12 Main Street, Boston to us", "12 Main Street, Boston", "12 main street boston"),
    ("in der Hauptstraße 12", "Hauptstraße 12", "hauptstraße 12"),
    ("Hauptstr. 12a, D-10117 Berlin", "Hauptstr. 12a, D-10117 Berlin", "hauptstraße 12a 10117 berlin"),
    ("Berliner Straße 5", "Berliner Straße 5", "berliner straße 5"),
    ("Unter den Linden 77, 10117 Berlin", "Unter den Linden 77, 10117 Berlin", "unter den linden 77 10117 berlin"),
    ("12 bis, rue de la Paix, 75002 Paris", "12 bis, rue de la Paix, 75002 Paris", "12 bis rue de la paix 75002 paris"),
    ("Calle Mayor 12, 28013 Madrid", "Calle Mayor 12, 28013 Madrid", "calle mayor 12 28013 madrid"),
    ("C/ Mayor, 12", "C/ Mayor, 12", "calle mayor 12"),
    ("Via Roma 12, 00184 Roma", "Via Roma 12, 00184 Roma", "via roma 12 00184 roma"),
    ("Piazza della Repubblica, 3", "Piazza della Repubblica, 3", "piazza della repubblica 3"),
    ("Rua Augusta 123, 1100-053 Lisboa", "Rua Augusta 123, 1100-053 Lisboa", "rua augusta 123 1100-053 lisboa"),
    ("PO Box 1234, Springfield, IL 62701", "PO Box 1234, Springfield, IL 62701", "box 1234 springfield il 62701"),
    ("Postfach 10 12 34, 10117 Berlin", "Postfach 10 12 34, 10117 Berlin", "box 101234 10117 berlin"),
    ("San Francisco, CA 94108", "San Francisco, CA 94108", "san francisco ca 94108"),
    ("London SW1A 1AA", "London SW1A 1AA", "london sw1a 1aa"),
    ("D-10117 Berlin", "D-10117 Berlin", "10117 berlin"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "characters", "value"), ADDRESSES)
def test_addresses(text: str, characters: str, value: str) -> None:
    """The whole address as one claim, and its comparable form."""
    assert (characters, value) in [(text[f.start : f.end], f.value) for f in find_values(text) if f.entity == "address"]


@pytest.mark.parametrize(
    "text",
    ["I paid 10000 Euro", "50000 Kunden", "Am Montag 12 Uhr", "Im Jahr 2020", "Zum Preis 12", "Via email 12", "Calle 12", "12 Steps Way",
     "He has 3 Big Close friends", "a 5 Star Hotel Place to be", "Take 3 Easy Steps Drive", "The Plaza 5", "Room 12", "24/7 Main Support", "ISO 9001"],
)  # fmt: skip
def test_no_addresses(text: str) -> None:
    """Prices, dates and titles are no addresses."""
    assert find(text) == []


@settings(max_examples=100, deadline=None)
@given(st.one_of(st.sampled_from([a for _, a, _ in ADDRESSES]), st.text(max_size=40)))
def test_normal_forms_are_fixed_points(address: str) -> None:
    """Comparable once is comparable for good."""
    assert normal(normal(address)) == normal(address)
