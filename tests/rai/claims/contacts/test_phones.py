"""Telephone numbers in every common form, and digits that look like one and are none."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rai.claims.contacts.phones import REGIONS, area_code, find
from rai.claims.contacts.regions import regions_of
from tests.tables import Tables

TABLES = Tables(__file__)


@TABLES.each("read")
def test_read(text: str, characters: str, value: str) -> None:
    """The characters of the number, its extension included, and its normal form."""
    found = [(text[f.start : f.end], f.value) for f in find(text)]
    assert found == [(characters, value)]


@TABLES.each("none")
def test_none(text: str) -> None:
    """Near misses are no telephone numbers."""
    assert [text[f.start : f.end] for f in find(text)] == []


@pytest.mark.parametrize(
    ("value", "area"),
    [
        ("+14155550132", "+1415"),
        ("+493023125410", "+4930"),
        ("+442079460958", "+4420"),
        ("tel:911", ""),
        ("+999123", ""),
    ],
)
def test_area_code(value: str, area: str) -> None:
    """Country and area code, where the numbering plan has one."""
    assert area_code(value) == area


LEARNT = [
    # texts, regions
    (["Call +49 30 1234567."], ("DE",)),
    (["Call 0049 30 1234567."], ("DE",)),
    (["Call +1 416 555 0132."], ("CA",)),
    (["Call +1 800 356 9377."], ("US",)),
    (["Call (415) 555-0132."], ("US",)),
    (["466 Bush St., San Francisco, CA 94108"], ("US",)),
    (["1 Main Road, London SW1A 1AA"], ("GB",)),
    (["Hauptstraße 12, 10117 Berlin"], ("DE",)),
    (["12 rue de Rivoli, 75001 Paris"], ("FR",)),
    (["Call +49 30 1234567.", "Call +49 89 1234567 or +33 1 42 68 53 00"], ("DE", "FR")),
    (["We ship to Germany."], ("DE", "US", "GB")),  # a name drops none of the default
    (["Only in the UK."], ("GB", "US")),
    (["Order 12345678, page 4-5"], ("US", "GB")),
    ([], ("US", "GB")),
]


@pytest.mark.parametrize(("texts", "regions"), LEARNT)
def test_regions_are_learnt_from_the_texts(texts: list[str], regions: tuple[str, ...]) -> None:
    """Country codes and addresses decide; names of countries put theirs first."""
    assert regions_of(texts, ("US", "GB")) == regions
    assert regions_of(texts[::-1], ("US", "GB")) == regions


def test_learnt_regions_read_national_numbers() -> None:
    """A German page's 030 number has no British reading."""
    regions = regions_of(["Zentrale: +49 30 23125 410"], REGIONS)
    assert find("Tel. 030 23125410", regions)[0].forms == ("+493023125410",)


NUMBERS = st.one_of(
    st.sampled_from([row["value"] for row in TABLES.rows("read")]),
    st.from_regex(
        r"\+(?:1[2-9][0-9]{2}[2-9][0-9]{6}|4930[1-9][0-9]{6}|4420[78][0-9]{7}|33[1-5][0-9]{8})(?:;ext=[0-9]{1,5})?",
        fullmatch=True,
    ),
)


@settings(max_examples=100, deadline=None)
@given(NUMBERS)
def test_normal_forms_are_fixed_points(value: str) -> None:
    """A normal form read again is itself, whole but for the scheme of RFC 3966 before it."""
    assert [(value[f.start : f.end], f.value) for f in find(value)] == [(value.removeprefix("tel:"), value)]


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 9), st.sampled_from("0123456789"))
def test_another_digit_is_another_number(at: int, digit: str) -> None:
    """No two forms agree when one digit differs."""
    digits = "4155552671"
    other = digits[:at] + digit + digits[at + 1 :]
    (one,), (two,) = find(f"call {digits}"), find(f"call {other}")
    assert bool(set(one.forms) & set(two.forms)) == (digits == other)


@settings(max_examples=100, deadline=None)
@given(st.text("0123456789 -./()+x#*callext\u00a0", max_size=60))
def test_spans_are_exact(text: str) -> None:
    """Spans lie in the text, and begin and end with what belongs to a number."""
    for found in find(text):
        assert 0 <= found.start < found.end <= len(text)
        assert any(c.isdigit() for c in text[found.start : found.end])
