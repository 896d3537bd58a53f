"""Division of a passage into quotable blocks: rows with the names of their columns, steps, items under their lead-in, sentences.

Linear in the length of the text; `text[block.start:block.end] == block.text`, blocks ascend and do not overlap.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from grounding.records import Span
from grounding.text import BAR, body_start, sentences, terms

Kind = Literal["row", "step", "item", "text"]
_LINE = re.compile(r"[^\n]+")
_STEP = re.compile(
    r"(?:\d{1,2}[.)]|\(\d{1,2}\)|step \d{1,2}\b[.:)]?|schritt \d{1,2}\b[.:)]?|[a-h][.)])\s", re.IGNORECASE
)
_ITEM = re.compile(r"[-*•‣–]\s")
_COLUMNS = re.compile(r"\S {3,}\S")
"""Space that sets columns apart in a table of plain text: its lines are rows, not a paragraph."""
_LEADERS = re.compile(r"(?:\.{4,}|(?:\. ){4,})\s*\S")
"""Points that lead the eye from a name to its price."""
_SPEECH = re.compile(
    r"\**[A-ZÀ-Þ][\w.'’-]{0,30}(?: [A-ZÀ-Þ][\w.'’-]{0,30}){0,3}:\** {0,2}[\"“„«][^\"“”„«»\n]{10,2000}[.!?…][\"”“»]\**"
)
"""A paragraph that is what a person is quoted to have said: their name, and their words in quotation marks."""
LEAD_WORDS = 9
"""Words up to which a line of text is taken to head what stands under it; one that ends in a colon always does."""
LONG = 45
"""Words from which a paragraph or an item is quoted by its sentences."""


@dataclass(frozen=True, slots=True)
class Block:
    """A quotable stretch of a passage. `heading`: the heading above it within the passage, `lead`: the line that introduces its list, both
    "" if there is none.

    `run` counts the lists, tables and paragraphs of a passage: blocks of one table or one list share it.
    """

    start: int
    end: int
    text: str
    kind: Kind
    heading: str = ""
    lead: str = ""
    run: int = 0

    @property
    def words(self) -> int:
        """Number of words separated by white space."""
        return len(self.text.split())


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table row: the name of its column, "" where it has none, and the whole of it as it stands in the row."""

    header: str
    span: Span


def blocks(text: str) -> list[Block]:
    """All blocks of `text`, headings left out, and what somebody is quoted to have asked or told: they say what follows, not what is so. What follows it has it as its lead."""
    out, asked = list[Block](), None
    for block in _lines(text):
        if block.kind == "text" and _SPEECH.fullmatch(block.text):
            asked = block
            continue
        led = asked is not None and asked.heading == block.heading and not block.lead
        out += _parts(replace(block, lead=asked.text) if asked is not None and led else block)
        asked = None
    return out


NOTHING = frozenset({"", "-", "–", "—", "n/a", "n.a.", "k.a.", "./."})
"""What stands in a cell that holds no value."""


def is_empty(cell: Cell) -> bool:
    """Whether a cell under the name of its column holds no value."""
    return bool(cell.header) and cell.span.text.removeprefix(f"{cell.header}:").strip().lower() in NOTHING


@lru_cache(maxsize=4096)
def cells(row: str) -> tuple[Cell, ...]:
    """The cells of a row, ascending, offsets within `row`."""
    found, at = list[Cell](), 0
    for piece in row.split(BAR):
        header, colon, _ = piece.partition(": ")
        found.append(Cell(header.strip() if colon else "", Span(at, at + len(piece), piece)))
        at += len(piece) + len(BAR)
    return tuple(found)


def _lines(text: str) -> Iterator[Block]:
    """The lines of a passage as blocks; lines of one paragraph together."""
    heading = lead = ""
    run, last = 0, None
    for line in _LINE.finditer(text):
        body = line.group().strip()
        if not body:
            continue
        apart = text[max(0, line.start() - 2) : line.start()].count("\n") != 1
        if body.startswith("#"):
            if last is not None:
                yield last
            heading, lead, last = body.lstrip("# "), "", None
            continue
        start = line.start() + line.group().index(body[0])
        kind = _kind(body)
        if last is not None and _goes_on(last, kind, apart):
            last = replace(last, end=start + len(body), text=text[last.start : start + len(body)])
            continue
        if last is not None:
            yield last
            if last.kind == "text":
                lead = last.text if _leads(last.text) else ""
        run += last is None or kind != last.kind or (kind == "text" and apart)
        last = Block(start, start + len(body), body, kind, heading, "" if kind == "text" else lead, run)
    if last is not None:
        yield last


def _kind(line: str) -> Kind:
    if BAR in line or _COLUMNS.search(line) or _LEADERS.search(line):
        return "row"
    if _STEP.match(line):
        return "step"
    return "item" if _ITEM.match(line) else "text"


def _goes_on(last: Block, kind: Kind, apart: bool) -> bool:
    """True if a line of text continues the paragraph above it: it was broken where the page ended."""
    return kind == "text" == last.kind and not apart and len(last.text) > 60


def _leads(text: str) -> bool:
    return text.endswith(":") or len(text.split()) < LEAD_WORDS


def _parts(block: Block) -> Iterator[Block]:
    """The block, or its sentences where it is long, since the answer stands in one of them."""
    if block.kind in ("row", "step") or block.words <= LONG:
        yield block
        return
    for span in sentences(block.text):
        start = block.start + span.start
        yield replace(block, start=start, end=start + len(span.text), text=span.text)


def says_something(block: Block) -> bool:
    """True for a block worth quoting; False for a line that holds no term, for a heading in capitals, and for a single word of text without
    a digit that leads nothing in.
    """
    if block.kind == "text" and block.text.isupper() and not any(c.isdigit() for c in block.text):
        return False
    held = terms(block.text[body_start(block.text) :])
    alone = block.kind == "text" and not block.text.endswith(":")
    return len(held) > 1 or (bool(held) and (not alone or any(c.isdigit() for c in block.text)))
