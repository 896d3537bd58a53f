"""Frames of values: what is said of each where it stands, read from its clause or cell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from grounding.text import stem
from rai.check.reading.cells import cell_words, column_dates, row_key
from rai.check.reading.clauses import NONE, ReadPieces, Words, cut
from rai.check.reading.role_words import role_terms, said_words
from rai.claims.found import Found

Bound = Literal["", "least", "most", "start", "end"]
Past = Literal["", "maybe", "surely"]

_AHEAD = re.compile(r",? (?:in advance|before|prior|ahead|beforehand|notice)\b", re.IGNORECASE)
_HEAD = re.compile(r"[ \u00a0-]{0,2}([^\W\d_]{2,30})(?:[ -]([^\W\d_]{2,30}))?")
_START = re.compile(
    r"\b(?:from|opens?|opening|starts?|starting|begins?|beginning|since|after)(?: (?:at|on|from|daily|is|are|time|hours?|around|\w{3,9}day)){0,3}:? $",
    re.IGNORECASE,
)
_END = re.compile(
    r"\b(?:until|till|til|closes?|closing|ends?|ending|through|thru)(?: (?:at|on|is|time|around)){0,2}:? $",
    re.IGNORECASE,
)
_LEAST = re.compile(
    r"\b(?:at least|minimum(?: \w+){0,2}(?: of| is)|no less than|no fewer than|not less than|starting at|starts at|starts from) (?:[$€£] ?)?$",
    re.IGNORECASE,
)
_MOST = re.compile(
    r"\b(?:up to|at most|maximum(?: \w+){0,2}(?: of| is)|no more than|not more than|as much as|as many as) (?:[$€£] ?)?$",
    re.IGNORECASE,
)
_SINCE = re.compile(
    r"\b(?:from|starting|since|as of|ab|vom|seit|à partir du|à compter du|dès le|a partir de|desde(?: el)?|dal)(?: the| on)? $",
    re.IGNORECASE,
)
_UNTIL = re.compile(
    r"\b(?:until|till|through|bis(?: zum)?|jusqu['’]au|hasta(?: el)?|fino al|até(?: a)?)(?: the)? $|\bfrom [^.;\n]{6,30} to (?:the )?$",
    re.IGNORECASE,
)
_FORWARD = re.compile(r"\s?(?:-|–|—|to|until|till|through|thru)\s?", re.IGNORECASE)
_LAST = re.compile(
    r"\b(?:last|latest|final|letzte[rnms]?|spätestens|dernier|dernière|últim[oa]|ultim[oa]|laatste|ostatni\w*)\b[^.;,!?\n]*$",
    re.IGNORECASE,
)
"""What starts last starts at the end: "the last appointment starts at 7 pm" of "until 19:00"."""
_LOOK_BACK = 40
_STARTS = frozenset(stem(w) for w in ("open", "opens", "opening", "start", "starts", "begins", "from", "departs"))
_ENDS = frozenset(stem(w) for w in ("close", "closes", "closing", "end", "ends", "until", "arrives"))
_RATE = re.compile(
    r"(?: [^\W\d_]{2,20}){1,2} (?:per|an?|each|every) (second|minute|hour|day|week|month|quarter|year|person|user|family|customer|household)\b",
    re.IGNORECASE,
)
_LATER = re.compile(r"\b(?:now|currently|today|since then|has been|these days)\b|\bto $", re.IGNORECASE)
# the old price of "rose from $5 to $6", "$6 instead of $5"; with "was" only where the sentence says what is now
_OLD = re.compile(
    r"\b(?:used to (?:be|cost)|previously|formerly|originally|instead of|rather than|down from|up from|"
    r"(?:goes|going|rises|rising|falls|drops|moves|changes|changing|increases|decreases|rose|risen|fell|fallen|went|gone|increased?|decreased?|raised|cut|reduced|changed?|dropped|moved|grew|grown|lowered) from)"
    r"(?: [^\W\d_]{1,12}){0,2} (?:[$€£] ?)?$",
    re.IGNORECASE,
)
_WAS = re.compile(r"\b(?:was|were|had been|from)\b[^.;]{0,20}$", re.IGNORECASE)
_PAST = re.compile(
    r"\b(?:was|were|had|from|before|until|previous(?:ly)?|former(?:ly)?|old|used to|original(?:ly)?|last|down|up|instead)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Frame:
    """The frame of a value: what is said of it where it stands.

    `head`: the words directly after it ("5 cameras"). `local`: words of its clause or cell, its row's key and column's
    label, and the forms of other values there, each after a "=". `words`: the words of its clause, not by class: open is
    not closed. `days`: weekdays (1 is Monday) and `years` named beside it. `bound`: whether it is the least or most, the
    start or end. `past`: whether the sentence says that it no longer holds. `rate`: what a counted thing is per ("600 requests per minute").
    `key`: it stands in the first cell of its row.
    `row_key`: the words of that cell and its numbers, each after a "=", of a value in another cell.
    """

    head: Words = frozenset()
    local: Words = frozenset()
    words: Words = frozenset()
    days: frozenset[int] = frozenset()
    years: frozenset[str] = frozenset()
    bound: Bound = ""
    past: Past = ""
    rate: str = ""
    key: bool = False
    row_key: Words = frozenset()


NO_DAYS: frozenset[int] = frozenset()
NOWHERE = Frame()


def frames(
    text: str, start: int, end: int, values: Sequence[Found], header: str = "", *, leads: bool = True
) -> list[Frame]:
    """The frame of each of `values`, which stand in the sentence or row `text[start:end]`, in their order.

    `header`: the first row of the table that the row is in, "" if there is none. `leads`: whether what stands before the
    first value is said of later ones too. Time linear in the text and the values.
    """
    if not values:
        return []
    row = text.find(" | ", start, end) >= 0 or text.find("\t", start, end) >= 0
    edges = cut(text, start, end, values, row=row)
    read = ReadPieces.of(text, edges, values)
    key = row_key(text[slice(*edges[0])]) if row else NONE
    cells = cell_words(text, edges, header, text[start:end], values) if row else []
    dated = column_dates(header) if row and header != text[start:end] and ": " not in header else ()
    dated = dated if len(dated) == len(edges) else ((NO_DAYS, NONE),) * len(edges)
    times = {n: place for place, n in enumerate(n for n, v in enumerate(values) if v.kind == "time")}
    same = [values[n] for n in times]
    found = []
    for n, value in enumerate(values):
        at = read.at[n]
        part = read.part(at) if row else read.own(value.kind, at)
        more = cells[at] if row else read.lead(value.kind, at) if leads else NONE
        own = _own_words(value, text)
        found.append(
            Frame(
                _head(text, value, end),
                part.terms.union(more, *(label for m, label in part.labels if m != n)) - own,
                (part.said | more) - own,
                part.days | (dated[at][0] if row else NO_DAYS),
                _years(part.dates, value) | (dated[at][1] if row else NONE),
                _bound(text, start, value, same, times.get(n, 0)) or (_labelled(value, more) if row else ""),
                "" if row else _past(text, start, end, value),
                _rate(text, end, value),
                row and at == 0,
                key if at else NONE,
            )
        )
    return found


def _own_words(value: Found, text: str) -> Words:
    """The words of a value that tell nothing of its role: those of a name, the month of "$5 a month"."""
    if value.kind == "entity":
        return said_words(text[value.start : value.end])
    return role_terms(value.per) if value.per else NONE


def _head(text: str, value: Found, end: int) -> Words:
    match = _HEAD.match(text, value.end, end)
    return frozenset(list(role_terms(match.group(1)))) or role_terms(match.group(2) or "") if match else frozenset()


def _years(dates: Sequence[Found], value: Found) -> frozenset[str]:
    return frozenset(d.value[:4] for d in dates if d is not value and re.match(r"\d{4}", d.value))


def _bound(text: str, start: int, value: Found, times: Sequence[Found], place: int) -> Bound:
    """The bound that the text says a value is: the least or most, the start or end; "" if it says none.

    `times`: those of the sentence; `place`: that of `value` among them, if it is one.
    """
    before = text[max(start, value.start - _LOOK_BACK) : value.start]
    if value.kind in ("number", "quantity", "money", "percent"):
        if _AHEAD.match(text, value.end):
            return ""  # up to a day before is at least a day before
        return "least" if _LEAST.search(before) else "most" if _MOST.search(before) else ""
    if value.kind == "date" and not value.value.startswith("-W-"):
        return "end" if _UNTIL.search(before) else "start" if _SINCE.search(before) else ""
    if value.kind == "time":
        if place and _FORWARD.fullmatch(text, times[place - 1].end, value.start):
            return "end"
        if place + 1 < len(times) and _FORWARD.fullmatch(text, value.end, times[place + 1].start):
            return "start"
        if _START.search(before):
            return "end" if _LAST.search(before) else "start"
        return "end" if _END.search(before) else ""
    return ""


def _rate(text: str, end: int, value: Found) -> str:
    if value.kind != "number":
        return ""
    match = _RATE.match(text, value.end, min(end, value.end + _LOOK_BACK))
    return match[1].lower() if match else ""


def _labelled(value: Found, label: Words) -> Bound:
    """The start or end that the label of a time's cell or column says it is."""
    if value.kind != "time" or bool(label & _STARTS) == bool(label & _ENDS):
        return ""
    return "start" if label & _STARTS else "end"


def _past(text: str, start: int, end: int, value: Found) -> Past:
    before = text[max(start, value.start - _LOOK_BACK) : value.start]
    after = text[value.end : min(end, value.end + _LOOK_BACK)]
    if _OLD.search(before) or (_WAS.search(before) and _LATER.search(after)):
        return "surely"
    return "maybe" if _PAST.search(before) or _PAST.search(after) else ""
