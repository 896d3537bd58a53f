"""Ranges of quantities, months and days in cells, and what of a question they hold."""

import pytest

from grounding.quoting.ranges import UnitRange, fits, said, span_of


@pytest.mark.parametrize(
    ("cell", "span"),
    [
        ("over 10 to 14 m", UnitRange("m", 10, 14, above=True)),
        ("up to 10 m", UnitRange("m", None, 10)),
        ("over 14 m", UnitRange("m", 14, None, above=True)),
        ("under 5 kg", UnitRange("kg", None, 5, under=True)),
        ("€50 to €100", UnitRange("money", 50, 100)),
        ("72 to 24 hours before", UnitRange("hour", 24, 72)),
        ("bis 30 kg", UnitRange("kg", None, 30)),
        ("Age 8–14", None),
        ("Brannock", None),
    ],
)
def test_a_cell_says_a_range_of_one_unit(cell: str, span: UnitRange | None) -> None:
    assert span_of(cell) == span


@pytest.mark.parametrize(
    ("cell", "question", "held"),
    [
        ("over 10 to 14 m", "lift for a 12 m boat", True),
        ("over 10 to 14 m", "lift for a 12 metre boat", True),
        ("over 10 to 14 m", "lift for a 10 m boat", False),
        ("up to 10 m", "lift for a 10m boat", True),
        ("over 10 to 14 m", "boat of 12 t", None),
        ("Oct–Mar, Mon–Fri", "and in october", True),
        ("Oct–Mar, Mon–Fri", "saturday in october", False),
        ("October to March", "in january?", True),
        ("October to March", "july", False),
        ("Mon-Thu", "wednesdays?", True),
        ("Fri to Mon", "sundays?", True),
        ("Mo", "monday", None),
        ("Oktober bis März", "im Januar", True),
        ("May", "may he come", None),
        ("May", "can he come in may", True),
    ],
)
def test_a_range_holds_what_a_question_says(cell: str, question: str, held: bool | None) -> None:
    assert fits(cell, said(question)) is held


def test_what_is_said_last_counts_and_leaves_the_rest_as_it_was() -> None:
    earlier, now = said("12 m boat, 7 t, in july"), said("and for 9 m?")
    both = now.over(earlier)
    assert {unit: value for value, unit in both.quantities} == {"m": 9, "t": 7}
    assert both.months == {6}
