"""Detection of a file's type by its bytes. The name is asked only where a text could be Markdown or plain."""

from __future__ import annotations

import importlib
import re
import threading
from functools import lru_cache
from typing import Any

from grounding.ingest.readers import content_types
from grounding.ingest.readers.extract import Refused
from grounding.ingest.readers.texts import delimited, structured
from grounding.ingest.readers.texts.encoding import decode

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_OFFICE = "EncryptedPackage".encode("utf-16-le")
_NOT_READ = {  # magic numbers of what people most often try
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
    re.compile(r"\A\s*---[ \t]*\n[\s\S]*?^---[ \t]*$", re.MULTILINE),  # front matter
    re.compile(r"^#{1,6}[ \t]+\S", re.MULTILINE),  # headings
    re.compile(r"\[[^\[\]\n]{1,200}\]\([^()\s]{1,500}\)"),  # links
    re.compile(r"^\s*(?:```|~~~)", re.MULTILINE),  # code
    re.compile(r"^\s*\|?\s*:?-{3,}:?\s*\|", re.MULTILINE),  # tables
    re.compile(r"(?<![\w*])\*\*\S[^*\n]*\*\*"),  # strong words
)
_JSON_START = re.compile(r'\s*(?:\{\s*"[^"\n]{0,200}"\s*:|\[\s*\{\s*")')
_HEADER = re.compile(r"^([A-Za-z][A-Za-z0-9-]{1,60}):[ \t]?(.*)$")
_TELLING = frozenset(
    "from to cc subject date received message-id mime-version return-path delivered-to reply-to content-type "
    "x-mailer".split()
)
_LOCK = threading.Lock()


def detect(data: bytes, name: str = "") -> str:
    """Content type of `data`, one that a reader takes. Raises Refused: empty, unsupported, encrypted, corrupt, too_large."""
    if not data.strip(b"\x00 \t\r\n\xef\xbb\xbf"):
        raise Refused("empty", "an empty file")
    if b"%PDF-" in data[:1024]:
        return content_types.PDF
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")):
        return str(_loaded("grounding.ingest.readers.archive").kind_of(data))
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{\\rtf"):
        return content_types.RICH_TEXT
    if data.startswith(_OLE):
        raise _old_office(data)
    for magic, what in _NOT_READ.items():
        if data.startswith(magic):
            raise Refused("unsupported", what)
    text = decode(data)
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
    if looks_like_mail(text):
        return content_types.MAIL
    if _HTML_START.match(text):
        return content_types.WEB_PAGE
    if text.lstrip().startswith("<") and "<!ENTITY" in text[:_TEXT_SAMPLE]:
        raise Refused("unsupported", "XML with entities of its own")
    if found := _json_kind(text):
        return found
    sample = text[:_TEXT_SAMPLE]
    marks = sum(1 for mark in _MARKS if mark.search(sample))
    front = _MARKS[0].match(sample) is not None
    if front or marks >= 2:
        return content_types.MARKDOWN
    if delimited.looks_delimited(text):
        return content_types.DELIMITED
    if sample.lstrip().startswith("<") and len(_HTML_TAG.findall(sample)) >= 2:
        return content_types.WEB_PAGE
    return _guessed(data, text, name, marks)


def _guessed(data: bytes, text: str, name: str, marks: int) -> str:
    named = name.lower().endswith((".md", ".markdown"))
    if named and marks:
        return content_types.MARKDOWN
    label = _magika().identify_bytes(data).output.label if len(text) > 16 else "txt"
    if label in ("csv", "tsv") and delimited.looks_delimited(text, named=False):
        return content_types.DELIMITED
    if label == "html" and _HTML_TAG.search(text):
        return content_types.WEB_PAGE
    if named or (label == "markdown" and marks):
        return content_types.MARKDOWN
    return content_types.PLAIN


def _json_kind(text: str) -> str | None:
    """JSON, JSON lines or neither. Raises Refused for what clearly begins as JSON and does not go on so."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    first = text.lstrip().split("\n", 1)[0]
    try:
        structured.parse(text)
        return content_types.JSON
    except ValueError as error:
        broken = error
    try:
        structured.parse(first)
    except ValueError:
        if _JSON_START.match(text):
            raise Refused("corrupt", f"JSON that is cut short or damaged: {broken}") from None
        return None
    return content_types.JSON_LINES if first.startswith("{") or _JSON_START.match(text) else None


def looks_like_mail(text: str) -> bool:
    """True if `text` begins with a block of mail headers: From and two others that mail has, then a blank line."""
    names: set[str] = set()
    for line in text.lstrip("\ufeff")[:65_536].splitlines():
        header = _HEADER.match(line)
        if header is not None:
            names.add(header.group(1).lower())
        elif not line.strip():
            break
        elif not line.startswith((" ", "\t") if names else "From "):
            return False
    return "from" in names and len(names & _TELLING) >= 3


def _magika() -> Any:
    with _LOCK:
        return _model()


@lru_cache(maxsize=1)
def _model() -> Any:
    return _loaded("magika").Magika()


def _loaded(module: str) -> Any:
    """The module named, imported at the first need because most files do without it."""
    return importlib.import_module(module)
