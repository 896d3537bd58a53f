"""Contacts and amounts as a whole: where they stand, and texts that are cut beside them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.wording.values import excerpt, value_at, value_spans, whole_until


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("Call +49 30 12345678 or see https://contoso.com/a.", ["+49 30 12345678", "https://contoso.com/a"]),
        ("**$5**, 12 % and 30 days", ["$5", "12 %", "30 days"]),
        ("__https://contoso.com/a__\n## 0800 111 2222", ["https://contoso.com/a", "0800 111 2222"]),
        ("**21*0800111#, or ***#06#**", ["**21*0800111#", "*#06#"]),
        ("- 5 °C\n- 5 GB", ["- 5 °C", "5 GB"]),
        ("Call 0800 111 2222 (⚠) or @ed (⚠).", ["0800 111 2222 (⚠)", "d (⚠)"]),
        ("Two ways, on 3 May.", []),
    ],
)
def test_contacts_and_amounts_are_found_whole(text: str, values: list[str]) -> None:
    assert [text[start:end] for start, end in value_spans(text)] == values


CALL = "We are there. Call +49 30 12345678 now, or pay $1,250.00 there"


@pytest.mark.parametrize("limit", range(2, len(CALL)))
def test_no_value_is_cut_in_two(limit: int) -> None:
    end = whole_until(CALL, limit)
    assert 0 < end <= limit
    assert value_at(CALL, end) == (end, end)


def test_of_one_value_alone_the_beginning_is_shown() -> None:
    assert whole_until("https://contoso.com/help", 12) == 12


@pytest.mark.parametrize(
    ("text", "limit", "kept"),
    [
        (CALL, 100, CALL),
        (CALL, 40, "We are there. …"),
        ("A heading\nand words behind it", 15, "A heading …"),
        ("Call us on +49 30 12345678 now", 20, "Call us on…"),
        ("Only words and no end at all", 12, "Only words…"),
        ("Ring us at 0800 111 2222 (⚠) now", 27, "Ring us at…"),
        ("Offenbar", 5, "Offe…"),
    ],
)
def test_an_excerpt_ends_with_a_sentence_or_else_a_word(text: str, limit: int, kept: str) -> None:
    assert excerpt(text, limit) == kept


@given(st.text(alphabet="ab 1.+\n", max_size=80), st.integers(5, 60))
def test_an_excerpt_fits_and_is_a_beginning(text: str, limit: int) -> None:
    short = excerpt(text, limit)
    assert len(short) <= limit
    assert short == text or text.startswith(short.removesuffix("…").removesuffix(" "))
