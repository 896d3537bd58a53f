"""Questions that filter a table: "which shops are open on Sunday", "places that can't take x-rays". Every row whose cell in the column that is asked
about says yes (or no, where the question denies it) is an answer, and no other row.

A column can be asked so if its cells say yes or no, each in a word of `filters.json` or, what stands for yes, by anything else: opening hours, a number of
spaces. It is asked about where the question says its name or a day that it stands for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from grounding.query.conversation import content
from grounding.quoting.blocks import Cell, blocks, cells
from grounding.quoting.countries import country_codes
from grounding.quoting.features import KEYS, WITHIN, likeness
from grounding.quoting.question_parts import Reading
from grounding.quoting.ranges import days_of, said
from grounding.quoting.siblings import NAME_WORDS, FittedTable
from grounding.records import Passage
from grounding.text import caseless, terms

_LISTS = json.loads(files("grounding.quoting").joinpath("filters.json").read_text("utf-8"))
_ASKED = re.compile(rf"(?<![^\W_])(?:{'|'.join(_LISTS['asked'])})(?![^\W_])")
_DENIED = re.compile(rf"(?<![^\W_])(?:{'|'.join(_LISTS['denied'])})(?![^\W_])")
_NO, _YES = (frozenset(_LISTS[name]) for name in ("no", "yes"))
_WORDS = re.compile(r"[^\W_]+")
_NOTE = re.compile(r"[\s¹²³*.]+$")
LEAST_ROWS = 3
"""Rows of a table that can be filtered."""
MOST = 12
"""Rows that are told: more are no answer that anybody reads."""
PLAIN = 0.6
"""Share of the cells of a column that are a plain yes or no; a column of days may hold hours in their place."""
NAMED = 0.5
"""Share of the words of a column's name that the question says."""


@dataclass(frozen=True, slots=True)
class Filtered:
    """The rows that a question filters, by their indices among the candidates, and the name of the column that decides."""

    rows: tuple[int, ...]
    column: str


def filtered(reading: Reading, fitted: Sequence[FittedTable]) -> Filtered | None:
    """What the question filters; None where it filters nothing. Of several tables the one that keeps the fewest rows counts."""
    question = " ".join(part.text for part in reading.parts)
    plain = caseless(question)
    if not _ASKED.search(plain):
        return None
    denied = len(_DENIED.findall(plain)) % 2 == 1  # what is not closed is open
    out = [f for one in fitted for f in _of_table(one, question, denied=denied)]
    return min(out, key=lambda f: len(f.rows), default=None)


def tables_together(question: str, passages: Sequence[Passage]) -> list[Passage]:
    """`passages` with those of a table that the question filters behind the first of them: which branches are open on Sunday is not told by half of the rows."""
    if not _ASKED.search(caseless(question)):
        return list(passages)
    groups = [_table_of(p) for p in passages]
    asked = {g for g in groups if g is not None and any(_is_asked(header, question) for header in g[1][1:])}
    first = {g: groups.index(g) for g in asked}
    places = [(first[g] if g in asked else n, n) for n, g in enumerate(groups)]
    return [passages[n] for _, n in sorted(places)]


def _table_of(passage: Passage) -> tuple[str, tuple[str, ...]] | None:
    """The table to which most of a passage belongs: its document and the names of its columns; None where no row stands in it."""
    rows = [tuple(c.header for c in cells(b.text)) for b in blocks(passage.text) if b.kind == "row"]
    named = [row for row in rows if all(row)]
    return (passage.doc_id, max(named, key=named.count)) if named else None


def _of_table(one: FittedTable, question: str, *, denied: bool) -> list[Filtered]:
    table = one.table
    if table.labelled or len(table.rows) < LEAST_ROWS or len(one.fit.left) < 2:
        return []  # of one row that is named its own value is asked
    headers = dict.fromkeys(header for row in table.cells for header, _ in row[1:] if header)
    kinds = frozenset(t for row in table.cells for t in terms(row[0][0]))
    out = []
    for header in headers:
        if not _is_asked(header, question):
            continue
        if country_codes(header) and not any(likeness(t, kinds) >= WITHIN for t in content(question)):
            continue  # "who do I call in Germany" asks for none of the plans that there are in Germany
        says = [_says(row, header) for row in table.cells]
        days = bool(days_of(header))
        told = [s for s in says if s is not None]
        if len(told) < LEAST_ROWS or len(set(told)) < 2 or not (days or _is_plain(table.cells, header)):
            continue
        kept = [table.rows[i] for i in one.fit.left if says[i] is (not denied)]
        if 0 < len(kept) <= MOST:
            out.append(Filtered(tuple(kept), header))
    return out


def _is_asked(header: str, question: str) -> bool:
    """True if the question says the name of a column, half of its words at least, or a day that the column stands for."""
    asked = said(question).days
    if asked and (days := days_of(header.replace("_", "-"))):
        return set(asked) <= {_DAY[day] for day in days}
    named = [t for w in _WORDS.findall(header) for t in terms(w)]
    held = frozenset(content(question))
    hits = sum(likeness(t, held) >= WITHIN for t in named)
    return bool(hits) and hits >= NAMED * len(named)


_DAY = {day: number for number, day in enumerate(days_of("Monday–Sunday"))}


def _says(row: Sequence[tuple[str, str]], header: str) -> bool | None:
    """Whether the cell of a row says yes; None where the row has no such cell."""
    value = next((value for name, value in row if name == header), None)
    if value is None:
        return None
    bare = _NOTE.sub("", caseless(value))
    first = next(iter(bare.split()), "")
    no = bare in _NO or (first in _NO and not any(map(str.isdigit, bare)))
    return not no


def _is_plain(rows: Sequence[Sequence[tuple[str, str]]], header: str) -> bool:
    values = [_NOTE.sub("", caseless(value)) for row in rows for name, value in row if name == header]
    return sum(next(iter(v.split()), "") in _NO | _YES for v in values) >= PLAIN * len(values)


def shown_cells(row: Sequence[Cell], column: str) -> tuple[int, ...]:
    """Of a row the cells to tell: what it is about, and the column that decides."""
    values = [cell.span.text.removeprefix(f"{cell.header}: ").strip() for cell in row]
    keys = [i for i, value in enumerate(values[:KEYS]) if _is_name(value)] or [0]
    return tuple(dict.fromkeys([*keys, *(i for i, cell in enumerate(row) if cell.header == column)]))


def _is_name(value: str) -> bool:
    words = value.split()
    return (
        0 < len(words) <= NAME_WORDS
        and any(map(str.isalpha, value))
        and (len(words) == 1 or not any(map(str.isdigit, value)))
    )
