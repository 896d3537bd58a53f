"""Frames: what is said of a value where it stands, read from its clause or cell.

A sentence is cut into clauses at commas, semicolons, brackets and conjunctions, a row into its cells. A value belongs to
its own clause; a clause without a value of that kind belongs to the value it leads up to ("for adults, $5") or, where
the sentence starts with a value, to the one it follows ("$5, for adults"). A cell carries the key of its row and the
label of its column.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
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

    `header`: the first row of the table that the row is in, "" if there is none.
    """
    row = " | " in text[start:end] or "\t" in text[start:end]
    edges = _edges(text, start, end, _CELL) if row else _unlisted(text, _edges(text, start, end, _CUT), values)
    texts = [_without(text, a, b, values) for a, b in edges]
    pieces = [(role_terms(t), said_words(t)) for t in texts]
    at = [_piece(edges, value.start) for value in values]
    labels = _labels(header, text[start:end]) if row else []
    found = []
    for n, value in enumerate(values):
        own = {at[n]} if row else _own(n, at, values, len(edges))
        local = frozenset().union(
            *(pieces[i][0] for i in own), *(_label(v) for m, v in enumerate(values) if at[m] in own and m != n)
        )
        if row:
            cell = _cell(text, start, value.start)
            local |= _row_words(text, start, end, cell) | (labels[cell] if cell < len(labels) else frozenset())
        beside = [v for m, v in enumerate(values) if at[m] in own and v.kind == "date"]
        found.append(
            Frame(
                _head(text, value, end),
                local,
                frozenset().union(*(pieces[i][1] for i in own)),
                _days(text, beside),
                _years(beside, value),
                _bound(text, start, value, values),
            )
        )
    return found


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
    joined = edges[:1]
    for a, b in edges[1:]:
        before = [v for v in values if v.end <= a]
        after = [v for v in values if v.start >= a - 1]
        near = before and after and before[-1].kind == after[0].kind and before[-1].start >= joined[-1][0]
        if near and _LISTED.fullmatch(text, before[-1].end, after[0].start):
            joined[-1] = (joined[-1][0], b)
        else:
            joined.append((a, b))
    return joined


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


def _own(n: int, at: Sequence[int], values: Sequence[Found], count: int) -> set[int]:
    """The clauses of a value: its own and, of those without such a value, the ones that lead up to it or follow it."""
    kinds = sorted({at[m] for m, v in enumerate(values) if v.kind == values[n].kind})
    place = kinds.index(at[n])
    before = kinds[place - 1] if place else -1
    after = kinds[place + 1] if place + 1 < len(kinds) else count
    leads_up = kinds[0] > 0
    own = {at[n]}
    if leads_up or len(kinds) == 1:
        own |= set(range(before + 1, at[n]))
    if not leads_up or place + 1 == len(kinds):
        own |= set(range(at[n] + 1, after))
    return own


def _cell(text: str, start: int, at: int) -> int:
    return text.count(" | ", start, at) + text.count("\t", start, at)


def _labels(header: str, row: str) -> list[Words]:
    cells = _CELL.split(header)
    return (
        [role_terms(c) for c in cells]
        if header and header != row and ": " not in header and len(cells) == len(_CELL.split(row))
        else []
    )


def _row_words(text: str, start: int, end: int, cell: int) -> Words:
    """The key of the row (its first cell) and the label of the value's own cell."""
    cells = _CELL.split(text[start:end])
    key = cells[0].partition(": ")[2] or cells[0] if cells else ""
    label = cells[cell].partition(": ")[0] if cell < len(cells) and ": " in cells[cell] else ""
    return role_terms(key) | role_terms(label)


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


def _bound(text: str, start: int, value: Found, values: Sequence[Found]) -> Bound:
    before = text[max(start, value.start - _LOOK_BACK) : value.start]
    if value.kind in ("number", "quantity", "money", "percent"):
        if _AHEAD.match(text, value.end):
            return ""  # up to a day before is at least a day before
        return "least" if _LEAST.search(before) else "most" if _MOST.search(before) else ""
    if value.kind == "time":
        same = [v for v in values if v.kind == "time"]
        place = same.index(value)
        if place and _FORWARD.fullmatch(text, same[place - 1].end, value.start):
            return "end"
        if place + 1 < len(same) and _FORWARD.fullmatch(text, value.end, same[place + 1].start):
            return "start"
        return "start" if _START.search(before) else "end" if _END.search(before) else ""
    return ""
