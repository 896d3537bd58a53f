"""Days of the year in texts and questions."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounding.quoting.dates import days_said, holds_day, spans_in


def day(month: int, number: int) -> int:
    [(first, last)] = spans_in(f"{dt.date(2024, month, 1):%B} {number}")
    assert first == last
    return first


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("31 December", (12, 31), (12, 31)),
        ("Fri 26 Dec", (12, 26), (12, 26)),
        ("December 31st", (12, 31), (12, 31)),
        ("the 1st of May", (5, 1), (5, 1)),
        ("27–30 December", (12, 27), (12, 30)),
        ("December 27 to 30", (12, 27), (12, 30)),
        ("20 December 2025 to 4 January 2026", (12, 20), (1, 4)),
        ("31. Dezember", (12, 31), (12, 31)),
        ("24.12.2025", (12, 24), (12, 24)),
        ("24.12.", (12, 24), (12, 24)),
        ("2025-12-24", (12, 24), (12, 24)),
        ("le 1er mai", (5, 1), (5, 1)),
    ],
)
def test_a_date_or_a_range_is_read(text: str, first: tuple[int, int], last: tuple[int, int]) -> None:
    assert spans_in(text) == ((day(*first), day(*last)),)


@pytest.mark.parametrize(
    "text",
    [
        "at 12.30.",
        "at 9.00.",
        "it gets £46.00.",
        "it is £ 12.05.",
        "it is in version 6.0.",
        "version 4.2.1",
        "2025-00-12",
        "19.90 a month",
        "from 9 to 12",
        "40 March",
        "10/12",
        "in May",
    ],
)
def test_what_is_no_day_is_none(text: str) -> None:
    assert spans_in(text) == ()


@pytest.mark.parametrize(
    ("question", "text", "held"),
    [
        ("open on new year's eve?", "31 December", True),
        ("open on new year’s eve?", "24 December", False),
        ("habt ihr an Heiligabend auf", "24.–26. Dezember", True),
        ("le jour de l'an", "1er janvier", True),
        ("open on 2 january", "20 December to 4 January", True),
        ("open on 6 january", "20 December to 4 January", False),
        ("open in december", "31 December", None),
        ("open on boxing day", "Mon–Fri 9 to 12", None),
    ],
)
def test_a_span_holds_the_day_that_a_question_names(question: str, text: str, held: bool | None) -> None:
    assert holds_day(text, days_said(question)) is held


@given(
    st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1)),
    st.sampled_from(
        ["{0.day} {0:%B} {0.year}", "{0:%B} {0.day}", "{0.day} {0:%b}", "{0.day}. {0:%B}", "{0:%Y-%m-%d}", "{0:%d.%m.}"]
    ),
)
def test_every_day_of_the_year_is_read_in_every_form(date: dt.date, form: str) -> None:
    said = form.format(date)
    assert spans_in(said) == ((day(date.month, date.day),) * 2,)


PIECES = st.sampled_from(
    ["0", "1", "31", "46", "2025", ".", ",", "-", "–", " ", "/", ":", "£", "th", " to ", "May", "März", "of "]
)


@given(st.text() | st.lists(PIECES, max_size=12).map("".join))
def test_any_text_is_read(text: str) -> None:
    assert all(first > 0 and last > 0 for first, last in spans_in(text))
