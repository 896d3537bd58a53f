"""References are found behind labels of several languages; wordings, dates, articles and versions are none."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from rai.personal.numbers import find_references
from rai.personal.redact import Redactor
from tests.tables import Tables

TABLES = Tables(__file__)
REDACTOR = Redactor()
_MARKS = re.compile("⟦([^⟧]+)⟧")


@TABLES.each("found")
def test_found(text: str) -> None:
    found = [p.value for p in REDACTOR.find(_MARKS.sub(r"\1", text))]
    assert found == _MARKS.findall(text)


@TABLES.each("left_alone")
def test_left_alone(text: str) -> None:
    assert REDACTOR.find(text) == []


@TABLES.each("births")
def test_births_are_found(text: str) -> None:
    found = [p.value for p in REDACTOR.find(_MARKS.sub(r"\1", text)) if p.kind == "BIRTHDATE"]
    assert found == _MARKS.findall(text)


@TABLES.each("no_births")
def test_no_births_are_found(text: str) -> None:
    assert not [p for p in REDACTOR.find(text) if p.kind == "BIRTHDATE"]


@given(
    st.lists(
        st.sampled_from(["policy ", "file ", "A", "-", "/", "2025", "4", "77", " ", "(", ")", " and ", "nr ", "."]),
        max_size=20,
    ).map("".join)
)
def test_references_lie_in_the_text_and_hold_a_digit(text: str) -> None:
    for start, end in find_references(text):
        assert 0 <= start < end <= len(text)
        assert any(c.isdigit() for c in text[start:end])
