"""The layout of an answer: its sentences in lines, list items, headings, lead-ins and tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from grounding.records import Span
from grounding.text import sentences

_MARKER = re.compile(r"(?P<bullet>[-*•‣+])\s+|(?P<open>\(?)(?P<count>\d{1,3}|[a-zA-Z])(?P<close>[.)])\s+")
_HEADING = re.compile(r"(#{1,6})\s")
_LEAD_IN = re.compile(r":[*_]{0,2}\s*(?:\[\d{1,3}\]\s*)*$")
_RULE = re.compile(r"\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*)*\|?")


@dataclass(frozen=True, slots=True)
class Marker:
    """The marker of a list item. `count`: its number or letter, "" of a bullet; `run`: the numbered list it is in, or -1."""

    text: str
    count: str = ""
    run: int = -1


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A sentence of an answer in its layout. `line`: the number of its line; `indent`: columns before the line's first sign.

    `item`: the piece that opens the list item it belongs to, by index, -1 outside of any. `heading`: level, 0 for none.
    `table`: which table, -1 for none; `head`: it is in the first row of one or in the rule below. `leads`: it ends in a colon.
    """

    span: Span
    line: int
    indent: int
    item: int = -1
    marker: Marker | None = None
    heading: int = 0
    table: int = -1
    head: bool = False

    @property
    def leads(self) -> bool:
        """True if it leads in what follows: it ends in a colon."""
        return self.table < 0 and bool(_LEAD_IN.search(self.span.text))


def layout(answer: str) -> list[TextPiece]:
    """Every sentence of `answer` with what it belongs to."""
    spans = sentences(answer)
    lines = _line_numbers(answer, spans)
    tables = _tables(answer)
    pieces: list[TextPiece] = []
    runs = _Runs()
    open_items: list[int] = []
    for n, (span, line) in enumerate(zip(spans, lines, strict=True)):
        opens = n == 0 or lines[n - 1] != line
        indent = _indent(answer, span.start) if opens else pieces[-1].indent
        heading = _HEADING.match(span.text) if opens else None
        table, head = tables.get(line, (-1, False))
        marker = runs.marker(span.text, indent) if opens and not heading and table < 0 else None
        if heading:
            runs.clear()
        if opens:
            open_items = [] if heading else [i for i in open_items if pieces[i].indent < indent]
        if marker:
            open_items.append(n)
        item = open_items[-1] if open_items else -1
        pieces.append(TextPiece(span, line, indent, item, marker, len(heading[1]) if heading else 0, table, head))
    return pieces


def within(pieces: Sequence[TextPiece], item: int) -> list[int]:
    """The pieces that belong to a list item besides its first sentence: the rest of its line, lines and items set in below it."""
    out = []
    for j in range(item + 1, len(pieces)):
        piece = pieces[j]
        same_line = piece.line == pieces[item].line
        if not same_line and (piece.item < 0 or piece.indent <= pieces[item].indent):
            break
        out.append(j)
    return out


def _line_numbers(answer: str, spans: Sequence[Span]) -> list[int]:
    numbers, line, at = [], 0, 0
    for span in spans:
        line += answer.count("\n", at, span.start)
        at = span.start
        numbers.append(line)
    return numbers


def _indent(answer: str, start: int) -> int:
    begin = answer.rfind("\n", 0, start) + 1
    return len(answer[begin:start].expandtabs(4))


def _tables(answer: str) -> dict[int, tuple[int, bool]]:
    """The lines of tables: of each its number and whether it is the first row or the rule below it."""
    lines = answer.split("\n")
    found: dict[int, tuple[int, bool]] = {}
    number = 0
    for n in range(1, len(lines)):
        rule = "|" in lines[n] and _RULE.fullmatch(lines[n].strip())
        if not rule or "|" not in lines[n - 1] or n - 1 in found:
            continue
        found |= {n - 1: (number, True), n: (number, True)}
        for m in range(n + 1, len(lines)):
            if "|" not in lines[m]:
                break
            found[m] = (number, False)
        number += 1
    return found


class _Runs:
    """Numbered lists as they are read: an item goes on with the list in which its number or letter is the next one."""

    def __init__(self) -> None:
        self._last: dict[int, Marker] = {}
        self._next = 0

    def clear(self) -> None:
        self._last = {}

    def marker(self, text: str, indent: int) -> Marker | None:
        match = _MARKER.match(text)
        if match is None:
            return None
        self._last = {at: m for at, m in self._last.items() if at <= indent}
        if match["bullet"]:
            return Marker(match.group())
        count = match["count"]
        before = self._last.get(indent)
        follows = before is not None and successor(before.count) == count
        # "A. Smith" and "I) " open no list: a letter does where it is the first one, or the next
        if count.isalpha() and not follows and count.lower() != "a":
            return None
        if follows and before is not None:
            run = before.run
        else:
            run, self._next = self._next, self._next + 1
        self._last[indent] = Marker(match.group(), count, run)
        return self._last[indent]


def successor(count: str) -> str:
    """The next number or letter; "" after z."""
    if count.isdigit():
        return str(int(count) + 1)
    return chr(ord(count) + 1) if count.lower() != "z" else ""
