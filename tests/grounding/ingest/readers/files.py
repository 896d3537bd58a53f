"""Small files of every kind, made anew by each test."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from typing import Any

import docx
import openpyxl
from reportlab.lib import pdfencrypt
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfgen import canvas
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Table

LONG = "Plans renew each month on the day on which you joined, and you can cancel a plan at any time in the app. "


def pdf(title: str | None = "Billing guide") -> bytes:
    """Two pages: headings, wrapped paragraphs and a table."""
    style = getSampleStyleSheet()
    file = io.BytesIO()
    story: list[Any] = [
        Paragraph("Billing guide", style["Title"]),
        Paragraph("Refunds", style["Heading2"]),
        Paragraph(LONG * 3, style["BodyText"]),
        Paragraph("Call 555-0100 first.", style["BodyText"]),
        Table([["Plan", "Price", "Data"], ["Basic", "$9.00", "50 GB"], ["Plus", "$19.00", ""]]),
        PageBreak(),
        Paragraph("Opening hours", style["Heading2"]),
        Paragraph("We are open from 9 to 17.", style["BodyText"]),
    ]
    SimpleDocTemplate(file, title=title).build(story)
    return file.getvalue()


def drawn_pdf(lines: list[str], *, password: str | None = None) -> bytes:
    """A page with `lines` at a normal distance."""
    file = io.BytesIO()
    lock = pdfencrypt.StandardEncryption(password, strength=128) if password else None
    page = canvas.Canvas(file, encrypt=lock)
    for number, line in enumerate(lines):
        page.drawString(72, 720 - 14 * number, line)
    page.showPage()
    page.save()
    return file.getvalue()


def word(fill: Callable[[Any], None]) -> bytes:
    document = docx.Document()
    fill(document)
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def excel(fill: Callable[[Any], None]) -> bytes:
    book = openpyxl.Workbook()
    fill(book)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def archive(members: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, content in members.items():
            zipped.writestr(name, content)
    return file.getvalue()
