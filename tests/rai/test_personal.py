"""Personal data in four languages is found, and what looks like it is left alone."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from rai.personal.known import KnownPersonalData
from rai.personal.redact import MASK, Redactor, masked, merged
from tests.tables import Tables

TABLES = Tables(__file__)

REDACTOR = Redactor()


@TABLES.each("found")
def test_found(kind: str, text: str, value: str | None) -> None:
    assert [(p.kind, p.value) for p in REDACTOR.find(text)] == ([(kind, value)] if value else [])


@TABLES.each("left_alone")
def test_left_alone(text: str) -> None:
    assert REDACTOR.find(text) == []


@TABLES.each("spread")
def test_what_was_given_away_is_found_in_any_form(given_away: str, text: str, expected: str) -> None:
    known = KnownPersonalData(REDACTOR.find(given_away))
    assert masked(text, merged(text, known.find(text))) == expected


def test_what_the_company_wrote_is_its_own_but_for_single_words() -> None:
    found = REDACTOR.find("My name is Mark Lee, mail help@halden.example, call +1 212 555 0123 or 415-555-2671.")
    known = KnownPersonalData(found, ["Ask Mark. Call (212) 555-0123 or write to Help@halden.example."])
    text = "Mark: help@halden.example, 212-555-0123, 4155552671"
    assert masked(text, merged(text, known.find(text))) == "████: help@halden.example, 212-555-0123, ██████████"


@given(st.text(max_size=300))
def test_spans_are_exact_ascending_and_apart(text: str) -> None:
    found = REDACTOR.find(text)
    assert all(text[p.start : p.end] == p.value for p in found)
    assert all(a.end <= b.start for a, b in pairwise(found))
    assert len(masked(text, found)) == len(text)
    assert masked(text, found).count(MASK) >= sum(len(p.value) for p in found)
