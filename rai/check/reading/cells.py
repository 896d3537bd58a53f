"""The words of a table's cells: what the key of a row and the label of a column say of a value."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from rai.check.reading.clauses import CELL, LONGEST, NONE, Edges, Words, label_of, piece_of
from rai.check.reading.role_words import role_terms, said_words
from rai.claims.found import Found
from rai.claims.times import weekdays

_YEAR = re.compile(r"(?<![\d.,])(?:19|20)\d{2}(?![\d.,]\d|\d)")
_NUMBER = re.compile(r"\d+(?:\.\d+)*")


def cell_words(text: str, edges: Edges, header: str, row: str, values: Sequence[Found]) -> list[Words]:
    """The words of each cell: the key of its row (the first cell, with the values in it), its own label and that of its column.

    `header`: the first row of the table, "" if there is none.
    """
    columns = _columns(header) if header and header != row and ": " not in header else ()
    labels = columns if len(columns) == len(edges) else (NONE,) * len(edges)
    first = text[slice(*edges[0])]
    key = _words((first.partition(": ")[2] or first)[:LONGEST])
    key = key.union(*(label_of(v) for v in values if piece_of(edges, v.start) == 0))
    found = []
    for number, ((a, b), label) in enumerate(zip(edges, labels, strict=True)):
        colon = text.find(": ", a, b)
        own = _words(text[a : min(colon, a + LONGEST)]) if colon >= 0 else NONE
        found.append((key if number else NONE) | label | own)
    return found


@lru_cache(maxsize=256)
def column_dates(header: str) -> tuple[tuple[frozenset[int], frozenset[str]], ...]:
    """The dates of each cell of a table's first row: the weekdays (1 is Monday) and the years that it names."""
    found = []
    for cell in CELL.split(header):
        short = cell[:LONGEST]
        days = frozenset[int]().union(*(weekdays.days_of(v.value) for v in weekdays.find(short)))
        found.append((days, frozenset(_YEAR.findall(short))))
    return tuple(found)


@lru_cache(maxsize=1024)
def row_key(first: str) -> Words:
    """The words of a row's first cell, and its numbers, each after a "="."""
    told = (first.partition(": ")[2] or first)[:LONGEST]
    return said_words(told) | frozenset(f"={n}" for n in _NUMBER.findall(told))


@lru_cache(maxsize=64)
def _columns(header: str) -> tuple[Words, ...]:
    return tuple(_words(cell[:LONGEST]) for cell in CELL.split(header))


def _words(text: str) -> Words:
    return role_terms(text) | said_words(text)
