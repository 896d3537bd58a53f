"""Clauses of sentences and cells of rows, and what the values of each have beside them.

A sentence is cut at commas, semicolons, brackets and conjunctions, a row into its cells. A value belongs to its own
clause; a clause without a value of that kind belongs to the value it leads up to ("for adults, $5") or, where the
sentence starts with a value, to the one it follows ("$5, for adults"). Brackets behind a value are said of it. What
stands before the first value is said of the others too, unless their own clauses say what they are.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rai.check.reading.role_words import role_terms, said_words
from rai.claims.found import Found
from rai.claims.times import weekdays

Words = frozenset[str]
Edges = list[tuple[int, int]]

_CUT = re.compile(
    r"[;|\t()\[\]\n]|,(?=\s)|:\s|\s[-–—]\s|\s(?=(?:and|but|while|whereas|or|plus|versus|vs|und|oder|et|ou|y|o|e)\s)",
    re.IGNORECASE,
)
CELL = re.compile(r" \| |\t")
_LISTED = re.compile(r"[,;]? ?(?:and|or|und|oder|et|ou|y|o|e)? ?(?:at |on )?", re.IGNORECASE)
_OPENS = re.compile(r"\s?[(\[]")
NONE: Words = frozenset()
LONGEST = 2000
"""Characters of a clause or cell that are read together; the next ones are a clause of their own. No sentence a person wrote has as many."""
MOST_VALUES = 32
"""Values of a clause that are read together: each takes the others for labels, so that more would cost their square."""
REACH = 40
"""Clauses without a value, before or after, that a value is said of."""


def cut(text: str, start: int, end: int, values: Sequence[Found], *, row: bool) -> Edges:
    """The pieces of the sentence or row `text[start:end]`, half open, ascending."""
    edges = _edges(text, start, end, CELL if row else _CUT, values)
    return _short(edges if row else _unlisted(text, edges, values), values)


def piece_of(edges: Sequence[tuple[int, int]], at: int) -> int:
    """The number of the piece that the offset `at` is in."""
    return max(0, bisect_right(edges, (at, 1 << 60)) - 1)


@dataclass(frozen=True, slots=True)
class Part:
    """A group of clauses that are read together: their words, the labels of the values in them by the place of each, and their dates."""

    terms: Words
    said: Words
    labels: list[tuple[int, Words]]
    dates: list[Found]
    days: frozenset[int]


@dataclass(slots=True)
class ReadPieces:
    """The pieces of a sentence or row, and which of `values` stand in each; what several values share is put together once."""

    text: str
    values: Sequence[Found]
    edges: Edges
    pieces: list[tuple[Words, Words]]
    at: list[int]
    inside: dict[int, list[int]]
    held: dict[str, list[int]]
    behind: frozenset[int]
    parts: dict[tuple[str, int], Part]

    @classmethod
    def of(cls, text: str, edges: Edges, values: Sequence[Found]) -> ReadPieces:
        """Reads `values`, ascending, among the pieces `edges` of `text`."""
        at = [piece_of(edges, value.start) for value in values]
        inside: dict[int, list[int]] = defaultdict(list)
        for n, piece in enumerate(at):
            inside[piece].append(n)
        texts = [_without(text, a, b, [values[n] for n in inside.get(i, ())]) for i, (a, b) in enumerate(edges)]
        pieces = [(role_terms(t), said_words(t)) for t in texts]
        held: dict[str, set[int]] = defaultdict(set)
        for piece, value in zip(at, values, strict=True):
            held[value.kind].add(piece)
        behind = frozenset(
            i
            for i in range(1, len(edges))
            if i - 1 in inside and _OPENS.fullmatch(text, values[inside[i - 1][-1]].end, edges[i][0])
        )
        return cls(text, values, edges, pieces, at, inside, {k: sorted(p) for k, p in held.items()}, behind, {})

    def part(self, at: int) -> Part:
        """The part that one piece is by itself: a cell."""
        return self._together(("", at), [at])

    def own(self, kind: str, at: int) -> Part:
        """The clauses of a value: its own and, of those without such a value, the ones that lead up to it or follow it."""
        key = (kind, at)
        return self.parts.get(key) or self._together(key, self._own(kind, at))

    def lead(self, kind: str, at: int) -> Words:
        """What the sentence says before its first value of this kind, for a value in a later clause that says nothing before it."""
        first = self.held[kind][0]
        if at == first:
            return NONE
        begin = self.edges[self._own(kind, at)[0]][0]
        if self._before(kind, at, begin):
            return NONE
        return self._before(kind, first, max(self.edges[0][0], self.edges[first][0] - LONGEST))

    def _before(self, kind: str, piece: int, begin: int) -> Words:
        value = next(self.values[n] for n in self.inside[piece] if self.values[n].kind == kind)
        begin = max(begin, value.start - LONGEST)
        return role_terms(self.text[begin : value.start]) | said_words(self.text[begin : value.start])

    def _own(self, kind: str, at: int) -> list[int]:
        kinds = self.held[kind]
        place = bisect_left(kinds, at)
        leads_up, last = kinds[0] > 0, place + 1 == len(kinds)
        first, stop = at, at + 1
        if leads_up or len(kinds) == 1:
            first = max(at - REACH, kinds[place - 1] + 1 if place else 0)
        if not leads_up or last:
            stop = max(stop, min(at + REACH, len(self.pieces) if last else kinds[place + 1]))
        own = [
            i for i in range(first, stop) if i == at or i not in self.behind or i - 1 not in self.inside or i - 1 == at
        ]
        return [*own, at + 1] if at + 1 in self.behind and stop == at + 1 and at + 1 not in kinds else own

    def _together(self, key: tuple[str, int], own: Sequence[int]) -> Part:
        if key not in self.parts:
            mine = [n for i in own for n in self.inside.get(i, ())]
            dates = [self.values[n] for n in mine if self.values[n].kind == "date"]
            self.parts[key] = Part(
                NONE.union(*(self.pieces[i][0] for i in own)),
                NONE.union(*(self.pieces[i][1] for i in own)),
                [(n, label) for n in mine if (label := label_of(self.values[n]))],
                dates,
                NONE_DAYS.union(*(weekdays.days_of(date.value) for date in dates)),
            )
        return self.parts[key]


NONE_DAYS: frozenset[int] = frozenset()


def label_of(value: Found) -> Words:
    """A value as a word of the role of another one: the 5 GB of "$8 for 5 GB"."""
    if value.kind in ("money", "time", "phone", "url", "email", "statement") or value.value.startswith("-W-"):
        return frozenset()
    return frozenset(f"={form}" for form in (*value.forms, *value.magnitudes))


def _edges(text: str, start: int, end: int, cut: re.Pattern[str], values: Sequence[Found]) -> Edges:
    starts = [v.start for v in values]

    def whole(at: int) -> bool:
        """True if a cut there leaves every value whole: the plus of Watch Plus joins nothing."""
        before = bisect_left(starts, at) - 1
        return before < 0 or values[before].end <= at

    cuts = [(start, start), *(m.span() for m in cut.finditer(text, start, end) if whole(m.start())), (end, end)]
    return [(a[1], b[0]) for a, b in pairwise(cuts)]


def _unlisted(text: str, edges: Edges, values: Sequence[Found]) -> Edges:
    """The pieces `edges` without the cuts within a list of values: "between 2 and 10 pm", "Friday and Saturday" are said of one thing."""
    starts, ends = [v.start for v in values], [v.end for v in values]
    joined = edges[:1]
    for a, b in edges[1:]:
        before, after = bisect_right(ends, a) - 1, bisect_left(starts, a - 1)
        near = before >= 0 and after < len(values) and values[before].kind == values[after].kind
        if near and starts[before] >= joined[-1][0] and _LISTED.fullmatch(text, ends[before], starts[after]):
            joined[-1] = (joined[-1][0], b)
        else:
            joined.append((a, b))
    return joined


def _short(edges: Edges, values: Sequence[Found]) -> Edges:
    """The pieces `edges`, those with more than `MOST_VALUES` values or `LONGEST` characters cut at the start of a value or a stretch."""
    starts = [v.start for v in values]
    found: Edges = []
    for begin, end in edges:
        at = begin
        while True:
            first = bisect_left(starts, at)
            stop = min(at + LONGEST, starts[first + MOST_VALUES] if first + MOST_VALUES < len(starts) else end)
            if stop >= end:
                break
            within = bisect_right(starts, stop) - 1
            if within > first and values[within].end > stop:
                stop = starts[within]  # a value stays whole
            found.append((at, stop))
            at = stop
        found.append((at, end))
    return found


def _without(text: str, start: int, end: int, values: Sequence[Found]) -> str:
    """The words of a piece but those of its values: "$5 a month" is not a word of its own role. Names stay: they are words."""
    out, at = [], start
    for value in values:
        if start <= value.start < end and (value.kind != "entity" or value.entity in ("code", "address")):
            out.append(text[at : max(at, value.start)])
            at = max(at, value.end)
    return " ".join([*out, text[at:end]])
