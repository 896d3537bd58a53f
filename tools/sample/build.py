"""Build the binary files of the sample knowledge base from their readable sources.

    python tools/sample/build.py [TARGET_FOLDER]

`sources/manifest.yaml` lists source, format and target. The same sources give the same bytes: dates are fixed, PDFs are
written in reportlab's invariant mode, and the zip containers of DOCX and XLSX are packed again in a fixed form.

The markup of the sources is a small part of Markdown: headings, paragraphs, lists, tables, **bold**, *italic*, and a
line `---page---` for a page break. Mails are headers, an empty line and the body; `X-Encoding` names the transfer
encoding and `X-Alternative: html` adds an HTML copy of the body.
"""

from __future__ import annotations

import html
import io
import re
import sys
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path
from typing import Any, Literal

import docx
import openpyxl
import yaml
from docx.document import Document as DocxDocument
from openpyxl.styles import Alignment, Font
from openpyxl.utils import get_column_letter
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.lib.units import mm
from reportlab.platypus import (
    ListFlowable,
    ListItem,
    PageBreak,
    Paragraph,
    SimpleDocTemplate,
    Spacer,
    Table,
    TableStyle,
)

HERE = Path(__file__).parent
SOURCES = HERE / "sources"
TARGET = HERE.parents[1] / "bot" / "sample" / "kb"
FIXED = datetime(2026, 10, 1, 9, 0, 0)  # noqa: DTZ001 - document properties carry no zone
AUTHOR = "Kestrelby Home"

BlockKind = Literal["h1", "h2", "text", "bullets", "steps", "table", "page"]


@dataclass(frozen=True, slots=True)
class Block:
    """One block of the markup: `lines` are its text lines, list items or table rows (cells in `rows`)."""

    kind: BlockKind
    lines: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


_STARTS: tuple[tuple[BlockKind, re.Pattern[str]], ...] = (
    ("h2", re.compile(r"## ")),
    ("h1", re.compile(r"# ")),
    ("bullets", re.compile(r"- ")),
    ("steps", re.compile(r"\d+\. ")),
    ("table", re.compile(r"\|")),
    ("page", re.compile(r"---page---$")),
)


def parse(text: str) -> Iterator[Block]:
    """Blocks of the markup, in order. A block is a run of lines without an empty line between them."""
    for part in re.split(r"\n\s*\n", text.strip()):
        lines = part.splitlines()
        kind, start = next(((k, p) for k, p in _STARTS if p.match(lines[0])), ("text", re.compile("")))
        if kind == "table":
            cells = [tuple(c.strip() for c in line.strip().strip("|").split("|")) for line in lines]
            yield Block("table", rows=tuple(row for i, row in enumerate(cells) if i != 1))
        else:
            yield Block(kind, lines=tuple(start.sub("", line, count=1) for line in lines))


def runs(text: str) -> Iterator[tuple[str, str]]:
    """Pieces of a line with their style: "", "b" or "i"."""
    for piece in re.split(r"(\*\*.+?\*\*|\*.+?\*)", text):
        if piece.startswith("**"):
            yield piece[2:-2], "b"
        elif piece.startswith("*"):
            yield piece[1:-1], "i"
        elif piece:
            yield piece, ""


def _rich(text: str) -> str:
    return "".join(f"<{s}>{html.escape(t)}</{s}>" if s else html.escape(t) for t, s in runs(text))


def _pdf_block(block: Block, styles: Any) -> Any:
    body = styles["BodyText"]
    if block.kind == "page":
        return PageBreak()
    if block.kind == "table":
        table = Table([[Paragraph(_rich(c), body) for c in row] for row in block.rows], hAlign="LEFT")
        table.setStyle(TableStyle([("GRID", (0, 0), (-1, -1), 0.4, colors.grey), ("VALIGN", (0, 0), (-1, -1), "TOP")]))
        return table
    if block.kind in ("bullets", "steps"):
        items = [ListItem(Paragraph(_rich(line), body)) for line in block.lines]
        return ListFlowable(
            items,
            bulletType="1" if block.kind == "steps" else "bullet",
            bulletFormat="%s." if block.kind == "steps" else None,
        )
    style = {"h1": styles["Title"], "h2": styles["Heading2"]}.get(block.kind, body)
    return Paragraph(_rich(" ".join(block.lines)), style)


class Numbered(SimpleDocTemplate):  # type: ignore[misc]  # reportlab has no types
    """A document with the page number at the foot, written after the text so that it is read last."""

    def afterPage(self) -> None:  # noqa: N802 - reportlab's name
        self.canv.setFont("Helvetica", 8)
        self.canv.drawRightString(A4[0] - 20 * mm, 12 * mm, f"Page {self.page}")


def build_pdf(source: Path) -> bytes:
    """An A4 PDF with page numbers; the first heading is its title."""
    blocks = list(parse(source.read_text("utf-8")))
    title = next(b.lines[0] for b in blocks if b.kind == "h1")

    out = io.BytesIO()
    template = Numbered(out, pagesize=A4, invariant=1, title=title, author=AUTHOR, lang="en")
    styles = getSampleStyleSheet()
    story = [flow for block in blocks for flow in (_pdf_block(block, styles), Spacer(1, 2 * mm))]
    template.build(story)
    return out.getvalue()


def _docx_text(paragraph: Any, text: str) -> None:
    for piece, style in runs(text):
        run = paragraph.add_run(piece)
        run.bold, run.italic = style == "b" or None, style == "i" or None


def _docx_block(document: DocxDocument, block: Block) -> None:
    if block.kind == "table":
        table = document.add_table(rows=0, cols=len(block.rows[0]), style="Table Grid")
        for row in block.rows:
            for cell, text in zip(table.add_row().cells, row, strict=True):
                _docx_text(cell.paragraphs[0], text)
    elif block.kind in ("bullets", "steps"):
        for line in block.lines:
            _docx_text(document.add_paragraph(style="List Number" if block.kind == "steps" else "List Bullet"), line)
    elif block.kind in ("h1", "h2"):
        document.add_heading(block.lines[0], level=1 if block.kind == "h1" else 2)
    else:
        _docx_text(document.add_paragraph(), " ".join(block.lines))


def build_docx(source: Path) -> bytes:
    """A Word document with real heading, list and table styles."""
    document = docx.Document()
    blocks = list(parse(source.read_text("utf-8")))
    properties = document.core_properties
    properties.author, properties.created, properties.modified = AUTHOR, FIXED, FIXED
    properties.title = next(b.lines[0] for b in blocks if b.kind == "h1")
    for block in blocks:
        _docx_block(document, block)
    out = io.BytesIO()
    document.save(out)
    return repack(out.getvalue())


def build_xlsx(source: Path) -> bytes:
    """A workbook with one sheet per entry; the first row of each is bold and stays in view."""
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for name, spec in yaml.safe_load(source.read_text("utf-8"))["sheets"].items():
        sheet = book.create_sheet(name)
        for row in spec["rows"]:
            sheet.append(row)
        for cell in sheet[1]:
            cell.font = Font(bold=True)
        for column, width in enumerate(spec["widths"], start=1):
            sheet.column_dimensions[get_column_letter(column)].width = width
        for cells in sheet.iter_rows():
            for cell in cells:
                cell.alignment = Alignment(wrap_text=True, vertical="top")
        sheet.freeze_panes = "A2"
    book.properties.creator, book.properties.created = AUTHOR, FIXED
    out = io.BytesIO()
    book.save(out)
    return repack(out.getvalue())


def repack(data: bytes) -> bytes:
    """The same zip container with fixed dates; openpyxl writes the time of saving into core.xml as well."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            body = old.read(name)
            if name == "docProps/core.xml":
                stamp = FIXED.strftime("%Y-%m-%dT%H:%M:%SZ").encode()
                body = re.sub(rb"(<dcterms:modified[^>]*>)[^<]*", rb"\g<1>" + stamp, body)
            info = zipfile.ZipInfo(name, FIXED.timetuple()[:6])
            info.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(info, body)
    return out.getvalue()


def build_eml(source: Path) -> bytes:
    """A mail as it comes off the wire: CRLF lines, encoded body, folded and encoded headers."""
    head, _, body = source.read_text("utf-8").partition("\n\n")
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    cte, alternative = fields.pop("X-Encoding"), fields.pop("X-Alternative", None)
    message = EmailMessage(policy=SMTP)
    for name, value in fields.items():
        message[name] = value
    message.set_content(body, cte=cte)
    if alternative:
        paragraphs = "\n".join(f"<p>{html.escape(p).replace(chr(10), '<br>')}</p>" for p in body.strip().split("\n\n"))
        message.add_alternative(f"<html><body>\n{paragraphs}\n</body></html>\n", subtype="html", cte=cte)
        message.set_boundary("=_kestrelby_1")
    return message.as_bytes()


BUILDERS: dict[str, Callable[[Path], bytes]] = {
    "pdf": build_pdf,
    "docx": build_docx,
    "xlsx": build_xlsx,
    "eml": build_eml,
}


def main(target: Path = TARGET) -> None:
    """Build every file of the manifest under `target`."""
    for entry in yaml.safe_load((SOURCES / "manifest.yaml").read_text("utf-8")):
        path = target / entry["target"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(BUILDERS[entry["format"]](SOURCES / entry["source"]))
        print(f"{path.stat().st_size:>8,}  {entry['target']}")


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:2]))
