"""Sentences against the cells of a table that say yes or no: "Watch Basic includes pet alerts", where its column has "no"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from grounding.quoting.blocks import Cell, cells
from grounding.text import BAR, terms
from rai.check.statements.contrast import denies
from rai.check.statements.prepared import Decision, PreparedStatement
from rai.records import EvidenceSpan, Source

NO = (
    *"no nein non nee nie não none".split(),
    *("not included", "not offered", "not available", "not possible"),
    *("nicht enthalten", "nicht möglich", "nicht verfügbar", "non inclus", "no incluido", "niet inbegrepen"),
)
YES = tuple("yes ja oui sí si sim tak included inklusive enthalten inclus".split())
_SAYS = re.compile(rf": (?:{'|'.join(map(re.escape, (*NO, *YES)))})(?= \||$)", re.IGNORECASE | re.MULTILINE)
"""A cell that says so, and nothing else."""
_MOST = 2000
"""Most rows that are looked at, the first ones."""


def cell_denied(said: PreparedStatement) -> Decision | None:
    """`contradicted` if a cell says no, or yes, of what the sentence says is so, or is not: it names the row and the column, and no other column of that row."""
    mine = frozenset(terms(said.plain))
    cues = [c for part in said.parts for c in part.clause.cues]
    if not mine or said.plain.endswith("?") or any(c.concept == "conditions" for c in cues):
        return None
    denied = denies(cues)
    for source, start, row in _rows(said):
        found = cells(row)
        about = frozenset(terms(_value(found[0])))
        named = [c for c in found[1:] if c.header and mine.issuperset(terms(c.header)) and terms(c.header)]
        if not about or not about <= mine or len(named) != 1:
            continue
        [cell] = named
        value = _value(cell).lower()
        if value in (YES if denied else NO):
            at = start + cell.span.start
            span = EvidenceSpan(source.id, "text", at, at + len(cell.span.text), cell.span.text)
            why = f"{source.id} says “{_value(cell)}” of {_value(found[0])} under {cell.header}."
            return Decision("contradicted", (span,), why)
    return None


def _value(cell: Cell) -> str:
    return cell.span.text.removeprefix(f"{cell.header}: ").strip() if cell.header else cell.span.text.strip()


def _rows(said: PreparedStatement) -> Iterator[tuple[Source, int, str]]:
    """The rows of the sources of which a cell says yes or no, each with where it begins. Others are not read: most tables have none."""
    for prepared in said.context.sources:
        text, end = prepared.source.text, -1
        for match in islice(_SAYS.finditer(text), _MOST):
            if match.start() <= end:  # a row that has been given
                continue
            start = text.rfind("\n", 0, match.start()) + 1
            end = text.find("\n", start)
            end = len(text) if end < 0 else end
            if BAR in text[start:end]:
                yield prepared.source, start, text[start:end]
