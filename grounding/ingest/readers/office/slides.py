"""Reader of PPTX slide by slide: the title as a heading, text boxes in reading order, tables as rows, charts as rows, notes.

ECMA-376 part 1, 19 (PresentationML) and 21 (DrawingML). Hidden slides and hidden shapes are left out.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from typing import Any

from lxml import etree

from grounding.ingest.readers import content_types
from grounding.ingest.readers.archive import damage_refused, part, related
from grounding.ingest.readers.extract import Extract, Writer, one_line
from grounding.ingest.readers.rows import table_lines
from grounding.ingest.readers.texts.web_page import link_target

_MAIN = "ppt/presentation.xml"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_NOT_TEXT = frozenset({"dt", "ftr", "sldNum", "hdr", "sldImg"})  # placeholders that repeat on every slide
_TITLES = frozenset({"title", "ctrTitle"})
_DEEPEST = 50  # groups within groups
_Links = dict[str, tuple[str, str]]


def read_slides(data: bytes, name: str) -> Extract:
    """Extract of a PPTX with "slide N" locators; N counts as the presentation does. Raises Refused."""
    with damage_refused("a PowerPoint file", etree.LxmlError), zipfile.ZipFile(io.BytesIO(data)) as archive:
        writer = Writer()
        titles = [_slide(archive, path, number, writer) for number, path in enumerate(_paths(archive), 1)]
        title = _own_title(archive) or next(iter(titles), "")
    return writer.extract(title or name, content_types.SLIDES)


def _paths(archive: zipfile.ZipFile) -> Iterator[str]:
    links = related(archive, _MAIN)
    for slide in part(archive, _MAIN).iterfind(f"{_P}sldIdLst/{_P}sldId"):
        yield links[slide.get(f"{_R}id", "")][1]


def _own_title(archive: zipfile.ZipFile) -> str:
    try:
        title = part(archive, "docProps/core.xml").findtext("{http://purl.org/dc/elements/1.1/}title")
    except KeyError:
        return ""
    words = one_line(title or "")
    return "" if words.lower() in ("powerpoint presentation", "presentation") else words


def _slide(archive: zipfile.ZipFile, path: str, number: int, writer: Writer) -> str:
    """Write a slide; returns its title."""
    root = part(archive, path)
    if root.get("show") in ("0", "false"):
        return ""
    links = related(archive, path)
    shapes = list(_shapes(root.find(f"{_P}cSld/{_P}spTree"), 0))
    writer.place(f"slide {number}")
    title = next((one_line(_words(shape, links)) for shape in shapes if _placeholder(shape) in _TITLES), "")
    writer.heading(title)
    for shape in shapes:
        if _placeholder(shape) not in _TITLES | _NOT_TEXT:
            _shape(archive, shape, links, writer)
    _notes(archive, links, writer)
    return title


def _shapes(tree: Any, depth: int) -> Iterator[Any]:
    """Visible shapes in their own order, which is that of reading aloud, groups opened."""
    if tree is None or depth > _DEEPEST:
        return
    for shape in tree:
        if not isinstance(shape.tag, str) or _hidden(shape):
            continue
        if shape.tag == f"{_P}grpSp":
            yield from _shapes(shape, depth + 1)
        elif shape.tag in (f"{_P}sp", f"{_P}graphicFrame"):
            yield shape
        elif shape.tag.endswith("}AlternateContent") and len(shape):
            yield from _shapes(shape[0], depth + 1)


def _hidden(shape: Any) -> bool:
    own = shape.find("./*/" + f"{_P}cNvPr")
    return own is not None and own.get("hidden") in ("1", "true")


def _placeholder(shape: Any) -> str:
    found = shape.find(f"{_P}nvSpPr/{_P}nvPr/{_P}ph")
    return "" if found is None else found.get("type", "body")


def _shape(archive: zipfile.ZipFile, shape: Any, links: _Links, writer: Writer) -> None:
    table = shape.find(f"{_A}graphic/{_A}graphicData/{_A}tbl")
    chart = shape.find(f"{_A}graphic/{_A}graphicData/{_C}chart")
    if table is not None:
        writer.lines(_table(table, links))
    elif chart is not None:
        writer.lines(_chart(part(archive, links[chart.get(f"{_R}id", "")][1])))
    else:
        writer.lines(_lines(shape, links))


def _lines(shape: Any, links: _Links) -> list[str]:
    """Paragraphs of a shape, one a line, with dashes where the outline goes down."""
    found = []
    for paragraph in shape.iterfind(f"{_P}txBody/{_A}p"):
        properties = paragraph.find(f"{_A}pPr")
        level = properties.get("lvl", "0") if properties is not None else "0"
        text = _paragraph(paragraph, links)
        found.append(f"- {text}" if level not in ("", "0") and text.strip() else text)
    return found


def _words(shape: Any, links: _Links) -> str:
    return " ".join(_lines(shape, links))


def _paragraph(paragraph: Any, links: _Links) -> str:
    parts: list[str] = []
    for run in paragraph:
        if run.tag == f"{_A}br":
            parts.append("\n")
        elif run.tag in (f"{_A}r", f"{_A}fld"):
            parts.append(run.findtext(f"{_A}t") or "")
            link = run.find(f"{_A}rPr/{_A}hlinkClick")
            if link is not None:
                parts.append(link_target(links.get(link.get(f"{_R}id", ""), ("", ""))[1], "".join(parts[-8:])))
    return "".join(parts)


def _table(table: Any, links: _Links) -> list[str]:
    grid: list[list[str]] = []
    for row in table.iterfind(f"{_A}tr"):
        line: list[str] = []
        for column, cell in enumerate(row.iterfind(f"{_A}tc")):
            if cell.get("hMerge") in ("1", "true") and line:
                line.append(line[-1])
            elif cell.get("vMerge") in ("1", "true") and grid and column < len(grid[-1]):
                line.append(grid[-1][column])
            else:
                line.append(one_line(" ".join(_paragraph(p, links) for p in cell.iterfind(f"{_A}txBody/{_A}p"))))
        grid.append(line)
    properties = table.find(f"{_A}tblPr")
    marked = properties is not None and properties.get("firstRow") in ("1", "true")
    return table_lines(grid, 1 if marked and len(grid) > 1 else None)


def _chart(root: Any) -> list[str]:
    """Rows of a chart, one for each category, as the chart saved it: `Quarter 1 | Sales: 4.3`."""
    rows: dict[str, list[str]] = {}
    for series in root.iter(f"{_C}ser"):
        label = one_line(" ".join(v.text or "" for v in series.iterfind(f"{_C}tx//{_C}v")))
        names = _points(series.find(f"{_C}cat"))
        for at, value in _points(series.find(f"{_C}val")).items():
            rows.setdefault(names.get(at, at), []).append(f"{label}: {value}" if label else value)
    heading = one_line(" ".join(t.text or "" for t in root.iterfind(f"{_C}chart/{_C}title//{_A}t")))
    return [heading, *(" | ".join([name, *values]) for name, values in rows.items())]


def _points(values: Any) -> dict[str, str]:
    if values is None:
        return {}
    return {p.get("idx", ""): one_line(p.findtext(f"{_C}v") or "") for p in values.iter(f"{_C}pt")}


def _notes(archive: zipfile.ZipFile, links: _Links, writer: Writer) -> None:
    for kind, path in links.values():
        if kind != "notesSlide":
            continue
        own = related(archive, path)
        shapes = list(_shapes(part(archive, path).find(f"{_P}cSld/{_P}spTree"), 0))
        lines = [line for s in shapes if _placeholder(s) not in _NOT_TEXT for line in _lines(s, own) if line.strip()]
        if lines:
            writer.lines([f"Notes: {lines[0]}", *lines[1:]])
