"""Reader of EPUB, chapter by chapter in the order of its spine (EPUB 3.3, 5; OCF 3.3, 4).

A chapter is a file of the spine with text; its name in the table of contents is its heading where it has none itself.
"""

from __future__ import annotations

import io
import re
import zipfile
from typing import Any

from lxml import etree

from grounding.ingest.readers import content_types
from grounding.ingest.readers.archive import DAMAGE, damage_refused, part, target
from grounding.ingest.readers.extract import Extract, Refused, Writer, one_line
from grounding.ingest.readers.texts.web_page import decoded, write_html

_CONTAINER = "META-INF/container.xml"
_LOCKS = "META-INF/encryption.xml"
_OPF = "{http://www.idpf.org/2007/opf}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_NCX = "{http://www.daisy.org/z3986/2005/ncx/}"
_PAGES = frozenset({"application/xhtml+xml", "text/html"})
_FONTS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")  # obfuscated fonts lock no text
_HEADING = re.compile(r"<h[1-6][\s>]", re.IGNORECASE)


def read_book(data: bytes, name: str) -> Extract:
    """Extract of an EPUB with "chapter N" locators. Raises Refused."""
    with damage_refused("an EPUB", etree.LxmlError), zipfile.ZipFile(io.BytesIO(data)) as archive:
        _check_locks(archive)
        package, root = _package(archive)
        names = _contents(archive, package, root)
        writer = Writer()
        number = 0
        for path in _spine(package, root):
            number += _chapter(archive, path, number + 1, names.get(path, ""), writer)
        title = one_line(root.findtext(f"{_OPF}metadata/{_DC}title") or "")
    return writer.extract(title or name, content_types.BOOK)


def _check_locks(archive: zipfile.ZipFile) -> None:
    if _LOCKS not in archive.namelist():
        return
    for method in part(archive, _LOCKS).iter("{http://www.w3.org/2001/04/xmlenc#}EncryptionMethod"):
        if method.get("Algorithm") not in _FONTS:
            raise Refused("encrypted", "an EPUB with copy protection")


def _package(archive: zipfile.ZipFile) -> tuple[str, Any]:
    """The package document, which lists what the book is made of, as its part and its root element."""
    rootfile = part(archive, _CONTAINER).find(".//{urn:oasis:names:tc:opendocument:xmlns:container}rootfile")
    path = rootfile.get("full-path", "")
    return path, part(archive, path)


def _spine(package: str, root: Any) -> list[str]:
    items = {item.get("id"): item for item in root.iterfind(f"{_OPF}manifest/{_OPF}item")}
    paths = []
    for entry in root.iterfind(f"{_OPF}spine/{_OPF}itemref"):
        item = items[entry.get("idref")]
        if item.get("media-type") in _PAGES and "nav" not in (item.get("properties") or "").split():
            paths.append(target(package, item.get("href", "")))
    return list(dict.fromkeys(paths))


def _contents(archive: zipfile.ZipFile, package: str, root: Any) -> dict[str, str]:
    """First name of each part in the table of contents of EPUB 3, else of EPUB 2; none if it is damaged."""
    names: dict[str, str] = {}
    for item in root.iterfind(f"{_OPF}manifest/{_OPF}item"):
        path = target(package, item.get("href", ""))
        try:
            if "nav" in (item.get("properties") or "").split():
                for link in part(archive, path).iter("{http://www.w3.org/1999/xhtml}a"):
                    names.setdefault(target(path, link.get("href", "")), one_line("".join(link.itertext())))
            elif item.get("media-type") == "application/x-dtbncx+xml":
                for point in part(archive, path).iter(f"{_NCX}navPoint"):
                    source = point.find(f"{_NCX}content").get("src", "")
                    names.setdefault(target(path, source), one_line(point.findtext(f"{_NCX}navLabel/{_NCX}text") or ""))
        except (*DAMAGE, etree.LxmlError):
            continue
    return names


def _chapter(archive: zipfile.ZipFile, path: str, number: int, name: str, writer: Writer) -> bool:
    """Write a chapter. True if it has text."""
    html = decoded(archive.read(path))
    trial = Writer()
    write_html(html, trial)
    if trial.empty:
        return False
    writer.place(f"chapter {number}")
    if name and not _HEADING.search(html):
        writer.heading(name)
    write_html(html, writer)
    return True
