"""Files that are refused: empty, of no use, locked, broken, too large, or made to do harm."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from email.message import EmailMessage

from grounding.ingest.readers.extract import MAX_FILE_BYTES, MAX_TEXT_CHARS
from tests.grounding.ingest.readers import files, office
from tests.grounding.ingest.readers.office import LAUGHS, paragraph, shape


@dataclass(frozen=True)
class Unsound:
    """`says` are words of the message."""

    name: str
    data: Callable[[], bytes]
    code: str
    says: str


_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_WORD_NS = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def _docx() -> bytes:
    return files.word(lambda d: d.add_paragraph("Hello"))


def _xlsx() -> bytes:
    return files.excel(lambda b: b.active.append(["a", "b"]))


def _pptx() -> bytes:
    return office.slides(office.slide(shape(paragraph("Hello"))))


def _epub() -> bytes:
    return office.book({"a.xhtml": office.page("<p>Hello</p>")})


def _pages(count: int) -> bytes:
    kids = b"3 0 R " * count
    return (
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Count "
        + str(count).encode()
        + b"/Kids["
        + kids
        + b"]>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\ntrailer<</Root 1 0 R>>"
    )


def _many_parts() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for number in range(20_001):
            archive.writestr(zipfile.ZipInfo(str(number)), b"")
    return file.getvalue()


def _lying() -> bytes:
    """A document that unpacks to far more than its directory says."""
    data = bytearray(files.archive({"word/document.xml": b"<a>" + b" " * 4_000_000 + b"</a>"}))
    at = data.find(b"PK\x01\x02")
    data[at + 24 : at + 28] = (100).to_bytes(4, "little")
    return bytes(data)


def _laughing_docx() -> bytes:
    xml = f"{LAUGHS}<w:document {_WORD_NS}><w:body><w:p><w:r><w:t>&a11;</w:t></w:r></w:p></w:body></w:document>"
    return office.replaced(_docx(), "word/document.xml", xml.encode())


def _laughing_xlsx() -> bytes:
    xml = f'{LAUGHS}<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>&a11;</t></is></c></row></sheetData></worksheet>'
    return office.replaced(_xlsx(), "xl/worksheets/sheet1.xml", xml.encode())


def _nested_mail() -> bytes:
    parts = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (i, i) for i in range(3_000))
    return b"From: a@b.example\nTo: c@d.example\nSubject: x\n" + parts + b"\nhello"


def _smime() -> bytes:
    made = EmailMessage()
    made["From"], made["To"], made["Subject"] = "a@b.example", "c@d.example", "x"
    made.set_content(b"0000", maintype="application", subtype="pkcs7-mime")
    return bytes(made)


OF_NO_USE = [
    Unsound("nothing", lambda: b"", "empty", "an empty file"),
    Unsound("blanks", lambda: b" \r\n\t\n", "empty", "an empty file"),
    Unsound("zeros", lambda: bytes(5_000), "empty", "an empty file"),
    Unsound("a picture called note.txt", lambda: b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "unsupported", "PNG"),
    Unsound(
        "a program called note.txt", lambda: b"MZ\x90\x00" + bytes(range(256)) * 40, "unsupported", "not a document"
    ),
    Unsound(
        "a program called guide.pdf",
        lambda: b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 40,
        "unsupported",
        "not a document",
    ),
    Unsound("an archive", lambda: files.archive({"a.txt": b"hello"}), "unsupported", "application/zip is not read"),
    Unsound(
        "an archive in archives",
        lambda: files.archive({"a.zip": files.archive({"b.zip": files.archive({"c.txt": b"x"})})}),
        "unsupported",
        "PDF, DOCX",
    ),
    Unsound("gzip called page.html", lambda: b"\x1f\x8b\x08" + bytes(50), "unsupported", "gzip"),
    Unsound("a database", lambda: b"SQLite format 3\x00" + bytes(100), "unsupported", "SQLite"),
    Unsound("Word 97", lambda: _OLE + bytes(600), "unsupported", "Office 97-2003"),
    Unsound("xml with entities", f"{LAUGHS}<x>&a11;</x>".encode, "unsupported", "entities"),
    Unsound("a pdf of a blank page", lambda: files.drawn_pdf([]), "empty", "OCR"),
    Unsound("a deck without words", lambda: office.slides(office.slide()), "empty", "no text"),
    Unsound("a book without words", lambda: office.book({"a.xhtml": office.page("")}), "empty", "no text"),
    Unsound("rtf without words", lambda: office.rich(r"{\pict 00ff}"), "empty", "no text"),
    Unsound("json without values", lambda: b'{"a": null, "b": []}', "empty", "no text"),
]

LOCKED = [
    Unsound("a locked pdf", lambda: files.drawn_pdf(["x"], password="y"), "encrypted", "password"),
    Unsound(
        "a locked office file",
        lambda: _OLE + bytes(600) + "EncryptedPackage".encode("utf-16-le"),
        "encrypted",
        "password",
    ),
    Unsound("a locked container", lambda: office.locked(_docx()), "encrypted", "password"),
    Unsound(
        "a protected book",
        lambda: office.book(
            {"a.xhtml": office.page("<p>x</p>")},
            more={"META-INF/encryption.xml": office.locks("http://www.w3.org/2001/04/xmlenc#aes256-cbc")},
        ),
        "encrypted",
        "copy protection",
    ),
    Unsound("an encrypted message", _smime, "encrypted", "save it decrypted"),
]

BROKEN = [
    Unsound("a pdf of nothing but its name", lambda: b"%PDF-1.7\n" + b"x" * 500, "corrupt", "damaged"),
    Unsound("a docx cut short", lambda: _docx()[:-300], "corrupt", "cut short"),
    Unsound(
        "a docx of broken xml", lambda: office.replaced(_docx(), "word/document.xml", b"<w:document"), "corrupt", "Word"
    ),
    Unsound(
        "an xlsx of broken xml", lambda: office.replaced(_xlsx(), "xl/workbook.xml", b"<workbook"), "corrupt", "Excel"
    ),
    Unsound(
        "a pptx without its slide",
        lambda: office.slides(office.slide(), without="ppt/slides/slide1.xml"),
        "corrupt",
        "PowerPoint",
    ),
    Unsound(
        "a pptx that points outside",
        lambda: office.slides(
            office.slide(),
            more={"ppt/_rels/presentation.xml.rels": office.relations(rId1=("slide", "../../../../etc/passwd"))},
        ),
        "corrupt",
        "PowerPoint",
    ),
    Unsound(
        "a pptx that points to the web",
        lambda: office.slides(
            office.slide(),
            more={"ppt/_rels/presentation.xml.rels": office.relations(rId1=("slide", "http://127.0.0.1/x"))},
        ),
        "corrupt",
        "PowerPoint",
    ),
    Unsound(
        "an epub without its package",
        lambda: files.archive({"META-INF/container.xml": b"<container/>"}),
        "corrupt",
        "EPUB",
    ),
    Unsound(
        "an epub whose chapter is missing",
        lambda: office.book({"a.xhtml": office.page("x")}, spine=["b.xhtml"]),
        "corrupt",
        "EPUB",
    ),
    Unsound("an rtf cut short", lambda: office.rich("Hello\\par")[:-1], "corrupt", "cut short"),
    Unsound("json cut short", lambda: b'{"plans": [{"name": "Basic", "pri', "corrupt", "line 1"),
    Unsound("json lines with a broken one", lambda: b'{"a": 1}\n{"a": 2\n', "corrupt", "line 2"),
    Unsound("markdown whose rights cannot be read", lambda: b"---\ngroups: [a\n---\n# x\n", "corrupt", "front matter"),
]

HARMFUL = [
    Unsound("a file that is too large", lambda: b"x" * (MAX_FILE_BYTES + 1), "too_large", "allowed are 50,000,000"),
    Unsound("too much text", lambda: b"word " * (MAX_TEXT_CHARS // 5 + 1) + b"x", "too_large", "20 million"),
    Unsound(
        "a docx that swells",
        lambda: files.archive({"word/document.xml": bytes(40_000_000)}),
        "too_large",
        "times its size",
    ),
    Unsound(
        "an epub that swells",
        lambda: files.archive({"META-INF/container.xml": b"<c/>", "x": bytes(40_000_000)}),
        "too_large",
        "times its size",
    ),
    Unsound("a container that lies about its size", _lying, "corrupt", "Word"),
    Unsound("a container of many parts", _many_parts, "too_large", "20,000 parts"),
    Unsound("a docx of laughs", _laughing_docx, "corrupt", "Word"),
    Unsound("an xlsx of laughs", _laughing_xlsx, "corrupt", "Excel"),
    Unsound(
        "a pptx of laughs",
        lambda: office.replaced(
            _pptx(), "ppt/slides/slide1.xml", (LAUGHS + office.slide(shape(paragraph("&a11;")))).encode()
        ),
        "corrupt",
        "PowerPoint",
    ),
    Unsound(
        "an epub of laughs",
        lambda: office.replaced(_epub(), "META-INF/container.xml", f"{LAUGHS}<c>&a11;</c>".encode()),
        "corrupt",
        "EPUB",
    ),
    Unsound("a pdf of many pages", lambda: _pages(20_001), "too_large", "20,000 pages"),
    Unsound("html nested deep", lambda: b"<html>" + b"<div>" * 9_000 + b"x", "too_large", "nested"),
    Unsound(
        "html of wide cells",
        lambda: b"<html><table><tr>" + b"<td colspan=200 rowspan=200>x" * 3_000,
        "too_large",
        "cells",
    ),
    Unsound("json nested deep", lambda: b"[" * 500_000 + b"]" * 500_000, "too_large", "nested"),
    Unsound("json of objects nested deep", lambda: b'{"a":' * 300 + b"1" + b"}" * 300, "too_large", "nested"),
    Unsound("rtf nested deep", lambda: b"{\\rtf1" + b"{" * 1_000_000, "too_large", "nested"),
    Unsound("a message nested deep", _nested_mail, "too_large", "nested"),
    Unsound(
        "a message that takes long",
        lambda: (
            b"From: a@b.example\nTo: c@d.example\nSubject: x\nContent-Type: multipart/mixed; boundary=b\n\n"
            + b"--b\n\nx\n" * 1_000_000
        ),
        "too_slow",
        "seconds",
    ),
    Unsound(
        "a message that takes memory",
        lambda: b"From: a@b.example\nTo: c@d.example\nSubject: " + b"=?utf-8?q?a?= " * 400_000 + b"\n\nx",
        "too_large",
        "MB of memory",
    ),
]

UNSOUND = [*OF_NO_USE, *LOCKED, *BROKEN, *HARMFUL]
