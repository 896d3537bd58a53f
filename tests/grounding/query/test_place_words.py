"""Words that point at a place that was spoken of."""

from __future__ import annotations

from grounding.query.place_words import in_the_place
from tests.tables import Tables

TABLES = Tables(__file__)


@TABLES.each("points")
def test_what_points_at_a_place_names_it(question: str, asked: str) -> None:
    assert in_the_place(question, "France") == asked


@TABLES.each("stays")
def test_what_points_at_no_place_stays(text: str) -> None:
    assert in_the_place(text, "France") == text
