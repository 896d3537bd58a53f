"""Units within a dimension: what is the same, what is only rounded, what must stay apart."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rai.claims.numbers.units import MEASURES, converted, dimension_of, prefixed, unit_of

AGREE = [
    ("7 day", "1 week", "same"), ("24 hour", "1 day", "same"), ("90 minute", "1.5 hour", "same"), ("14 day", "1 fortnight", "same"),
    ("12 month", "1 year", "same"), ("24 month", "2 year", "same"), ("30 day", "1 month", None), ("365 day", "1 year", None),
    ("52 week", "1 year", None), ("5 business day", "1 week", None), ("5 day", "5 business day", None), ("1 night", "1 day", None),
    ("1000 MB", "1 GB", "same"), ("1024 MB", "1 GB", "same"), ("1536 MB", "1.5 GB", "same"), ("1100 MB", "1 GB", None),
    ("1024 MiB", "1 GiB", "same"), ("1000 MiB", "1 GiB", None), ("16 GB", "16 GiB", None), ("8 Mbit", "1 MB", "same"),
    ("100 Mbit", "100 MB", None), ("1 Gbps", "1000 Mbps", "same"), ("1 Gbps", "1024 Mbps", "rounded"), ("100 Mbps", "12.5 MB/s", "same"),
    ("1 foot", "12 inch", "same"), ("2.54 cm", "1 inch", "same"), ("8 km", "5 mile", "rounded"), ("5 mile", "8 km", "rounded"),
    ("8.04672 km", "5 mile", "same"), ("2 mile", "3 km", None), ("9 km", "5 mile", None), ("8.1 km", "5 mile", None), ("1.8 m", "180 cm", "same"),
    ("1 lb", "16 oz", "same"), ("10 kg", "22 lb", "rounded"), ("10 kg", "25 lb", None), ("1 kg", "2 lb", None), ("1 t", "1000 kg", "same"),
    ("20 °C", "68 °F", "same"), ("-40 °C", "-40 °F", "same"), ("20 °C", "20 °F", None), ("21 °C", "70 °F", "rounded"), ("1.5 l", "1500 ml", "same"),
    ("1 gallon", "8 pint", "same"), ("1 gallon", "4 l", None), ("2 kW", "2000 W", "same"), ("2 kW", "2 kWh", None), ("1 ha", "10000 m²", "same"),
    ("100 km/h", "62 mph", "rounded"), ("1 GHz", "1000 MHz", "same"), ("5 kg", "5 km", None), ("5 day", "5 day", None), ("5 widget", "5 gadget", None),
]  # fmt: skip

SPELLED = [
    ("Days", "day"), ("MB", "MB"), ("mb", "MB"), ("Mb", "Mbit"), ("mW", "mW"), ("MW", "MW"), ("Tag", "day"), ("tag", None), ("hrs", "hour"),
    ("mes", "month"), ("mess", None), ("", None),
]  # fmt: skip


@pytest.mark.parametrize(("claim", "source", "agreement"), AGREE)
def test_quantities_in_two_units(claim: str, source: str, agreement: str | None) -> None:
    """An exact conversion is the same, a conversion to the stated decimals is rounded, all else is neither."""
    assert converted(claim, source) == agreement


@pytest.mark.parametrize(("claim", "source", "agreement"), [a for a in AGREE if a[2] == "same"])
def test_same_is_symmetric(claim: str, source: str, agreement: str) -> None:
    """Which of the two is the answer's does not matter where they are the same."""
    assert converted(source, claim) == agreement


@pytest.mark.parametrize(("word", "unit"), SPELLED)
def test_spellings(word: str, unit: str | None) -> None:
    """Case counts only where it tells units apart."""
    assert unit_of(word) == unit


@pytest.mark.parametrize(
    ("prefix", "word", "unit"),
    [("square ", "feet", "sq foot"), ("cubic ", "metres", "m³"), ("fl. ", "oz", "fl oz"), ("degrees ", "F", "°F"), ("square ", "days", None), ("degrees ", "km", None)],
)  # fmt: skip
def test_units_of_two_words(prefix: str, word: str, unit: str | None) -> None:
    """Square and cubic lengths, fluid ounces and degrees of a scale; other pairs are no unit."""
    assert prefixed(prefix, word) == unit


BY_DIMENSION = [
    (a, b) for a in MEASURES for b in MEASURES if a < b and dimension_of(a) and dimension_of(a) == dimension_of(b)
]


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(BY_DIMENSION), st.integers(min_value=1, max_value=999))
def test_agreement_has_one_direction_of_error(pair: tuple[str, str], number: int) -> None:
    """A quantity agrees with no more than its own conversion: doubled, it no longer does."""
    mine, theirs = pair
    for claimed in (number, number * 2):
        agreement = converted(f"{claimed} {mine}", f"{number} {theirs}")
        if agreement:
            assert converted(f"{claimed * 2} {mine}", f"{number} {theirs}") is None


def test_time_and_data_need_no_library() -> None:
    """Durations and file sizes are compared without loading pint, which takes half a second."""
    program = "import sys; from rai.claims.numbers.units import converted; assert converted('7 day', '1 week') == 'same'; assert converted('7 day', '5 kg') is None; sys.exit('pint' in sys.modules)"  # fmt: skip
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
