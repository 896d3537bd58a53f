"""Percentages and quantities: units, ranges, sides, multiples and rates, each with its near miss; forms are fixed points."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rai.claims.found import Found
from rai.claims.numbers.numbers import find_number, find_percent, find_quantity
from rai.claims.numbers.units import MEASURES

QUANTITIES = [
    ("5-8 days", [("5", "5 day"), ("8 days", "8 day")]),
    ("5 – 8 days", [("5", "5 day"), ("8 days", "8 day")]),
    ("5 to 8 business days", [("5", "5 business day"), ("8 business days", "8 business day")]),
    ("between 5 and 8 days", [("5", "5 day"), ("8 days", "8 day")]),
    ("five or six days", [("five", "5 day"), ("six days", "6 day")]),
    ("rooms 5 and 8 days", [("8 days", "8 day")]),
    ("won 8-5 days ago", [("5 days", "5 day")]),
    ("from -5 to 8 °C", [("-5", "-5 °C"), ("8 °C", "8 °C")]),
    ("85x60x60cm", [("85", "85 cm"), ("60", "60 cm"), ("60cm", "60 cm")]),
    ("85 by 60 cm", [("85", "85 cm"), ("60 cm", "60 cm")]),
    ("1920x1080 px", [("1920", "1920 px"), ("1080 px", "1080 px")]),
    ("4 x 100 g", [("100 g", "100 g")]),
    ("2 hours 30 minutes", [("2 hours 30 minutes", "150 minute")]),
    ("2 hours and 30 minutes", [("2 hours and 30 minutes", "150 minute")]),
    ("2h 30min", [("2h 30min", "150 minute")]),
    ("1 hour or 30 minutes", [("1 hour", "1 hour"), ("30 minutes", "30 minute")]),
    ("7 days, 24 hours", [("7 days", "7 day"), ("24 hours", "24 hour")]),
    ("1 year and 6 months", [("1 year and 6 months", "18 month")]),
    ("5 ft 10 inches", [("5 ft 10 inches", "70 inch")]),
    ("two and a half hours", [("two and a half hours", "2.5 hour")]),
    ("2 hours and a half", [("2 hours and a half", "2.5 hour")]),
    ("an hour and a half", [("an hour and a half", "1.5 hour")]),
    ("half an hour, half-day", [("half an hour", "0.5 hour"), ("half-day", "0.5 day")]),
    ("an hour before", [("an hour", "1 hour")]),
    ("within a day", [("a day", "1 day")]),
    ("have a day, a month, an hour", []),
    ("5 a day", []),
    ("-5 °C, 5°C, 5° C, 5 ℃", [("-5 °C", "-5 °C"), ("5°C", "5 °C"), ("5° C", "5 °C"), ("5 ℃", "5 °C")]),
    ("5 degrees Fahrenheit, 5 degrees", [("5 degrees Fahrenheit", "5 °F"), ("5 degrees", "5 degree")]),
    ("20 degrees below zero", [("20 degrees below zero", "-20 degree")]),
    ("50 m², 50 sq ft, 50 square metres", [("50 m²", "50 m²"), ("50 sq ft", "50 sq foot"), ("50 square metres", "50 m²")]),
    ("5 m2, 5 m³, 5 fl oz, 5 oz", [("5 m2", "5 m²"), ("5 m³", "5 m³"), ("5 fl oz", "5 fl oz"), ("5 oz", "5 oz")]),
    ('15.6" display', [('15.6"', "15.6 inch")]),
    ('he said "take 5" then', []),
    ("100 Mb, 100 MB, 16 GiB", [("100 Mb", "100 Mbit"), ("100 MB", "100 MB"), ("16 GiB", "16 GiB")]),
    ("100 Mb/s, 100 MB/s, 100 Mbps", [("100 Mb/s", "100 Mbps"), ("100 MB/s", "100 MB/s"), ("100 Mbps", "100 Mbps")]),
    ("60 mph, 60 miles per hour, 60 miles an hour", [("60 mph", "60 mph"), ("60 miles per hour", "60 mph"), ("60 miles an hour", "60 mph")]),
    ("twice a week, once a month", [("twice", "2 times"), ("once", "1 times")]),
    ("once you think twice, double rooms", []),
    ("double the price, 3x faster, three times", [("double", "2 times"), ("3x", "3 times"), ("three times", "3 times")]),
    ("3-time champion, 3X", []),
    ("30 Tage; 2 Wochen; 3 jours; 5 horas; 2 giorni; 3 meses", [("30 Tage", "30 day"), ("2 Wochen", "2 week"), ("3 jours", "3 day"), ("5 horas", "5 hour"), ("2 giorni", "2 day"), ("3 meses", "3 month")]),
    ("the 1990s, 5G, 5 s", [("5 s", "5 second")]),
    ("the second day, 10 seconds", [("10 seconds", "10 second")]),
    ("seat 20C, size 5 L", []),
]  # fmt: skip

RATES = [
    ("5 GB per month", "month"), ("5 GB/month", "month"), ("5 GB a month", "month"), ("5 GB monthly", "month"), ("5 GB each", "item"),
    ("5 GB per user per month", "month user"), ("5 GB/user/mo", "month user"), ("3 nights", ""), ("5 GB a lot", ""), ("5 GB per se", ""),
]  # fmt: skip

PERCENTS = [
    ("50 %", [("50 %", "50%")]),
    ("fifty per cent", [("fifty per cent", "50%")]),
    ("50 pct, 50 Prozent, 50 por ciento", [("50 pct", "50%"), ("50 Prozent", "50%"), ("50 por ciento", "50%")]),
    ("50 percentage", []),
    ("10-20%", [("10", "10%"), ("20%", "20%")]),
    ("2 or 10%", [("2", "2%"), ("10%", "10%")]),
    ("2 and 10%", [("10%", "10%")]),
    ("5 percentage points, 5 pp", [("5 percentage points", "5pp"), ("5 pp", "5pp")]),
    ("50 basis points, 50bps", [("50 basis points", "0.5pp"), ("50bps", "0.5pp")]),
    ("5‰", [("5‰", "0.5%")]),
    ("fell by -5%", [("-5%", "-5%")]),
    ("two and a half percent", [("two and a half percent", "2.5%")]),
]


def _forms(text: str, found: list[Found]) -> list[tuple[str, str]]:
    return [(text[f.start : f.end], f.value) for f in found]


@pytest.mark.parametrize(("text", "expected"), QUANTITIES, ids=[t for t, _ in QUANTITIES])
def test_quantities(text: str, expected: list[tuple[str, str]]) -> None:
    """Every quantity of the text with its exact span and normal form, and no other."""
    assert _forms(text, find_quantity(text)) == expected


@pytest.mark.parametrize(("text", "per"), RATES)
def test_what_a_quantity_is_per(text: str, per: str) -> None:
    """The period and the thing after per, a, each and a slash; other words are none."""
    assert find_quantity(text)[0].per == per


@pytest.mark.parametrize(("text", "expected"), PERCENTS, ids=[t for t, _ in PERCENTS])
def test_percentages(text: str, expected: list[tuple[str, str]]) -> None:
    """Every percentage of the text with its exact span and normal form, and no other."""
    assert _forms(text, find_percent(text)) == expected


def test_what_holds_its_own_unit_is_no_number() -> None:
    """Twice and an hour are quantities; as bare numbers they would match any 2 and any 1."""
    assert find_number("twice a week, an hour before, one of them") == []


NUMBERS = st.decimals(min_value=0, max_value=10**7, places=2, allow_nan=False).map(lambda d: f"{d:f}".rstrip("0").rstrip("."))  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(NUMBERS, st.sampled_from(sorted(MEASURES)), st.sampled_from(["", "business "]))
def test_a_quantity_form_reads_as_itself(number: str, unit: str, adjective: str) -> None:
    """The normal form of a quantity, read again, is itself over its whole length."""
    value = f"{number} {adjective if unit == 'day' else ''}{unit}"
    assert [(f.start, f.end, f.value) for f in find_quantity(value)] == [(0, len(value), value)]


@settings(max_examples=100, deadline=None)
@given(NUMBERS, st.sampled_from(["%", "pp"]))
def test_a_percent_form_reads_as_itself(number: str, sign: str) -> None:
    """The normal form of a percentage, read again, is itself."""
    assert [f.value for f in find_percent(f"{number}{sign}")] == [f"{number}{sign}"]


PARTS = st.sampled_from(
    ["5", "-5", "1,200", "½", "1/2", "half an", "an", "hour", "two", "and a half", "third", "of", "%", "pp", "GB", "/", "month", "per", "to", "–", "x",
     "cm", " ", "minus", "dozen", "twice", "a", "second", "floor", "million", "k", "²", "°", "C", "１", "İ", "ß", ".", ",", "'", "\n", "between", "and"]
)  # fmt: skip
TEXTS = st.one_of(
    st.lists(PARTS, max_size=15).map(" ".join), st.lists(PARTS, max_size=15).map("".join), st.text(max_size=40)
)


@settings(max_examples=300, deadline=None)
@example("5 hour and a half month")
@example("3-2 h 30 before")
@given(TEXTS)
def test_spans_ascend_and_every_form_reads_as_itself(text: str) -> None:
    """Spans of one finder do not overlap, and every normal form that it gives it also reads."""
    for find in (find_percent, find_quantity, find_number):
        found = find(text)
        assert all(0 <= f.start < f.end <= len(text) for f in found)
        assert all(a.end <= b.start for a, b in itertools.pairwise(found))
        for form in {form for f in found for form in f.forms}:
            assert any(form in again.forms for again in find(form)), form


@pytest.mark.parametrize(
    "piece", ["5 days ", "5-8 ", "5x", "5 h 5 min ", "5 GB per ", "5 square ", "5% ", "5 to ", "monthly fee of 5 GB "]
)
def test_long_runs_end(piece: str) -> None:
    """100,000 characters of one kind are read in one pass."""
    text = piece * (100_000 // len(piece))
    assert all(f.end <= len(text) for find in (find_percent, find_quantity, find_number) for f in find(text))
