"""Values of another band or day: "16 days before" of "28 to 15 days: 70 %" and "14 to 8 days: 30 %".

Tables and lists of bands say what holds for so many days, kilograms or people. Which band is meant is said by a quantity of the answer's sentence, or
else of the question; a value out of a band that does not hold that quantity is another's, where exactly one other band of the same table or list does. So does a day that is the first cell of a row.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from grounding.quoting.ranges import SaidValues, fits, said
from rai.check.reading.keys import Line, line_at
from rai.check.reading.sources import Place
from rai.check.rules.rivals import Rival
from rai.claims.times import dates


def of_another_band(place: Place, others: Sequence[Place], sentence: str, question: str) -> Rival | None:
    """The value of the band that the sentence or the question means, where `place` stands in a band that does not hold it; None else.

    `others`: other values of the kind of `place`.
    """
    if place.unit.field != "text":
        return None
    line = line_at(place.text(), place.found.start)
    if not (label := _label(place, line)):
        return None
    told = said(sentence)
    asked = SaidValues(told.quantities or said(question).quantities)
    if fits(label, asked) is not False:
        return None
    beside = [o for o in others if o.source == place.source and o.unit.field == "text"]
    lines = [(o, line_at(o.text(), o.found.start)) for o in beside]
    held = [o for o, own in lines if _side_by_side(line, own, place, o) and fits(_label(o, own), asked)]
    return Rival(held[0], "band", clause=bool(told.quantities)) if len(held) == 1 else None


def of_another_day(place: Place, others: Sequence[Place], sentence: str, question: str) -> Rival | None:
    """The value of the row whose first cell is a day that the sentence or the question names, where `place` stands in the row of another day; None else."""
    if place.unit.field != "text" or not place.unit.header:
        return None
    line = line_at(place.text(), place.found.start)
    own, told = _days(_label(place, line)), _days(sentence)
    named = told | _days(question)
    if not own or not named or own & named:
        return None
    beside = ((o, line_at(o.text(), o.found.start)) for o in others if o.source == place.source and o.unit.header)
    rows = [(o, _days(_label(o, row))) for o, row in beside if _side_by_side(line, row, place, o)]
    held = [(o, days) for o, days in rows if days & named]
    return Rival(held[0][0], "cell-row", clause=bool(held[0][1] & told)) if len(held) == 1 else None


@lru_cache(maxsize=4096)
def _days(text: str) -> frozenset[str]:
    """The days with their year that a text names."""
    return frozenset(form for found in dates.find(text) for form in found.forms if _DAY.fullmatch(form))


_DAY = re.compile(r"\d{4}-\d\d-\d\d")


def _side_by_side(line: Line, other: Line, place: Place, rival: Place) -> bool:
    """True of two lines of one block; of a table, if both values stand in one column."""
    return (
        line.group == other.group
        and line.start != other.start
        and line.column(place.found.start) == other.column(rival.found.start)
    )


def _label(place: Place, line: Line) -> str:
    """What a line says before the value: its first cell, its label; "" where the value stands in it or there is none."""
    if line.cells:
        first = slice(*line.cells[0])
        return "" if line.column(place.found.start) < 1 else place.text()[first]
    return line.label if line.label and place.found.start >= line.body else ""
