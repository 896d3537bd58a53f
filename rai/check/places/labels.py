"""The words that a value of a source stands by: the label of its row or line, the head of its column, what stands near it, its line, its headings."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from rai.check.reading.keys import Line, header_of, heading_above, label_in, line_at, spoken
from rai.check.reading.sources import Place
from rai.records import CONTACT_KINDS

Words = frozenset[str]
_NONE: Words = frozenset()
_LINE = 240
"""Most characters of a line with a label that is read as one, whatever marks stand in it."""


@dataclass(frozen=True, slots=True)
class PlaceLabels:
    """The words that a value stands by, in groups.

    `label`: of the row or line; `column`: of its head; `near`: of the clause or cell; `line`: of the rest of the sentence, row or line;
    `above`: of headings and title. `itself`: of a contact's own characters, claims@… . No word stands in `line` or `above` that is in a group
    before it.
    """

    label: Words = _NONE
    column: Words = _NONE
    near: Words = _NONE
    line: Words = _NONE
    above: Words = _NONE
    itself: Words = _NONE

    @property
    def groups(self) -> tuple[Words, ...]:
        """The groups, those that tell most first: label, column, near, line, above."""
        return (self.label, self.column, self.near, self.line, self.above)

    @property
    def says_itself(self) -> bool:
        """True if a contact's own letters hold a word of the label beside it: claims@… below "Claims"."""
        return not self.itself.isdisjoint(self.label | self.near | self.line | self.above)

    @property
    def every(self) -> Words:
        """The words of all groups."""
        return self.label | self.column | self.near | self.line | self.above


@lru_cache(maxsize=16384)
def labels_of(place: Place) -> PlaceLabels:
    """The words that the value at `place` stands by, stemmed, days of the week as days. Cached: the same passages are checked again."""
    near = frozenset(w for w in place.frame.local | place.frame.words if w[0] != "=")
    if place.unit.field == "title":
        return PlaceLabels(near=near)
    text, start = place.text(), place.found.start
    line, above = line_at(text, start), _words(heading_above(text, start))
    itself = (
        _words(re.sub(r"[@./_-]", " ", text[start : place.found.end])) if place.found.kind in CONTACT_KINDS else _NONE
    )
    if line.kind == "row":
        return _in_row(place, line, near, above, itself)
    label = _words(_label_of(text, line, start))
    whole = _words(f"{text[place.unit.start : start]} {text[place.found.end : place.unit.end]}")
    if line.kind == "label" and line.end - line.start <= _LINE:
        whole |= _words(f"{text[line.start : start]} {text[place.found.end : line.end]}")
    rest = whole - near - label
    return PlaceLabels(label, _NONE, near, rest, (above | place.unit.subject) - rest - near - label, itself)


def _label_of(text: str, line: Line, start: int) -> str:
    """The nearest label with a colon before a value in its line: "Fax" of "Phone: 901820, Fax: 901821"; "" if there is none."""
    if line.kind != "label" or line.body > start:
        return ""
    nearer = _LABEL.findall(text, line.body, start)
    return nearer[-1] if nearer else line.label


_LABEL = re.compile(r"(?:^|[,;·|/] ?)([^\W\d][^,;:·|/]{1,40}): ")


def _in_row(place: Place, line: Line, near: Words, above: Words, itself: Words) -> PlaceLabels:
    text, start = place.text(), place.found.start
    column = max(0, line.column(start))
    header = header_of(text, line)
    says = label_in(text, line.cells[column])
    if says and column:
        head = _words(says)
    else:
        head = _words(text[slice(*header.cells[column])]) if header and column < len(header.cells) else _NONE
    label = _words(text[slice(*line.cells[0])]) if column else _NONE
    first, last = line.cells[column]
    cell = _words(f"{text[first:start]} {text[place.found.end : last]}") & (near | _words(text[first:last]))
    return PlaceLabels(label, head, cell, _words(text[line.start : line.end]) - label - cell, above, itself)


def _words(text: str) -> Words:
    return spoken(text).words
