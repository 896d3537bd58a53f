"""Addresses are found whole, in the forms of many countries; numbers beside words are none."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from rai.personal.postal import find_postal
from rai.personal.redact import Redactor
from tests.tables import Tables

TABLES = Tables(__file__)
REDACTOR = Redactor()
_MARKS = re.compile("⟦([^⟧]+)⟧")


@TABLES.each("found")
def test_found_whole(text: str) -> None:
    plain = _MARKS.sub(r"\1", text)
    assert [p.value for p in REDACTOR.find(plain) if p.kind == "ADDRESS"] == _MARKS.findall(text)


@TABLES.each("left_alone")
def test_left_alone(text: str) -> None:
    assert find_postal(text) == []


_PIECES = st.sampled_from(
    [
        "12",
        "Mill",
        "Lane",
        ", ",
        "\n",
        " ",
        "GL54 2JG",
        "48155",
        "Münster",
        "Flat ",
        "P.O. Box ",
        "#",
        "º",
        "7",
        "-",
        "Street .... ",
        "Ltd",
        ". ",
        "rue ",
        "1016 GC",
    ]
)


@given(st.lists(_PIECES, max_size=25).map("".join))
def test_spans_lie_in_the_text(text: str) -> None:
    assert all(0 <= start < end <= len(text) for start, end in find_postal(text))
    assert all(text[start:end].strip() for start, end in find_postal(text))


@given(
    st.lists(
        st.sampled_from("the box is late and we paid 12 € for it in june with 3 cards on 14 monday , .".split()),
        max_size=30,
    ).map(" ".join)
)
def test_small_words_and_numbers_are_no_address(text: str) -> None:
    assert find_postal(text) == []
