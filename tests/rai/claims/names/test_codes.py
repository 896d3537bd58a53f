"""Identifiers, the spellings that are the same, and words with figures that are none."""

from __future__ import annotations

import pytest

from rai.claims.find import find_values
from rai.claims.found import Found
from rai.claims.names.codes import find, spellings
from tests.tables import Tables

TABLES = Tables(__file__)


@TABLES.each("read")
def test_read(text: str, characters: str, value: str) -> None:
    """The whole identifier as one claim."""
    assert (characters, value) in [(text[f.start : f.end], f.value) for f in find_values(text) if f.entity == "code"]


@TABLES.each("not_read")
def test_not_read(text: str) -> None:
    """Measures, ages, ordinals, years and plain words are no identifiers."""
    assert [text[f.start : f.end] for f in find(text)] == []


def code(text: str) -> Found:
    """The first identifier of a text."""
    return min(find(text), key=lambda f: (f.start, -f.end))


@TABLES.each("spellings")
def test_spellings(one: str, two: str, same: bool) -> None:
    """Two identifiers are one if a spelling of each is the other's."""
    assert bool(set(code(f"use {one} here").forms) & set(code(f"use {two} here").forms)) == same


@pytest.mark.parametrize("value", sorted({row["value"] for row in TABLES.rows("read")}))
def test_spellings_begin_with_the_value(value: str) -> None:
    """The normal form is the first of its spellings, and its own."""
    assert spellings(value)[0] == value
