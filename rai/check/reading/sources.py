"""Sources made ready for matching: their sentences and rows, the values in each, and the words that name a value's role."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal

from grounding.records import Span
from grounding.text import caseless, fold, sentences
from rai.check.comparison.lookup_keys import Measure, measure_of, stored_under
from rai.check.reading.clauses import label_of
from rai.check.reading.frames import NOWHERE, Frame, frames
from rai.check.reading.role_words import role_terms
from rai.claims.find import find_values
from rai.claims.found import Found
from rai.claims.numbers.rates import per_of_label
from rai.records import EvidenceSpan, Kind, Source

Field = Literal["text", "title"]
FIELDS: tuple[Field, ...] = ("title", "text")

LONGEST_HEADER = 2000
"""Most characters of a table's first row that are read with each of its rows."""
MOST_VALUES = 1000
"""Most values of a sentence or row that are read: no sentence that a person wrote has more, and those left out are in no source."""
LONGEST_LINE = 8000
"""Most characters of a unit with its title and header that are read around a value. No sentence or row a person wrote has as many."""
_NEAR = 200
# a telephone number that only the region tells where it leads has four digits and more, whatever stands between
_NATIONAL = re.compile(r"\d(?:[ ().\-/]{0,3}\d){3}|[2-9]\d\d-[A-Z]")
_POINTS_BACK = re.compile(
    r"\W*(?:it|its|this|that|they|their|these|those|he|she|his|her|here|there|both|each|all of (?:them|these)|(?:in|for|with|to|on) (?:it|this|that|these|them))\b",
    re.IGNORECASE,
)
_NONE: frozenset[str] = frozenset()
_MARKED = re.compile(r"^\s*(?:[-*•#>]+|\d{1,3}[.)])\s|\[\d{1,3}\]|[|\s]+|[.!;:]+$")
_HEADING = re.compile(r"#{1,6} .*|.{1,80}:\s*")
_BARE = re.compile(r"[A-ZÀ-ÖØ-Þ][^.!?:;|\t\n]{1,50}[^.!?:;,|\s]")
_BELOW = re.compile(r" ?\n\s*[A-ZÀ-ÖØ-Þ]")
_ROW = re.compile(r".*(?:\||\t).*|[^.!?]{1,60}: ?\S.*|\S(?:[^.!?]|(?<=\d)\.(?=\d)){0,60} \.{2,} \S.*")


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence, a row or the title of a source. `terms`: its words, as `role_terms` writes them; `plain`: it as `plain_words` writes it.

    `context`: words of the title, its heading and the sentence before. `subject`: the same, but the sentence before only
    where this one points back to it ("It costs …"). `header`: the first row of the table it is in.
    `number`: its place among the units of its field. `line`: its characters with the title and the header above them, where
    a currency or unit often stands.
    """

    field: Field
    start: int
    end: int
    terms: frozenset[str]
    context: frozenset[str]
    row: bool
    header: str = ""
    number: int = 0
    line: str = ""
    subject: frozenset[str] = frozenset()
    plain: str = ""
    heading: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A value in a source, where it stands. `unit`: the sentence, row or title it is in.

    Two places are equal only if they are one object: what is read of a place is kept by it.
    """

    source: Source
    found: Found
    unit: Unit
    frame: Frame = NOWHERE

    def line(self) -> str:
        """The line of the value with the title and the first row of its table, where its currency often stands.

        Of an endless line only what stands near the value, for it is read again for every value.
        """
        if len(self.unit.line) <= LONGEST_LINE:
            return self.unit.line
        near = self.text()[max(self.unit.start, self.found.start - _NEAR) : min(self.unit.end, self.found.end + _NEAR)]
        return f"{self.source.title}\n{self.unit.header[:LONGEST_HEADER]}\n{near}"

    def text(self) -> str:
        """The field that the offsets of `found` index into."""
        return self.source.text if self.unit.field == "text" else self.source.title

    def span(self, start: int | None = None, end: int | None = None) -> EvidenceSpan:
        """The evidence: the value, or a part of it."""
        begin = self.found.start if start is None else start
        stop = self.found.end if end is None else end
        return EvidenceSpan(self.source.id, self.unit.field, begin, stop, self.text()[begin:stop])


@dataclass(frozen=True, slots=True)
class Prepared:
    """A source made ready for matching: its units, and its values by kind, key and measure."""

    source: Source
    units: tuple[Unit, ...]
    places: tuple[Place, ...]
    kinds: Mapping[Kind, tuple[Place, ...]]
    keyed: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Numbers of the places, ascending, by each key that their values are `stored_under`."""
    alike: Mapping[Measure, tuple[Place, ...]] = field(default_factory=dict)
    """Places by their `measure_of`: what values of one role have in common."""
    frequency: Mapping[str, int] = field(default_factory=dict)
    """In how many units each word stands."""


def clause_of(place: Place) -> frozenset[str]:
    """The words of the clause or cell that a value stands in."""
    return place.frame.local | place.frame.words


def said_of(place: Place) -> frozenset[str]:
    """The words that a source says of a value: of its clause, its line, and what stands above that."""
    return place.unit.terms | place.unit.subject | clause_of(place)


def prepare(source: Source, regions: tuple[str, ...]) -> Prepared:
    """Reads a source: its units and values. Cached: the same passages are checked again, by draft and repair and by other turns."""
    national = _NATIONAL.search(source.text) or _NATIONAL.search(source.title)
    return _prepare(source, regions if national else ())


@lru_cache(maxsize=512)
def _prepare(source: Source, regions: tuple[str, ...]) -> Prepared:
    title = role_terms(source.title)
    units = (
        [Unit("title", 0, len(source.title), title, frozenset(), row=False, line=source.title)] if source.title else []
    )
    units += _text_units(source, title)
    places = [
        place for field in FIELDS for place in _places(source, field, [u for u in units if u.field == field], regions)
    ]
    frequency = Counter(word for unit in units for word in unit.terms)
    return Prepared(
        source, tuple(units), tuple(places), _by_kind(places), _by_key(places), _by_measure(places), frequency
    )


def _by_kind(places: Sequence[Place]) -> dict[Kind, tuple[Place, ...]]:
    found: defaultdict[Kind, list[Place]] = defaultdict(list)
    for place in places:
        found[place.found.kind].append(place)
    return {kind: tuple(group) for kind, group in found.items()}


def _by_key(places: Sequence[Place]) -> dict[str, tuple[int, ...]]:
    found: defaultdict[str, list[int]] = defaultdict(list)
    for number, place in enumerate(places):
        for key in stored_under(place.found):
            found[key].append(number)
    return {key: tuple(numbers) for key, numbers in found.items()}


def _by_measure(places: Sequence[Place]) -> dict[Measure, tuple[Place, ...]]:
    found: defaultdict[Measure, list[Place]] = defaultdict(list)
    for place in places:
        found[measure_of(place.found)].append(place)
    return {measure: tuple(group) for measure, group in found.items()}


def _places(source: Source, field: Field, units: list[Unit], regions: tuple[str, ...]) -> Iterator[Place]:
    text = source.text if field == "text" else source.title
    starts = [u.start for u in units]
    inside: dict[int, list[Found]] = {}
    for found in find_values(text, regions):
        inside.setdefault(bisect_right(starts, found.start) - 1, []).append(found)
    for at, every in inside.items():
        if at >= 0:
            unit, values = units[at], every[:MOST_VALUES]
            for found, frame in zip(values, frames(text, unit.start, unit.end, values, unit.header), strict=True):
                yield Place(source, _per_its_labels(found, text, unit), unit, frame)


def _per_its_labels(found: Found, text: str, unit: Unit) -> Found:
    """An amount in a cell with what its column, or its row, says that it is per: €0.15 below "Parked, per minute"."""
    row = text[unit.start : min(unit.end, unit.start + LONGEST_LINE)]
    if found.kind != "money" or found.per or "|" not in row:
        return found
    at = row.count("|", 0, found.start - unit.start)
    cells = row.split("|")
    own = cells[at][: max(0, found.start - unit.start - sum(len(c) + 1 for c in cells[:at]))]
    columns = unit.header.split("|") if unit.header and ": " not in unit.header else []
    label = columns[at] if at < len(columns) and len(columns) == len(cells) else ""
    per = next(filter(None, map(per_of_label, (own, label, cells[0] if at else ""))), "")
    return replace(found, per=per) if per else found


def _text_units(source: Source, title: frozenset[str]) -> list[Unit]:
    text = source.text
    units: list[Unit] = []
    heading = _NONE
    before = _NONE
    header, caption = "", _NONE
    for sentence in sentences(text):
        words = role_terms(sentence.text)
        is_heading = bool(_HEADING.fullmatch(sentence.text)) or _is_bare_heading(text, sentence)
        row = bool(_ROW.fullmatch(sentence.text))
        cells = "|" in sentence.text or "\t" in sentence.text
        if cells and not header:  # the line above a table says what all its rows are about
            caption = before
        header = (header or sentence.text) if cells else ""
        columns = role_terms(header) if ": " not in header else _NONE
        subject = title | heading | (caption | columns if cells else _NONE)
        context = subject if cells else subject | before
        subject = context if _POINTS_BACK.match(sentence.text) else subject
        # where each cell says what its column is called, the first row says nothing of the others
        says_itself = all(": " in row.partition("|")[2] for row in (header, sentence.text))
        line = f"{source.title}\n{'' if says_itself else header[:LONGEST_HEADER]}\n{sentence.text}"
        number, plain = len(units), plain_words(sentence.text)
        units.append(
            Unit(
                "text",
                sentence.start,
                sentence.end,
                words,
                context,
                row,
                header,
                number,
                line,
                subject,
                plain,
                is_heading,
            )
        )
        if is_heading:
            heading = words.union(*(label_of(value) for value in find_values(sentence.text)))
        before = _NONE if row else words
    return units


def _is_bare_heading(text: str, sentence: Span) -> bool:
    """A few words alone on the first line of a paragraph, above a line that begins a sentence."""
    first = sentence.start == 0 or text.endswith("\n\n", 0, sentence.start)
    return first and _BARE.fullmatch(sentence.text) is not None and _BELOW.match(text, sentence.end) is not None


def plain_words(sentence: str) -> str:
    """A sentence or row without marks, list signs and case: equal for a verbatim quotation."""
    return " ".join(_MARKED.sub(" ", caseless(sentence)).split())


@lru_cache(maxsize=1024)
def caseless_field(text: str) -> str:
    """The form `caseless` of a source's text or title, which every name and statement of an answer is looked for in."""
    return caseless(text)


@lru_cache(maxsize=1024)
def folded_field(text: str) -> str:
    """The form `fold` of a source's text."""
    return fold(text)
