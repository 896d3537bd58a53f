"""Reader of DOCX in reading order: headings, paragraphs, lists and tables as the document shows them with all changes accepted."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any

import docx
from docx.document import Document as WordDocument
from docx.exceptions import PythonDocxError
from docx.opc.exceptions import OpcError
from docx.oxml.exceptions import XmlchemyError
from docx.oxml.ns import qn
from docx.table import Table
from docx.text.paragraph import Paragraph

from grounding.ingest.readers import content_types
from grounding.ingest.readers.archive import damage_refused
from grounding.ingest.readers.extract import Extract, Writer, one_line
from grounding.ingest.readers.rows import table_lines
from grounding.ingest.readers.texts.web_page import link_target

CONTENT_TYPE = content_types.WORD

_HEADING = re.compile(r"^heading ([1-9])$", re.IGNORECASE)
_NOT_SHOWN = frozenset(
    qn(tag) for tag in ("w:del", "w:moveFrom", "w:instrText", "w:delText", "w:fldData", "w:pPr", "w:rPr", "w:object")
) | {"{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"}
_BREAKS = frozenset({qn("w:br"), qn("w:cr")})
_PARAGRAPH, _RUN, _TEXT, _LINK = qn("w:p"), qn("w:r"), qn("w:t"), qn("w:hyperlink")
_TAB, _NO_BREAK_HYPHEN = qn("w:tab"), qn("w:noBreakHyphen")


def read_word(data: bytes, name: str) -> Extract:
    """Extract of a DOCX. The title is the document's own, else its first heading, else `name`. Raises Refused."""
    with damage_refused("a Word file", XmlchemyError, PythonDocxError, OpcError):
        document = docx.Document(io.BytesIO(data))
        writer = Writer()
        title = _body(document, writer) or one_line(document.core_properties.title or "")
    extract = writer.extract(title or name, CONTENT_TYPE)
    if title or not extract.locators:
        return extract
    return writer.extract(extract.locators[0].label, CONTENT_TYPE)


def _body(document: WordDocument, writer: Writer) -> str:
    """Write the body; returns the text of the paragraph with style Title, if there is one."""
    title = ""
    items: list[str] = []
    for block in document.iter_inner_content():
        if isinstance(block, Table):
            _flush(writer, items)
            writer.lines(_table(block))
            continue
        text = _shown(block)
        style = _style(block)
        level = _HEADING.match(style)
        if text.strip() and (level or style.lower() == "title"):
            _flush(writer, items)
            title = title or (one_line(text) if not level else "")
            writer.heading(text, int(level.group(1)) if level else 1)
        elif text.strip() and _is_item(block, style):
            items.append(f"- {one_line(text)}")
        else:
            _flush(writer, items)
            writer.block(text)
    _flush(writer, items)
    return title


def _flush(writer: Writer, items: list[str]) -> None:
    writer.lines(items)
    items.clear()


def _style(paragraph: Paragraph) -> str:
    style = paragraph.style
    return (style.name or "") if style is not None else ""


def _is_item(paragraph: Paragraph, style: str) -> bool:
    properties = paragraph._p.pPr  # noqa: SLF001  # python-docx has no public way to see numbering
    return style.startswith("List ") or (properties is not None and properties.numPr is not None)


def _shown(paragraph: Paragraph) -> str:
    parts: list[str] = []
    _collect(paragraph._p, paragraph, parts)  # noqa: SLF001  # its text property leaves out inserted text and links' targets
    return "".join(parts)


def _collect(element: Any, paragraph: Paragraph, parts: list[str]) -> None:
    """Append the visible text below `element` to `parts`: insertions yes, deletions and hidden runs no, link targets behind their words."""
    for child in element.iterchildren():
        tag = child.tag
        if tag in _NOT_SHOWN or not isinstance(tag, str) or (tag == _RUN and _vanishes(child)):
            continue
        if tag == _TEXT:
            parts.append(child.text or "")
        elif tag == _TAB:
            parts.append("\t")
        elif tag == _NO_BREAK_HYPHEN:
            parts.append("-")
        elif tag in _BREAKS:
            parts.append("\n")
        else:
            _collect(child, paragraph, parts)
            if tag == _LINK:
                parts.append(link_target(_target(child, paragraph), "".join(parts[-8:])))
            elif tag == _PARAGRAPH:  # a text box
                parts.append("\n")


def _vanishes(run: Any) -> bool:
    properties = run.find(qn("w:rPr"))
    hidden = properties.find(qn("w:vanish")) if properties is not None else None
    return hidden is not None and hidden.get(qn("w:val")) not in ("0", "false", "off")


def _target(link: Any, paragraph: Paragraph) -> str | None:
    relation = paragraph.part.rels.get(link.get(qn("r:id")) or "")
    return str(relation.target_ref) if relation is not None and relation.is_external else None


def _table(table: Table) -> list[str]:
    grid = [list(_cells(row)) for row in table.rows]
    marked = 0
    for row in table.rows:
        properties = row._tr.trPr  # noqa: SLF001  # no public way to see a repeated header row
        if properties is None or properties.find(qn("w:tblHeader")) is None:
            break
        marked += 1
    return table_lines(grid, marked or None)


def _cells(row: Any) -> Iterator[str]:
    for cell in row.cells:
        parts: list[str] = []
        for block in cell.iter_inner_content():
            if isinstance(block, Table):
                parts += _table(block)
            else:
                parts.append(_shown(block))
        yield one_line(" ".join(parts))
