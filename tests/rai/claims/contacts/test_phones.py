"""Telephone numbers in every common form, and digits that look like one and are none."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rai.claims.contacts.phones import REGIONS, area_code, find
from rai.claims.contacts.regions import regions_of

READ = [
    # text, characters, normal form
    ("Call 415 555 2671", "415 555 2671", "+14155552671"),
    ("415.555.2671", "415.555.2671", "+14155552671"),
    ("+1.415.555.2671", "+1.415.555.2671", "+14155552671"),
    ("(415)555-2671", "(415)555-2671", "+14155552671"),
    ("call ٤١٥ ٥٥٥ ٢٦٧١", "٤١٥ ٥٥٥ ٢٦٧١", "+14155552671"),
    ("call (415)\u00a0555‑2671", "(415)\u00a0555‑2671", "+14155552671"),
    ("phone number: 4155552671", "4155552671", "+14155552671"),
    ("Our number is 415-555-2671.", "415-555-2671", "+14155552671"),
    ("Our customer service: 415-555-2671", "415-555-2671", "+14155552671"),
    ("The support number is 030/1234567", "030/1234567", "+49301234567"),
    ("call ４１５ ５５５ ２６７１", "４１５ ５５５ ２６７１", "+14155552671"),
    ("[call](tel:+1-415-555-0132)", "+1-415-555-0132", "+14155550132"),
    ("Call 415-555-2671 24 hours a day", "415-555-2671", "+14155552671"),
    ("In Suite 200 415-555-2671", "415-555-2671", "+14155552671"),
    # trunk zero, international prefixes, grouping
    ("+44 (0)20 7946 0958", "+44 (0)20 7946 0958", "+442079460958"),
    ("Ring 020 7946 0958", "020 7946 0958", "+442079460958"),
    ("Ring (020) 7946 0958", "(020) 7946 0958", "+442079460958"),
    ("0049 30 1234567", "0049 30 1234567", "+49301234567"),
    ("call 011 44 20 7946 0958", "011 44 20 7946 0958", "+442079460958"),
    ("Tel. 030 23125 410", "030 23125 410", "+493023125410"),
    ("Tel. 030-23125410", "030-23125410", "+493023125410"),
    ("+49 30 23125-410", "+49 30 23125-410", "+493023125410"),
    ("Call 0300 123 1234", "0300 123 1234", "+443001231234"),
    ("Tél. 01.42.68.53.00", "01.42.68.53.00", "+33142685300"),
    ("Italy: 06 6982 1234", "06 6982 1234", "+390669821234"),
    ("Germany: 0800 123 4567", "0800 123 4567", "+498001234567"),
    ("call us on 0800 123 4567", "0800 123 4567", "+448001234567"),
    # extensions
    ("+1 (415) 555-0132 x12", "+1 (415) 555-0132 x12", "+14155550132;ext=12"),
    ("415-555-0132 ext. 7", "415-555-0132 ext. 7", "+14155550132;ext=7"),
    ("415-555-0132, extension 7", "415-555-0132, extension 7", "+14155550132;ext=7"),
    ("415-555-0132 #7", "415-555-0132 #7", "+14155550132;ext=7"),
    ("030 1234567 Durchwahl 12", "030 1234567 Durchwahl 12", "+49301234567;ext=12"),
    ("01 42 68 53 00 poste 12", "01 42 68 53 00 poste 12", "+33142685300;ext=12"),
    # vanity numbers
    ("Dial 1-800-FLOWERS now", "1-800-FLOWERS", "+18003569377"),
    ("Dial 1-800-356-9377 now", "1-800-356-9377", "+18003569377"),
    ("1-800-CONTACTS", "1-800-CONTACTS", "+18002668228"),
    ("call 415-555-HELP", "415-555-HELP", "+14155554357"),
    # spoken digits
    ("call eight hundred five five five oh one three two", "eight hundred five five five oh one three two", "+18005550132"),
    ("Our number: four one five, five five five, two six seven one", "four one five, five five five, two six seven one", "+14155552671"),
    ("dial one eight hundred triple five oh one double three", "one eight hundred triple five oh one double three", "+18005550133"),
    # short numbers
    ("Call 911 immediately.", "911", "tel:911"),
    ("call **112** for help", "112", "tel:112"),
    ("Call 611 from your phone", "611", "tel:611"),
    ("dial *611#", "*611#", "tel:*611#"),
    ("dial *611", "*611", "tel:*611"),
    ("text STOP to 12345", "12345", "tel:12345"),
    ("Send HELP to 54321, please", "54321", "tel:54321"),
    ("Short code: 12345", "12345", "tel:12345"),
    # what no plan knows
    ("Phone 555-0132", "555-0132", "tel:5550132"),
    ("(555) 123-4567", "(555) 123-4567", "+15551234567"),
    ("+44 415 555 0132", "+44 415 555 0132", "+444155550132"),
    ("call (415) 555-2671 9", "(415) 555-2671 9", "tel:41555526719"),
    ("call +999 123 4567", "+999 123 4567", "+9991234567"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "characters", "value"), READ)
def test_read(text: str, characters: str, value: str) -> None:
    """The characters of the number, its extension included, and its normal form."""
    found = [(text[f.start : f.end], f.value) for f in find(text)]
    assert found == [(characters, value)]


NONE = [
    "order 4155552671", "ticket #415-555-2671", "Customer number 415-555-2671", "Invoice no. 030 1234567", "account: 020 7946 0958",
    "2026-05-05 10:30", "05.05.2026 10:30", "2007-2008", "2026-05-05 2026-05-06", "192.168.100.100", "10.100.100.10",
    "ISBN 978-3-16-148410-0", "978-3-16-148410-0", "DE89 3704 0044 0532 0130 00", "GB29 NWBK 6016 1331 9268 19",
    "4111 1111 1111 1111", "3782 822463 10005", "$1,200,000", "$415 555 2671", "1 200 000 EUR", "415 555 2671 EUR", "version 2023.10.15.1",
    "100000-200000", "94108-1234", "San Francisco, CA 94108-1234", "1100-053 Lisboa", "52.5200, 13.4050", "-122.4194", "3.14159265",
    "354-01-2222", "we call 200 customers", "call 3 times", "call 24 hours", "call 100 or more people", "call 24/7", "call 2026",
    "text it to 10 people", "send it to 20 friends", "press 1 to continue", "*5* stars", "one two three four five six seven",
    "call two times", "phone five six or seven people", "ISO 800-ABC", "1-800-AB", "800-53 NIST", "0x4155552671", "a4155552671",
    "1 2 3 4 5 6 7 8 9", "2, 4, 6, 8, 10, 12", "10:30-12:45", "sizes 36-38-40-42",
]  # fmt: skip


@pytest.mark.parametrize("text", NONE)
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
    st.sampled_from([value for _, _, value in READ]),
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
