"""Labels that ran into the value before them are read, and every offset is one into the text as it was."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rai.personal.glued import back, unglued
from rai.personal.redact import Redactor

REDACTOR = Redactor()


def test_labels_without_anything_between_them() -> None:
    text = "name:Henrike Baumgartnerdob:14/02/1981policy:KT4409172-8phone:07700900417 asks about water"
    found = {p.value for p in REDACTOR.find(text)}
    assert {"Henrike Baumgartner", "14/02/1981", "KT4409172-8", "07700900417"} <= found


@pytest.mark.parametrize(
    "text",
    [
        "hotel: booked",
        "username: x",
        "my hostname: a",
        "reorder: no",
        "a: b",
        "no colon",
        "name: Anna\ndob: 1",
        "https://tel:80/x",
    ],
)
def test_longer_words_and_parted_labels_stay(text: str) -> None:
    assert unglued(text) is None


@given(
    st.lists(
        st.sampled_from(["name:", "dob:", "x", "7", " ", "phone:", "hotel: ", "\n", "é", "policy: "]), max_size=30
    ).map("".join)
)
def test_offsets_come_back(text: str) -> None:
    parted = unglued(text)
    if parted is None:
        return
    plain, places = parted
    assert len(plain) == len(text) + len(places)
    assert all(plain[place] == "\n" for place in places)
    for at, sign in enumerate(plain):
        if at not in places:
            assert text[back(places, at)] == sign
