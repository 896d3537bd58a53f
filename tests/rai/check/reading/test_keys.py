"""What a source puts to a value: rows, columns, headings; and what an answer must say to name one of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rai.check.reading.keys import axes_of, rows_apart, spoken

TABLE = "| Plan | Price | Term |\n|---|---|---|\n| Start | $9 | 12 months |\n| Go | $15 | 24 months |"
SECTIONS = "ZONE A (EU, Norway)\nData limit: 20 GB\n\nZONE B (USA, Turkey)\nData limit: 6 GB"
LINES = "Shop: Graz | Opens: 9:00 | Closes: 18:00\nShop: Wien | Opens: 10:00 | Closes: 19:00"


def axes(text: str, value: str) -> dict[str, set[frozenset[str]]]:
    return {a.by: {k.every for k in a.keys.values()} for a in axes_of(text, text.index(value))}


def test_a_cell_has_its_row_and_its_column() -> None:
    found = axes(TABLE, "$15")
    assert found == {
        "cell-row": {frozenset({"start"}), frozenset({"go"})},
        "cell-column": {frozenset({"pric"}), frozenset({"term"})},
    }


def test_a_line_of_one_label_below_several_headings_has_them() -> None:
    assert set(axes(SECTIONS, "6 GB")) == {"section"}


def test_rows_without_a_header_are_told_apart_by_what_their_first_cells_say() -> None:
    assert axes(LINES, "18:00")["cell-row"] == {frozenset({"graz"}), frozenset({"wien"})}


def test_cells_that_say_what_their_column_is_called_are_told_apart_by_that() -> None:
    assert axes(LINES, "18:00")["cell-column"] == {frozenset({"open"}), frozenset({"clos"})}


def test_a_row_is_called_by_its_cells_up_to_the_first_figure() -> None:
    rooms = "house: Quayhead | room: Oak Bark | seats: 6 | hour: £22\nhouse: Quayhead | room: Sumac P4 | seats: 10 | hour: £33"
    assert axes(rooms, "£22")["cell-row"] == {
        frozenset({"quayhead", "oak", "bark"}),
        frozenset({"quayhead", "sumac", "p4"}),
    }


def test_a_table_goes_on_in_another_passage_whose_columns_are_called_the_same() -> None:
    one, other = LINES.splitlines()
    (axis,) = rows_apart(one, one.index("18:00"), other)
    assert {k.every for k in axis.keys.values()} == {frozenset({"graz"}), frozenset({"wien"})}
    assert axis.own == -1
    assert [other[slice(*span)] for span in axis.spans.values()] == ["Closes: 19:00"]
    assert rows_apart(one, one.index("18:00"), other.replace("Closes", "Shuts")) == ()
    assert rows_apart("Graz closes at 18:00.", 16, other) == ()


@pytest.mark.parametrize("value", ["Start", "Price", "Plan"])
def test_a_key_itself_is_judged_by_none(value: str) -> None:
    assert axes_of(TABLE, TABLE.index(value)) == ()


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("in Turkey you have", {"B"}),
        ("Zone A gives you", {"A"}),
        ("both in Norway and the USA", {"A", "B"}),
        ("abroad you have", set()),
    ],
)
def test_a_heading_is_named_by_a_name_of_its_own_or_by_its_number_with_the_word_before(
    said: str, named: set[str]
) -> None:
    (axis,) = axes_of(SECTIONS, SECTIONS.index("6 GB"))
    starts = {"A": SECTIONS.index("20 GB"), "B": SECTIONS.index("6 GB")}
    keys = axis.named(spoken(said))
    assert {z for z, at in starts.items() if any(axis.spans[k][0] <= at < axis.spans[k][1] for k in keys)} == named


@given(st.text(alphabet="ab 12|:#\n-*.", max_size=200), st.integers(0, 200))
def test_spans_lie_within_any_text(text: str, at: int) -> None:
    for axis in axes_of(text, at):
        assert all(0 <= a <= b <= len(text) for a, b in axis.spans.values())
        assert axis.own in axis.keys


def test_a_day_is_named_by_any_of_its_names_and_by_a_range() -> None:
    assert spoken("Sat").words == spoken("on Saturday").words == {"day 6"}
    assert {f"day {n}" for n in range(1, 5)} <= spoken("Mon–Thu").words


def test_a_number_with_its_word_is_no_other_number() -> None:
    assert not spoken("the Level 3 repair").has("level 2")


def test_a_key_of_several_things_is_named_by_one_of_them() -> None:
    table = "| Who | Days |\n|---|---|\n| Spouse, partner, child | 10 days |\n| Parent | 5 days |"
    (axis, *_) = axes_of(table, table.index("5 days"))
    assert axis.named(spoken("after the death of your partner")) == {1}
