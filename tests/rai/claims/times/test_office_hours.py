"""Bare hours: in sentences, after other hours, alone in the cells of a table that names days."""

from __future__ import annotations

from rai.claims.times import office_hours

TABLE = "| Club | Mon | Wed |\n|---|---|---|\n| Whinfell | 9–12 | 9–12, 13–15 |"


def test_cells_with_hours_alone_are_hours_where_days_are_named() -> None:
    assert [f.value for f in office_hours.find(TABLE)] == ["09:00", "12:00", "09:00", "12:00", "13:00", "15:00"]


def test_cells_of_other_tables_are_numbers() -> None:
    assert office_hours.find("| Size | Price | Pieces |\n|---|---|---|\n| Small | 9–12 | 13–15 |") == []


def test_a_second_pair_follows_the_first() -> None:
    assert [f.value for f in office_hours.find("Mon 9-12, 13-15")] == ["09:00", "12:00", "13:00", "15:00"]
    assert len(office_hours.find("Mon 9-12, rooms 13-15")) == 2
