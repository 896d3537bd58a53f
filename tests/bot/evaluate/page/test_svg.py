"""Drawings: no text of them is markup, and any number of values can be drawn."""

from __future__ import annotations

import pytest

from bot.evaluate.page import svg
from tests.bot.evaluate.questions import HOSTILE


def test_no_text_of_a_plot_is_markup() -> None:
    bars = [svg.Bar(HOSTILE, 0.5, 0.4, 0.6, 3)]
    drawn = svg.rows(bars, HOSTILE) + svg.columns([HOSTILE], [svg.Series("a", "here", [1.0])], HOSTILE, HOSTILE)
    assert "<script" not in drawn
    assert "<img" not in drawn
    assert 'aria-label="&lt;script' in drawn


@pytest.mark.parametrize("values", [[], [0.0], [0.0, 0.0], [1.0, -1.0], [0.1] * 3000])
def test_plots_take_any_number_of_values(values: list[float]) -> None:
    for drawn in (
        svg.differences(values, "l", "x"),
        svg.sorted_shares([svg.Series("a", "here", [abs(v) for v in values])], "l", "x"),
        svg.gain_span(0.0, 0.0, 0.0, 0.0),
        svg.curve([svg.Series("a", "here", [0.5])], "l", "x"),
    ):
        assert drawn.startswith("<svg")
        assert "nan" not in drawn
