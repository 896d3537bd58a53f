"""Whose cell a value stands in: the second step of role binding, for rows such as "Country: France | Support: 01 99 … | Billing: …".

A row has a key (its first cell) and labelled cells. A value belongs to its row's key and to its cell's label. If the claim names
the key of another row, or the label of another cell with such a value, and not those of the cell that holds the value, the value
is another's: the right number in the wrong role.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grounding.text import stem, terms
from rai.support.sources import Place

Words = frozenset[str]
_ALIASES = {"uk": "united kingdom", "gb": "united kingdom", "britain": "united kingdom", "us": "united states", "usa": "united states",
            "america": "united states", "german": "germany", "french": "france", "canadian": "canada", "british": "united kingdom"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a row: its label ("" if it has none), what it says, and where it stands in its field."""

    label: str
    text: str
    start: int
    end: int


def cells(place: Place) -> list[Cell]:
    """The cells of the row in which a value stands; empty for prose."""
    line = place.text()[place.unit.start : place.unit.end]
    if place.unit.field != "text" or " | " not in line:
        return []
    out, at = [], place.unit.start
    for piece in line.split(" | "):
        label, colon, text = piece.partition(": ")
        out.append(Cell(label if colon else "", text if colon else piece, at, at + len(piece)))
        at += len(piece) + 3
    return out


def names(text: str) -> Words:
    """Terms of a text, with what countries are also called."""
    found = set(terms(text))
    lowered = text.lower().replace(".", "").split()
    for word in (w.strip(",;:!?()'\"") for w in lowered):
        found.update(stem(t) for t in _ALIASES.get(word, "").split())
    return frozenset(found)


def others_cell(place: Place, others: Sequence[Place], said_in: Sequence[str]) -> str | None:
    """What the claim names instead of the cell that holds the value ("Germany", "Billing"), or None if nothing speaks against it.

    `others`: values of the same kind in the same source. `said_in`: the clause, its sentence, the question; a later one counts
    only where the earlier name no key or label of this row.
    """
    mine = cells(place)
    if not mine:
        return None
    here = next((c for c in mine if c.start <= place.found.start < c.end), mine[-1])
    keys = [
        (mine[0], row[0])
        for row in (cells(p) for p in others if p.unit.start != place.unit.start)
        if _same_table(mine, row)
    ]
    labels = [
        (here, c)
        for p in others
        if p.unit.start == place.unit.start
        for c in mine
        if c.start <= p.found.start < c.end and c is not here
    ]
    for said in map(names, said_in):
        for own, other, naming in [*((k, o, "text") for k, o in keys), *((k, o, "label") for k, o in labels)]:
            theirs, ours = names(getattr(other, naming)), names(getattr(own, naming))
            if theirs - ours and (theirs - ours) <= said and not (ours - theirs) & said:
                return str(getattr(other, naming))
        if any(names(c.text if c is mine[0] else c.label) & said for c in mine):
            return None  # it says itself whose value it is
    return None


def _same_table(mine: Sequence[Cell], row: Sequence[Cell]) -> bool:
    """Rows of one table share the label of their first cell, and most of the others."""
    if not row or row[0].label != mine[0].label or row[0].text == mine[0].text:
        return False
    shared = {c.label for c in mine} & {c.label for c in row}
    return len(shared) * 2 >= min(len(mine), len(row))
