"""One call from bytes to text, whatever the file is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath

from grounding.readers import delimited, excel, mail, markdown, pdf, plain, web_page, word
from grounding.readers.detect import JSON, detect
from grounding.readers.extract import MAX_FILE_BYTES, Extract, Refused

_READERS: dict[str, Callable[[bytes, str], Extract]] = {
    pdf.CONTENT_TYPE: pdf.read_pdf,
    word.CONTENT_TYPE: word.read_word,
    excel.CONTENT_TYPE: excel.read_excel,
    mail.CONTENT_TYPE: mail.read_mail,
    web_page.CONTENT_TYPE: web_page.read_web_page,
    markdown.CONTENT_TYPE: lambda data, title: markdown.read_markdown(plain.decode(data), title),
    delimited.CONTENT_TYPE: lambda data, title: delimited.read_delimited(plain.decode(data), title),
    plain.CONTENT_TYPE: lambda data, title: plain.read_plain(plain.decode(data), title),
    JSON: lambda data, title: plain.read_plain(plain.decode(data), title, JSON),
}


def read(data: bytes, name: str) -> Extract:
    """Text, title and places of a file of any supported type. `name` gives a title where the file has none.

    Raises Refused, whose `code` is encrypted, corrupt, empty, too_large or unsupported; the message names the file.
    """
    try:
        if len(data) > MAX_FILE_BYTES:
            raise Refused("too_large", f"{len(data):,} bytes; allowed are {MAX_FILE_BYTES:,}")
        content_type = detect(data, name)
        reader = _READERS.get(content_type)
        if reader is None:
            raise Refused(
                "unsupported", f"{content_type} is not read; PDF, DOCX, XLSX, HTML, Markdown, CSV, EML and text are"
            )
        return reader(data, _title(name))
    except Refused as refusal:
        raise Refused(refusal.code, f"{name}: {refusal}") from None  # type: ignore[arg-type]  # its code is a Reason


def _title(name: str) -> str:
    """A readable title from a file name: "refund-limits.md" is "refund limits"."""
    path = PurePath(name)
    return path.stem.replace("_", " ").replace("-", " ").strip() or path.name
