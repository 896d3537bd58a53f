"""Frames: what is said of a value where it stands, read from its clause or cell.

A sentence is cut into clauses at commas, semicolons, brackets and conjunctions, a row into its cells. A value belongs to
its own clause; a clause without a value of that kind belongs to the value it leads up to ("for adults, $5") or, where
the sentence starts with a value, to the one it follows ("$5, for adults"). A cell carries the key of its row and the
label of its column.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from rai.claims.found import Found
from rai.support.words import role_terms, said_words

Words = frozenset[str]
Bound = Literal["", "least", "most", "start", "end"]

_CUT = re.compile(
    r"[;|\t()\[\]\n]|,(?=\s)|:\s|\s[-–—]\s|\s(?=(?:and|but|while|whereas|or|plus|versus|vs|und|oder|et|ou|y|o|e)\s)",
    re.IGNORECASE,
)
_LISTED = re.compile(r"[,;]? ?(?:and|or|und|oder|et|ou|y|o|e)? ?(?:at |on )?", re.IGNORECASE)
_AHEAD = re.compile(r",? (?:in advance|before|prior|ahead|beforehand|notice)\b", re.IGNORECASE)
_CELL = re.compile(r" \| |\t")
_HEAD = re.compile(r"[ \u00a0-]{0,2}([^\W\d_]{2,30})(?:[ -]([^\W\d_]{2,30}))?")
_START = re.compile(
    r"\b(?:from|opens?|opening|starts?|starting|begins?|beginning|since|after)(?: (?:at|on|from|daily|is|are|time|hours?|around|\w{3,9}day)){0,3} $",
    re.IGNORECASE,
)
_END = re.compile(
    r"\b(?:until|till|til|closes?|closing|ends?|ending|through|thru)(?: (?:at|on|is|time|around)){0,2} $", re.IGNORECASE
)
_LEAST = re.compile(
    r"\b(?:at least|minimum(?: \w+){0,2}(?: of| is)|no less than|no fewer than|not less than|starting at|starts at|starts from) (?:[$€£] ?)?$",
    re.IGNORECASE,
)
_MOST = re.compile(
    r"\b(?:up to|at most|maximum(?: \w+){0,2}(?: of| is)|no more than|not more than|as much as|as many as) (?:[$€£] ?)?$",
    re.IGNORECASE,
)
_FORWARD = re.compile(r"\s?(?:-|–|—|to|until|till|through|thru)\s?", re.IGNORECASE)
_LOOK_BACK = 40
_NONE: Words = frozenset()
LONGEST = 2000
"""Characters of a clause or cell that are read together; the next ones are a clause of their own. No sentence a person wrote has as many."""
MOST_VALUES = 32
"""Values of a clause that are read together: each takes the others for labels, so that more would cost their square."""
REACH = 40
"""Clauses without a value, before or after, that a value is said of."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What is said of one value.

    `head`: the words directly after it ("5 cameras"). `local`: words of its clause or cell, its row's key and column's
    label, and the forms of other values there, each after a "=". `words`: the words of its clause, not by class: open is
    not closed. `days`: weekdays (1 is Monday) and `years` named beside it. `bound`: whether it is the least or most, the
    start or end.
    """

    head: Words = frozenset()
    local: Words = frozenset()
    words: Words = frozenset()
    days: frozenset[int] = frozenset()
    years: frozenset[str] = frozenset()
    bound: Bound = ""


NOWHERE = Frame()


def frames(text: str, start: int, end: int, values: Sequence[Found], header: str = "") -> list[Frame]:
    """The frame of each of `values`, which stand in the sentence or row `text[start:end]`, in their order.

    `header`: the first row of the table that the row is in, "" if there is none. Time linear in the text and the values.
    """
    if not values:
        return []
    row = text.find(" | ", start, end) >= 0 or text.find("\t", start, end) >= 0
    edges = _edges(text, start, end, _CELL) if row else _unlisted(text, _edges(text, start, end, _CUT), values)
    read = _Read.of(text, _short(edges, values), values)
    cells = _cells(text, edges, header, text[start:end]) if row else []
    times = {n: place for place, n in enumerate(n for n, v in enumerate(values) if v.kind == "time")}
    same = [values[n] for n in times]
    found = []
    for n, value in enumerate(values):
        at = read.at[n]
        part = read.part(at) if row else read.own(value.kind, at)
        local = part.terms.union(*(label for m, label in part.labels if m != n))
        if row:
            local |= cells[_piece(edges, value.start)]
        found.append(
            Frame(
                _head(text, value, end),
                local,
                part.said,
                part.days,
                _years(part.dates, value),
                _bound(text, start, value, same, times.get(n, 0)),
            )
        )
    return found


@dataclass(frozen=True, slots=True)
class _Part:
    """Clauses that are read together: their words, the labels of the values in them by the place of each, and their dates."""

    terms: Words
    said: Words
    labels: list[tuple[int, Words]]
    dates: list[Found]
    days: frozenset[int]


@dataclass(slots=True)
class _Read:
    """The pieces of a sentence or row, and which of `values` stand in each; what several values share is put together once."""

    text: str
    values: Sequence[Found]
    pieces: list[tuple[Words, Words]]
    at: list[int]
    inside: dict[int, list[int]]
    held: dict[str, list[int]]
    parts: dict[tuple[str, int], _Part]

    @classmethod
    def of(cls, text: str, edges: list[tuple[int, int]], values: Sequence[Found]) -> _Read:
        """`values`, ascending, among the pieces `edges` of `text`."""
        at = [_piece(edges, value.start) for value in values]
        inside: dict[int, list[int]] = defaultdict(list)
        for n, piece in enumerate(at):
            inside[piece].append(n)
        texts = [_without(text, a, b, [values[n] for n in inside.get(i, ())]) for i, (a, b) in enumerate(edges)]
        pieces = [(role_terms(t), said_words(t)) for t in texts]
        held: dict[str, set[int]] = defaultdict(set)
        for piece, value in zip(at, values, strict=True):
            held[value.kind].add(piece)
        return cls(text, values, pieces, at, inside, {kind: sorted(at) for kind, at in held.items()}, {})

    def part(self, at: int) -> _Part:
        """One piece by itself: a cell."""
        return self._together(("", at), range(at, at + 1))

    def own(self, kind: str, at: int) -> _Part:
        """The clauses of a value: its own and, of those without such a value, the ones that lead up to it or follow it."""
        kinds = self.held[kind]
        place = bisect_left(kinds, at)
        leads_up, last = kinds[0] > 0, place + 1 == len(kinds)
        first, stop = at, at + 1
        if leads_up or len(kinds) == 1:
            first = max(at - REACH, kinds[place - 1] + 1 if place else 0)
        if not leads_up or last:
            stop = min(at + REACH, len(self.pieces) if last else kinds[place + 1])
        return self._together((kind, at), range(first, max(stop, at + 1)))

    def _together(self, key: tuple[str, int], own: range) -> _Part:
        if key not in self.parts:
            mine = [n for i in own for n in self.inside.get(i, ())]
            dates = [self.values[n] for n in mine if self.values[n].kind == "date"]
            self.parts[key] = _Part(
                _NONE.union(*(self.pieces[i][0] for i in own)),
                _NONE.union(*(self.pieces[i][1] for i in own)),
                [(n, label) for n in mine if (label := _label(self.values[n]))],
                dates,
                _days(self.text, dates),
            )
        return self.parts[key]


def _label(value: Found) -> Words:
    """A value as a word of the role of another one: the 5 GB of "$8 for 5 GB"."""
    if value.kind in ("money", "time", "statement") or value.value.startswith("-W-"):
        return frozenset()
    return frozenset(f"={form}" for form in (*value.forms, *value.magnitudes))


def _edges(text: str, start: int, end: int, cut: re.Pattern[str]) -> list[tuple[int, int]]:
    cuts = [(start, start), *(m.span() for m in cut.finditer(text, start, end)), (end, end)]
    return [(a[1], b[0]) for a, b in pairwise(cuts)]


def _unlisted(text: str, edges: list[tuple[int, int]], values: Sequence[Found]) -> list[tuple[int, int]]:
    """`edges` without the cuts within a list of values: "between 2 and 10 pm", "Friday and Saturday" are said of one thing."""
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


def _short(edges: list[tuple[int, int]], values: Sequence[Found]) -> list[tuple[int, int]]:
    """`edges`, those with more than `MOST_VALUES` values or `LONGEST` characters cut at the start of a value or a stretch."""
    starts = [v.start for v in values]
    found: list[tuple[int, int]] = []
    for a, b in edges:
        while True:
            first = bisect_left(starts, a)
            cut = min(a + LONGEST, starts[first + MOST_VALUES] if first + MOST_VALUES < len(starts) else b)
            if cut >= b:
                break
            within = bisect_right(starts, cut) - 1
            if within > first and values[within].end > cut:
                cut = starts[within]  # a value stays whole
            found.append((a, cut))
            a = cut
        found.append((a, b))
    return found


def _piece(edges: Sequence[tuple[int, int]], at: int) -> int:
    return max(0, bisect_right(edges, (at, 1 << 60)) - 1)


def _without(text: str, start: int, end: int, values: Sequence[Found]) -> str:
    """The words of a piece but those of its values: "$5 a month" is not a word of its own role."""
    out, at = [], start
    for value in values:
        if start <= value.start < end and value.kind != "entity":
            out.append(text[at : max(at, value.start)])
            at = max(at, value.end)
    return " ".join([*out, text[at:end]])


def _cells(text: str, edges: Sequence[tuple[int, int]], header: str, row: str) -> list[Words]:
    """For each cell the key of its row (the first cell), its own label and that of its column."""
    columns = _columns(header) if header and header != row and ": " not in header else ()
    labels = columns if len(columns) == len(edges) else (_NONE,) * len(edges)
    first = text[slice(*edges[0])]
    key = role_terms((first.partition(": ")[2] or first)[:LONGEST])
    found = []
    for (a, b), label in zip(edges, labels, strict=True):
        colon = text.find(": ", a, b)
        found.append(key | label | (role_terms(text[a : min(colon, a + LONGEST)]) if colon >= 0 else _NONE))
    return found


@lru_cache(maxsize=64)
def _columns(header: str) -> tuple[Words, ...]:
    return tuple(role_terms(cell[:LONGEST]) for cell in _CELL.split(header))


def _head(text: str, value: Found, end: int) -> Words:
    match = _HEAD.match(text, value.end, end)
    return frozenset(list(role_terms(match.group(1)))) or role_terms(match.group(2) or "") if match else frozenset()


def _days(text: str, dates: Sequence[Found]) -> frozenset[int]:
    """Weekdays of `dates`; Monday to Friday are five."""
    found: set[int] = set()
    last: tuple[int, int] | None = None
    for date in dates:
        if not re.fullmatch(r"-W-[1-7]", date.value):
            continue
        day = int(date.value[-1])
        if last and _FORWARD.fullmatch(text, last[1], date.start):
            found |= {(last[0] - 1 + n) % 7 + 1 for n in range((day - last[0]) % 7 + 1)}
        found.add(day)
        last = (day, date.end)
    return frozenset(found)


def _years(dates: Sequence[Found], value: Found) -> frozenset[str]:
    return frozenset(d.value[:4] for d in dates if d is not value and re.match(r"\d{4}", d.value))


def _bound(text: str, start: int, value: Found, times: Sequence[Found], place: int) -> Bound:
    """`times`: the times of the sentence; `place`: that of `value` among them, if it is one."""
    before = text[max(start, value.start - _LOOK_BACK) : value.start]
    if value.kind in ("number", "quantity", "money", "percent"):
        if _AHEAD.match(text, value.end):
            return ""  # up to a day before is at least a day before
        return "least" if _LEAST.search(before) else "most" if _MOST.search(before) else ""
    if value.kind == "time":
        if place and _FORWARD.fullmatch(text, times[place - 1].end, value.start):
            return "end"
        if place + 1 < len(times) and _FORWARD.fullmatch(text, value.end, times[place + 1].start):
            return "start"
        return "start" if _START.search(before) else "end" if _END.search(before) else ""
    return ""
