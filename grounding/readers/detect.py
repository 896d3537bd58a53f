"""What a file is, by its bytes. The name is asked only where a text is Markdown or plain to equal harm: none."""

from __future__ import annotations

import json
import re
import threading
from functools import lru_cache

from magika import Magika

from grounding.readers import delimited, mail, markdown, pdf, plain, web_page
from grounding.readers.archive import kind_of
from grounding.readers.extract import Refused

JSON = "application/json"

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_OFFICE = "EncryptedPackage".encode("utf-16-le")
_NOT_READ = {  # magic numbers of what people most often try
    b"{\\rtf": "an RTF file; save it as DOCX",
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"\x1f\x8b": "a gzip archive",
    b"7z\xbc\xaf": "a 7-Zip archive",
    b"Rar!": "a RAR archive",
    b"SQLite format 3": "a SQLite database",
}
_TEXT_SAMPLE = 65_536
_UNSEEN = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_HTML_START = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?(?><!--.*?-->\s*)*+<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL
)
_HTML_TAG = re.compile(r"</?(?:p|div|table|h[1-6]|ul|ol|li|br|span|a|td|tr|section|main)\b[^<>]*>", re.IGNORECASE)
_MARKS = (
    re.compile(r"\A---[ \t]*\n[\s\S]*?^---[ \t]*$", re.MULTILINE),  # front matter
    re.compile(r"^#{1,6}[ \t]+\S", re.MULTILINE),  # headings
    re.compile(r"\[[^\[\]\n]{1,200}\]\([^()\s]{1,500}\)"),  # links
    re.compile(r"^\s*(?:```|~~~)", re.MULTILINE),  # code
    re.compile(r"^\s*\|?\s*:?-{3,}:?\s*\|", re.MULTILINE),  # tables
    re.compile(r"(?<![\w*])\*\*\S[^*\n]*\*\*"),  # strong words
)
_LOCK = threading.Lock()


def detect(data: bytes, name: str = "") -> str:
    """Content type of `data`, one that a reader takes. Raises Refused: empty, unsupported, encrypted, corrupt, too_large."""
    if not data.strip(b"\x00 \t\r\n\xef\xbb\xbf"):
        raise Refused("empty", "an empty file")
    if b"%PDF-" in data[:1024]:
        return pdf.CONTENT_TYPE
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")):
        return kind_of(data)
    if data.startswith(_OLE):
        raise _old_office(data)
    for magic, what in _NOT_READ.items():
        if data.startswith(magic):
            raise Refused("unsupported", what)
    text = plain.decode(data)
    if _is_binary(text):
        raise Refused("unsupported", f"not a document: {_magika().identify_bytes(data).output.description.lower()}")
    return _text_kind(data, text, name)


def _old_office(data: bytes) -> Refused:
    if _ENCRYPTED_OFFICE in data:
        return Refused("encrypted", "an Office file with a password; save it without one")
    return Refused(
        "unsupported", "a file of Office 97-2003 or Outlook (.doc, .xls, .ppt, .msg); save it in today's format"
    )


def _is_binary(text: str) -> bool:
    sample = text[:_TEXT_SAMPLE]
    unseen = len(_UNSEEN.findall(sample)) + sample.count("\ufffd")
    return unseen > max(2, len(sample) // 50)


def _text_kind(data: bytes, text: str, name: str) -> str:
    text = text.lstrip("\ufeff")
    if mail.looks_like_mail(text):
        return mail.CONTENT_TYPE
    if _HTML_START.match(text):
        return web_page.CONTENT_TYPE
    if _is_json(text):
        return JSON
    sample = text[:_TEXT_SAMPLE]
    marks = sum(1 for mark in _MARKS if mark.search(sample))
    front = _MARKS[0].match(sample) is not None
    if front or marks >= 2:
        return markdown.CONTENT_TYPE
    if delimited.looks_delimited(text):
        return delimited.CONTENT_TYPE
    if sample.lstrip().startswith("<") and len(_HTML_TAG.findall(sample)) >= 2:
        return web_page.CONTENT_TYPE
    return _guessed(data, text, name, marks)


def _guessed(data: bytes, text: str, name: str, marks: int) -> str:
    label = _magika().identify_bytes(data).output.label if len(text) > 16 else "txt"
    if label in ("csv", "tsv") and delimited.looks_delimited(text, named=False):
        return delimited.CONTENT_TYPE
    if label == "html" and _HTML_TAG.search(text):
        return web_page.CONTENT_TYPE
    if name.lower().endswith((".md", ".markdown")) or (label == "markdown" and marks):
        return markdown.CONTENT_TYPE
    return plain.CONTENT_TYPE


def _is_json(text: str) -> bool:
    if not text.lstrip().startswith(("{", "[")):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _magika() -> Magika:
    with _LOCK:
        return _loaded()


@lru_cache(maxsize=1)
def _loaded() -> Magika:
    return Magika()
