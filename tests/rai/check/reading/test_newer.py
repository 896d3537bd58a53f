"""Which of two documents is newer, as their own lines tell it."""

from __future__ import annotations

import pytest

from rai.check.reading.newer import newer_of
from rai.check.reading.sources import prepare
from rai.records import Source

MAIL = "From: Priya Oduya\nTo: all agents\nDate: February 6, 2025\nSubject: New rates\n\nThe rate is $8.25."


@pytest.mark.parametrize(
    "older",
    [
        "KB-311 Sealing\nLast edited: November 4, 2024\n\nWe charge $7.50.",
        "# Parent handbook, edition 2023\n\nWe charge $7.50.",
        "Preisliste\nStand: 04.11.2024\n\nWe charge $7.50.",
    ],
)
def test_a_document_without_a_title_tells_its_age_in_its_first_lines(older: str) -> None:
    first, second = prepare(Source("a", older), ()), prepare(Source("b", MAIL), ())
    assert newer_of(first, second) == newer_of(second, first) == second.source


def test_a_day_that_is_spoken_of_dates_nothing() -> None:
    first, second = prepare(Source("a", "We are shut on November 4, 2024."), ()), prepare(Source("b", MAIL), ())
    assert newer_of(first, second) is None
