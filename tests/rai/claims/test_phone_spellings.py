"""Numbers of every country in many spellings and surroundings are read as one number each, with the right digits."""

from __future__ import annotations

import phonenumbers
import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st
from phonenumbers import PhoneNumberFormat, PhoneNumberType

from rai.claims.find import find_values
from tests.tables import Tables

TABLES = Tables(__file__)

FRAMES = TABLES.texts("frames")
COUNTRIES = ("US", "GB", "DE", "FR", "ES", "IT", "PT", "CH", "BE", "IE", "CA", "AU", "SE", "DK", "PL", "IN", "JP", "BR")
TYPES = (PhoneNumberType.FIXED_LINE, PhoneNumberType.MOBILE, PhoneNumberType.TOLL_FREE)


def _example(region: str, kind: int, tail: int) -> phonenumbers.PhoneNumber:
    """A valid number of the region whose last three digits are `tail`."""
    base = phonenumbers.example_number_for_type(region, kind)
    if base is None:
        reject()
    digits = phonenumbers.national_significant_number(base)[:-3] + f"{tail:03d}"
    number = phonenumbers.parse(f"+{base.country_code}{digits}", None)
    assume(phonenumbers.is_valid_number(number))
    return number


def _spelled(number: phonenumbers.PhoneNumber, how: int) -> str:
    national = phonenumbers.format_number(number, PhoneNumberFormat.NATIONAL)
    international = phonenumbers.format_number(number, PhoneNumberFormat.INTERNATIONAL)
    first, _, rest = national.partition(" ")
    trunked = bool(rest) and first.startswith("0")
    return (
        national,
        international,
        phonenumbers.format_number(number, PhoneNumberFormat.E164),
        f"({first}) {rest}" if trunked else national,
        f"{first}/{rest}" if trunked else national,
        international.replace(" ", " (0)", 1) if trunked else international,
        international.replace(" ", "-"),
    )[how]


def _read(text: str, regions: tuple[str, ...]) -> list[str]:
    return [v.value.partition(";")[0] for v in find_values(text, regions) if v.kind == "phone"]


@settings(max_examples=400, deadline=None)
@given(
    st.sampled_from(COUNTRIES),
    st.sampled_from(TYPES),
    st.tuples(st.integers(0, 999), st.integers(0, 999)),
    st.integers(0, 6),
    st.sampled_from(FRAMES),
)
def test_each_number_is_read_once(region: str, kind: int, tails: tuple[int, int], how: int, frame: str) -> None:
    """One reading for each number of the text, whatever follows it: hours, prices, an extension, another number."""
    numbers = [_example(region, kind, tail) for tail in tails[: frame.count("{}")]]
    text = frame.format(*(_spelled(n, how) for n in numbers))
    assert _read(text, (region,)) == [phonenumbers.format_number(n, PhoneNumberFormat.E164) for n in numbers], text


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(sorted(phonenumbers.SUPPORTED_REGIONS)),
    st.sampled_from(TYPES),
    st.integers(0, 999),
    st.sampled_from(FRAMES[:2]),
)
def test_international_numbers_of_every_country(region: str, kind: int, tail: int, frame: str) -> None:
    """With its country code a number needs no region; those of eight digits and more, without full stops."""
    number = _example(region, kind, tail)
    written = _spelled(number, 1)
    assume(sum(c.isdigit() for c in written) >= 8 and "." not in written)
    assert _read(frame.format(written), ("US", "GB")) == [phonenumbers.format_number(number, PhoneNumberFormat.E164)]


TWO = [
    # text, numbers in it
    ("Support: 020 7946 0321 (24 hours)", ["+442079460321"]),
    ("Support: 020 7946 0321 (24)", ["+442079460321"]),
    ("Call 020 7946 0321 / 020 7946 0388.", ["+442079460321", "+442079460388"]),
    ("Call 020 7946 0321/020 7946 0388.", ["+442079460321", "+442079460388"]),
    ("030 123757 / 030 123491 for help", ["+4930123757", "+4930123491"]),
    ("24/7 - 0800 555 1234", ["+448005551234"]),
    ("0800 555 1234 9-17 Uhr", ["+448005551234"]),
    ("Text STOP to 447700900123.", ["+447700900123"]),
    ("Free: 0800 001 066 or 0800 001 067", ["+44800001066", "+44800001067"]),
]


@pytest.mark.parametrize(("text", "numbers"), TWO)
def test_what_stands_beside_a_number_is_no_part_of_it(text: str, numbers: list[str]) -> None:
    """Hours and other numbers in brackets, behind a slash or a dash."""
    assert _read(text, ("GB", "DE")) == numbers


def test_a_number_that_no_plan_assigns_is_still_one() -> None:
    """0113 496 0999 is kept for fiction; with the trunk prefix and three groups it is a number with and without a cue."""
    for text in (
        "The Leeds office is on 0113 496 0999.",
        "Leeds office: 0113 496 0999. Cardiff office: 029 2018 0999.",
    ):
        forms = next(v.forms for v in find_values(text, ("GB",)) if v.kind == "phone")
        assert "+441134960999" in forms


@pytest.mark.parametrize(
    "text", ["Article 0113 496 099 9", "1 234 567,89 in all", "order no. 0113 496 0999", "Total 12 345 678,50"]
)
def test_other_groups_of_digits_are_none(text: str) -> None:
    """Near misses: amounts, article and order numbers."""
    assert _read(text, ("GB",)) == []
