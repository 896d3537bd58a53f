"""Reader of PDF by pdfium: pages in order, paragraphs from the gaps between lines, headings from type size, rows from columns.

A PDF holds glyphs at places, nothing more. Lines come from pdfium; what belongs together is judged by geometry, in points (1/72 inch), y
upwards.
"""

from __future__ import annotations

import ctypes
import re
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, pairwise

import pypdfium2 as pdfium
from pypdfium2 import raw

from grounding.ingest.readers import content_types
from grounding.ingest.readers.extract import Extract, Refused, Writer, one_line
from grounding.ingest.readers.rows import header_rows, table_lines
from grounding.ingest.readers.texts.plain import joined_lines, usual_width

CONTENT_TYPE = content_types.PDF

MAX_PAGES = 20_000
_PDFIUM = threading.Lock()  # pdfium is not thread-safe, not even over different documents
_HYPHEN = "\ufffe"  # what pdfium gives for a hyphen that ends a line; the line break is then left out
_SOFT = re.compile(rf"(?<=[a-zß-ÿ]){_HYPHEN}(?=[a-zß-ÿ])")
_BULLET = re.compile("^[•●▪◦\uf0b7\u2022\x7f]\\s*")
_MARKER = re.compile("\\s*(?:[•●▪◦\uf0b7\x7f–-]|\\(?[0-9a-zA-Z]{1,3}[.)])")
_COLUMN_GAP = 0.9  # ems; wider than spaces between words, those of most justified lines included
_PARAGRAPH_GAP = 1.35  # times the usual distance of lines
_HEADING = ((1.6, 1), (1.3, 2), (1.12, 3))  # type size over body size -> level
_LONGEST_HEADING = 120
_LONGEST_CELL = 60
_UNTITLED = frozenset({"untitled", "(anonymous)", "unspecified", "(unspecified)"})


@dataclass(frozen=True, slots=True)
class _Cell:
    left: float
    right: float
    text: str


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a page. `base`, `right` and `first` (the width of the first word) in points; zeros where there is no geometry."""

    text: str
    size: float
    base: float
    right: float
    first: float
    cells: tuple[_Cell, ...]


def read_pdf(data: bytes, name: str) -> Extract:
    """Extract of a PDF with "page N" locators. Raises Refused."""
    with _PDFIUM:
        title, pages = _pages(data)
    pages = [_without_number(lines, number) for number, lines in enumerate(pages, 1)]
    body = _body_size(pages)
    width = usual_width([line.right for line in chain(*pages) if len(line.cells) < 2 and abs(line.size - body) < 1])
    writer = Writer()
    for number, lines in enumerate(pages, 1):
        writer.place(f"page {number}") if lines else None
        for block in _blocks(lines, body):
            _write(writer, block, body, width)
    if writer.empty:
        raise Refused("empty", "no text in the PDF; scanned pages need text recognition (OCR) first")
    extract = writer.extract(title or name, CONTENT_TYPE)
    headings = [place.label for place in extract.locators if not place.label.startswith("page ")]
    return extract if title or not headings else writer.extract(headings[0], CONTENT_TYPE)


def _pages(data: bytes) -> tuple[str, list[list[_Line]]]:
    try:
        document = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        if "assword" in str(error):
            raise Refused("encrypted", "a PDF with a password; save it without one") from None
        raise Refused("corrupt", "a PDF that cannot be opened: cut short or damaged") from None
    try:
        if len(document) > MAX_PAGES:
            raise Refused("too_large", f"a PDF of more than {MAX_PAGES:,} pages")
        title = one_line(document.get_metadata_value("Title") or "")
        return ("" if title.lower() in _UNTITLED else title), [_page(document, i) for i in range(len(document))]
    except pdfium.PdfiumError:
        raise Refused("corrupt", "a PDF with a damaged page") from None
    finally:
        document.close()


def _page(document: pdfium.PdfDocument, index: int) -> list[_Line]:
    page = document[index]
    try:
        text_page = page.get_textpage()
        try:
            return _without_lone_rows(list(_lines(text_page)))
        finally:
            text_page.close()
    finally:
        page.close()


def _lines(page: pdfium.PdfTextPage) -> Iterator[_Line]:
    text = page.get_text_range()
    exact = len(text) == page.count_chars()  # otherwise characters and glyphs do not go one to one: no geometry
    at = 0
    for line in text.split("\r\n"):
        if line.strip():
            first = at + len(line) - len(line.lstrip())
            size = _size(page, first, at + len(line.rstrip()) - 1) if exact else 0.0
            yield _line(page, line, at, size)
        at += len(line) + 2


def _line(page: pdfium.PdfTextPage, line: str, at: int, size: float) -> _Line:
    if size <= 0:
        return _Line(_joined(line), 0.0, 0.0, 0.0, 0.0, ())
    cells = _cells(page, line, at, size)
    begin = at + len(line) - len(line.lstrip())
    left, base, _, _ = _box(page, begin)
    word_end = _box(page, begin + len(line.split(maxsplit=1)[0]) - 1)[2]
    return _Line(_joined(line), size, base, cells[-1].right, word_end - left, cells)


def _without_lone_rows(lines: list[_Line]) -> list[_Line]:
    """The lines, where one with wide gaps and no such neighbour is made an ordinary line: it is no table."""
    rows = [False, *(len(line.cells) > 1 for line in lines), False]
    return [
        replace(line, cells=()) if row and not before and not after else line
        for line, before, row, after in zip(lines, rows, rows[1:], rows[2:], strict=False)
    ]


def _cells(page: pdfium.PdfTextPage, line: str, at: int, size: float) -> tuple[_Cell, ...]:
    if size <= 0:
        return ()
    cuts = [0]
    for space in re.finditer(r"(?<=\S)\s+(?=\S)", line):
        if _MARKER.fullmatch(line, 0, space.start()):
            continue
        if _box(page, at + space.end())[0] - _box(page, at + space.start() - 1)[2] > _COLUMN_GAP * size:
            cuts.append(space.end())
    cuts.append(len(line))
    found = []
    for start, end in pairwise(cuts):
        text = line[start:end].rstrip()
        found.append(
            _Cell(_box(page, at + start)[0], _box(page, at + start + len(text) - 1)[2], one_line(_joined(text)))
        )
    return tuple(found)


def _size(page: pdfium.PdfTextPage, first: int, last: int) -> float:
    """Type size of a line: the smaller of its two ends, so that a large bullet makes no heading."""
    return float(min(raw.FPDFText_GetFontSize(page, first), raw.FPDFText_GetFontSize(page, last)))


def _box(page: pdfium.PdfTextPage, index: int) -> tuple[float, float, float, float]:
    """Left, bottom, right and top of the line box of one character; zeros if pdfium has none."""
    rect = raw.FS_RECTF()
    if not raw.FPDFText_GetLooseCharBox(page, index, ctypes.byref(rect)):
        return (0.0, 0.0, 0.0, 0.0)
    return (rect.left, rect.bottom, rect.right, rect.top)


def _joined(line: str) -> str:
    return _SOFT.sub("", line).replace(_HYPHEN, "-")


def _body_size(pages: list[list[_Line]]) -> float:
    sizes: Counter[float] = Counter()
    for lines in pages:
        for line in lines:
            sizes[round(line.size, 1)] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def _without_number(lines: list[_Line], number: int) -> list[_Line]:
    """The lines without a first or last one that is only this page's number."""
    alone = re.compile(rf"^(?:page\s+)?[-–]?\s*{number}(?:\s*(?:of|/)\s*\d+)?\s*[-–]?$", re.IGNORECASE)
    if len(lines) > 1 and alone.match(lines[-1].text.strip()):
        return lines[:-1]
    if len(lines) > 1 and alone.match(lines[0].text.strip()):
        return lines[1:]
    return lines


def _blocks(lines: list[_Line], body: float) -> Iterator[list[_Line]]:
    """Runs of lines that form a heading, a table or a paragraph."""
    step = _usual_step(lines)
    block: list[_Line] = []
    for line in lines:
        if block and _breaks(block[-1], line, step, body):
            yield block
            block = []
        block.append(line)
    if block:
        yield block


def _breaks(before: _Line, line: _Line, step: float, body: float) -> bool:
    if _level(before, body) != _level(line, body) or (len(before.cells) > 1) != (len(line.cells) > 1):
        return True
    if len(line.cells) > 1:
        return len(line.cells) > len(before.cells) or before.base - line.base > 4 * line.size
    gap = before.base - line.base
    return gap < 0 or (step > 0 and gap > _PARAGRAPH_GAP * step)


def _usual_step(lines: list[_Line]) -> float:
    steps = [round(a.base - b.base, 1) for a, b in pairwise(lines) if 0 < a.base - b.base < 3 * a.size]
    return Counter(sorted(steps)).most_common(1)[0][0] if steps else 0.0


def _level(line: _Line, body: float) -> int:
    """Heading level 1 to 3 of a line set larger than the body, 0 for the body itself."""
    if not body or len(line.text) > _LONGEST_HEADING:
        return 0
    return next((level for ratio, level in _HEADING if line.size >= ratio * body), 0)


def _write(writer: Writer, block: list[_Line], body: float, width: float) -> None:
    level = _level(block[0], body)
    if level:
        writer.heading(" ".join(line.text for line in block), level)
    elif len(block[0].cells) > 1:
        writer.lines(_table(block))
    else:
        writer.block(_unwrapped(block, width))


def _unwrapped(block: list[_Line], width: float) -> str:
    """The paragraph with lines joined that were broken because the next word did not fit before `width`."""
    out = [_BULLET.sub("- ", block[0].text.strip())]
    for before, line in pairwise(block):
        text = _BULLET.sub("- ", line.text.strip())
        wrapped = before.right + line.first + 0.2 * line.size > width > 0
        if wrapped and not text.startswith("- ") and not _MARKER.match(text):
            out[-1] = joined_lines(out[-1], text)
        else:
            out.append(text)
    return "\n".join(out)


def _table(block: list[_Line]) -> list[str]:
    """Rows with their headers if every cell stands under exactly one cell of the first line, else plain lines."""
    plain = [line.text for line in block]
    if any(len(cell.text) > _LONGEST_CELL for cell in block[0].cells):
        return plain
    grid = [[cell.text for cell in block[0].cells]]
    for line in block[1:]:
        row = [""] * len(grid[0])
        for cell in line.cells:
            column = _column(cell, block[0].cells)
            if column is None or row[column]:
                return plain
            row[column] = cell.text
        grid.append(row)
    return table_lines(grid) if header_rows(grid) else plain


def _column(cell: _Cell, headers: tuple[_Cell, ...]) -> int | None:
    """The header above a cell: the one that overlaps; None if none or several do."""
    above = [i for i, head in enumerate(headers) if head.left < cell.right and cell.left < head.right]
    return above[0] if len(above) == 1 else None
