"""Names by a list and by roles: found beside each other, alone where a role says so, and never because a word is a name elsewhere."""

from __future__ import annotations

import gzip
import re
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from rai.personal.listed import LIST, find_listed, plain
from rai.personal.redact import MASK, Redactor, merged
from tests.tables import Tables

TABLES = Tables(__file__)
REDACTOR = Redactor()
_MARKS = re.compile(r"\[((?!\d)[^\]]+)\]")


@TABLES.each("found")
def test_found(text: str) -> None:
    plain_text = _MARKS.sub(r"\1", text)
    assert [p.value for p in REDACTOR.find(plain_text) if p.kind == "PERSON"] == _MARKS.findall(text)


@TABLES.each("left_alone")
def test_left_alone(text: str) -> None:
    assert REDACTOR.find(text) == []


def test_accents_and_case_make_no_difference() -> None:
    assert plain("Þórdís") == plain("THORDIS")
    assert plain("Łukasz") == plain("lukasz")
    assert REDACTOR.redact("a letter of Agnieszka Wojcik, a letter of Agnieszka Wójcik") == (
        f"a letter of {MASK * 16}, a letter of {MASK * 16}"
    )


def test_the_list_is_small_sorted_and_says_each_name_once() -> None:
    sections = [s.split("\n") for s in gzip.decompress(LIST.read_bytes()).decode("ascii").split("\n\n")]
    assert LIST.stat().st_size <= 150 * 1024
    assert len(sections) == 7
    assert all(section == sorted(set(section)) for section in sections)
    assert not any(set(a) & set(b) for a, b in combinations(sections, 2))
    assert all(plain(name) == name for section in sections for name in section)


def test_the_licence_of_the_list_lies_beside_it() -> None:
    text = LIST.with_name("names.license.txt").read_text("utf-8")
    assert "Copyright (c) 2012 Daniele Faraglia" in text
    assert "Unicode, Inc." in text


_PIECES = st.sampled_from(
    [
        "Henrike",
        "Baumgartner",
        "henrike",
        "HOFFMANN",
        "O'Sullivan",
        "van",
        "T.",
        ",",
        ".",
        "\n",
        ":",
        " ",
        " ",
        "\t",
        "mr ",
        "1",
        "Jr.",
        "'s",
        "é",
        "“",
    ]
)


@given(st.lists(_PIECES, max_size=30).map("".join))
def test_spans_lie_in_the_text_and_hold_a_letter_at_both_ends(text: str) -> None:
    for start, end in find_listed(text):
        assert 0 <= start < end <= len(text)
        assert text[start].isalpha()
        assert text[end - 1].isalpha() or text[end - 1] == "."


@given(
    st.lists(
        st.sampled_from("the box is late and we paid for it in june with a card 12 € on monday , . ?".split()),
        max_size=30,
    ).map(" ".join)
)
def test_ordinary_words_in_any_order_hold_no_name(text: str) -> None:
    assert find_listed(text) == []
    assert find_listed(text.capitalize()) == []


@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    assert all(0 <= start < end <= len(text) for start, end in find_listed(text))
    assert merged(text, REDACTOR.find(text)) == REDACTOR.find(text)
