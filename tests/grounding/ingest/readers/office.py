"""Slides, books, rich text and messages, written by hand so that each test says what is in them."""

from __future__ import annotations

import io
import zipfile
from email.message import EmailMessage

from tests.grounding.ingest.readers import files

_P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
_A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
_R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
_C = 'xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"'
_RELATIONS = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"'
_TYPES = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"

LAUGHS = (
    "<!DOCTYPE x [<!ENTITY a0 'ha'>" + "".join(f"<!ENTITY a{i} '{f'&a{i - 1};' * 10}'>" for i in range(1, 12)) + "]>"
)


def paragraph(text: str, *, level: int = 0, link: str = "") -> str:
    properties = f'<a:rPr><a:hlinkClick r:id="{link}"/></a:rPr>' if link else ""
    return f'<a:p><a:pPr lvl="{level}"/><a:r>{properties}<a:t>{text}</a:t></a:r></a:p>'


def shape(*paragraphs: str, kind: str = "body", hidden: bool = False) -> str:
    mark = f'<p:ph type="{kind}"/>' if kind else ""
    own = f'<p:cNvPr id="2" name="x" hidden="{int(hidden)}"/>'
    return f"<p:sp><p:nvSpPr>{own}<p:nvPr>{mark}</p:nvPr></p:nvSpPr><p:txBody>{''.join(paragraphs)}</p:txBody></p:sp>"


def group(*shapes: str) -> str:
    return f"<p:grpSp>{''.join(shapes)}</p:grpSp>"


def table(*rows: tuple[str, ...]) -> str:
    cells = "".join("<a:tr>" + "".join(_cell(text) for text in row) + "</a:tr>" for row in rows)
    return f'<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tblPr firstRow="1"/>{cells}</a:tbl></a:graphicData></a:graphic></p:graphicFrame>'


def _cell(text: str) -> str:
    """A cell; "<" goes on with the one to its left, "^" with the one above."""
    merged = {"<": ' hMerge="1"', "^": ' vMerge="1"'}.get(text, "")
    return f"<a:tc{merged}><a:txBody>{paragraph('' if merged else text)}</a:txBody></a:tc>"


def slide(*shapes: str, hidden: bool = False) -> str:
    show = ' show="0"' if hidden else ""
    return f"<p:sld {_P} {_A} {_R} {_C}{show}><p:cSld><p:spTree>{''.join(shapes)}</p:spTree></p:cSld></p:sld>"


def relations(**found: tuple[str, str]) -> str:
    """Relationships: id to type and target; a web address is external."""
    bits = (
        f'<Relationship Id="{key}" Type="{_TYPES}/{kind}" Target="{to}" TargetMode="{"External" if ":" in to else "Internal"}"/>'
        for key, (kind, to) in found.items()
    )
    return f"<Relationships {_RELATIONS}>{''.join(bits)}</Relationships>"


def slides(*pages: str, more: dict[str, str] | None = None, without: str = "") -> bytes:
    """A presentation of `pages`, less the part `without`, with `more` parts."""
    names = [f"slides/slide{number}.xml" for number, _ in enumerate(pages, 1)]
    ids = "".join(f'<p:sldId id="{255 + n}" r:id="rId{n}"/>' for n, _ in enumerate(pages, 1))
    parts = {
        "[Content_Types].xml": "<Types/>",
        "ppt/presentation.xml": f"<p:presentation {_P} {_R}><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(**{f"rId{n}": ("slide", name) for n, name in enumerate(names, 1)}),
        **{f"ppt/{name}": page for name, page in zip(names, pages, strict=True)},
        **(more or {}),
    }
    return files.archive({name: text.encode() for name, text in parts.items() if name != without})


def notes(*paragraphs: str) -> str:
    tree = shape(*paragraphs) + shape(paragraph("1"), kind="sldNum")
    return f"<p:notes {_P} {_A}><p:cSld><p:spTree>{tree}</p:spTree></p:cSld></p:notes>"


def chart(series: str, points: dict[str, str]) -> str:
    def values(texts: list[str]) -> str:
        return "".join(f'<c:pt idx="{i}"><c:v>{text}</c:v></c:pt>' for i, text in enumerate(texts))

    return (
        f"<c:chartSpace {_C} {_A}><c:chart><c:plotArea><c:barChart><c:ser><c:tx><c:strRef><c:strCache>{values([series])}"
        f"</c:strCache></c:strRef></c:tx><c:cat><c:strRef>{values(list(points))}</c:strRef></c:cat>"
        f"<c:val><c:numRef>{values(list(points.values()))}</c:numRef></c:val></c:ser></c:barChart></c:plotArea></c:chart></c:chartSpace>"
    )


CHART_FRAME = (
    '<p:graphicFrame><a:graphic><a:graphicData><c:chart r:id="rId9"/></a:graphicData></a:graphic></p:graphicFrame>'
)


def book(
    chapters: dict[str, bytes],
    *,
    ncx: dict[str, str] | None = None,
    nav: dict[str, str] | None = None,
    more: dict[str, bytes] | None = None,
    title: str = "The guide",
    spine: list[str] | None = None,
) -> bytes:
    """An EPUB of `chapters` (name to XHTML), named by a table of contents of EPUB 2 (`ncx`) or 3 (`nav`)."""
    items = "".join(f'<item id="{n}" href="text/{n}" media-type="application/xhtml+xml"/>' for n in chapters)
    parts: dict[str, bytes] = {f"OPS/text/{name}": content for name, content in chapters.items()}
    if ncx is not None:
        items += '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
        points = "".join(
            f'<navPoint><navLabel><text>{label}</text></navLabel><content src="text/{n}#top"/></navPoint>'
            for n, label in ncx.items()
        )
        parts["OPS/toc.ncx"] = (
            f'<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>{points}</navMap></ncx>'.encode()
        )
    if nav is not None:
        items += '<item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>'
        links = "".join(f'<li><a href="text/{n}">{label}</a></li>' for n, label in nav.items())
        parts["OPS/nav.xhtml"] = (
            f'<html xmlns="http://www.w3.org/1999/xhtml"><body><ol>{links}</ol></body></html>'.encode()
        )
    order = "".join(f'<itemref idref="{n}"/>' for n in spine or [*(["nav"] if nav else []), *chapters])
    parts["OPS/package.opf"] = (
        '<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<dc:title>{title}</dc:title></metadata><manifest>{items}</manifest><spine>{order}</spine></package>"
    ).encode()
    parts["META-INF/container.xml"] = (
        b'<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        b'<rootfile full-path="OPS/package.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
    )
    return files.archive({"mimetype": b"application/epub+zip", **parts, **(more or {})})


def page(body: str, encoding: str = "utf-8") -> bytes:
    head = f'<?xml version="1.0" encoding="{encoding}"?><html xmlns="http://www.w3.org/1999/xhtml">'
    return f"{head}<body>{body}</body></html>".encode(encoding)


def locks(algorithm: str) -> bytes:
    return (
        '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" xmlns:enc="http://www.w3.org/2001/04/xmlenc#">'
        f'<enc:EncryptedData><enc:EncryptionMethod Algorithm="{algorithm}"/></enc:EncryptedData></encryption>'
    ).encode()


def rich(body: str | bytes, *, head: str = "") -> bytes:
    """RTF with Windows-1252 as its code page, font 1 in Japanese, font 2 in Cyrillic, and a style for headings."""
    text = body if isinstance(body, bytes) else body.encode("ascii")
    fonts = r"{\fonttbl{\f0\fnil\fcharset0 Arial;}{\f1\fnil\fcharset128 MS Mincho;}{\f2\fnil\fcharset204 Arial Cyr;}}"
    styles = r"{\stylesheet{\s0 Normal;}{\s1\b heading 1;}{\s2\b heading 2;}}"
    return rf"{{\rtf1\ansi\ansicpg1252\deff0{fonts}{styles}{head}".encode() + b"\n" + text + b"}"


def message(text: str = "We open at 9.\n", *, subject: str = "Opening hours") -> EmailMessage:
    made = EmailMessage()
    made["From"], made["To"], made["Subject"] = "anna@example.com", "bob@example.com", subject
    made["Date"] = "Mon, 2 Mar 2026 10:00:00 +0100"
    made.set_content(text)
    return made


def attach(made: EmailMessage, data: bytes, name: str) -> EmailMessage:
    made.add_attachment(data, maintype="application", subtype="octet-stream", filename=name)
    return made


def replaced(data: bytes, name: str, content: bytes) -> bytes:
    """A ZIP container with one member changed."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return files.archive({n: content if n == name else archive.read(n) for n in archive.namelist()})


def locked(data: bytes) -> bytes:
    """A ZIP container whose members all say that they need a password."""
    made = bytearray(data)
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = made.find(signature)
        while at >= 0:
            made[at + flags] |= 1
            at = made.find(signature, at + 4)
    return bytes(made)
