"""What the Teams client needs to make citations of `[n]`: items set apart, and no tables."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.teams.shown.markdown import with_live_citations
from tests.tables import Tables

TABLES = Tables(__file__)


@TABLES.each("shown")
def test_lists_and_tables(text: str, shown: str) -> None:
    assert with_live_citations(text) == shown.rstrip("\n")


def words(text: str) -> list[str]:
    """Lines that hold something, without the sign of an item."""
    return [re.sub(r"^[ \t]*[-*•] ", "", line) for line in text.split("\n") if line.strip()]


@given(st.text(alphabet="-*: \n[1]`ab", max_size=80))
def test_without_a_table_only_blank_lines_are_added_and_once(text: str) -> None:
    once = with_live_citations(text)
    assert words(once) == words(text)
    assert with_live_citations(once) == once


@pytest.mark.parametrize("rows", [2, 400])
def test_each_row_of_a_table_is_an_item_with_its_citation(rows: int) -> None:
    table = "| Product | Price |\n|---|---|\n" + "\n".join(f"| P{n} | {n} EUR | [1]" for n in range(rows))
    items = [line for line in with_live_citations(table).split("\n") if line]
    assert items == [f"- **P{n}** · Price: {n} EUR [1]" for n in range(rows)]
