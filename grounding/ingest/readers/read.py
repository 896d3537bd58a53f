"""Entry point of the readers: one call from bytes to text, whatever the file is."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import PurePath
from typing import cast

from grounding.ingest.readers import content_types
from grounding.ingest.readers.detect import detect
from grounding.ingest.readers.extract import MAX_FILE_BYTES, Extract, Refused

_READERS = {  # module and function; a format's library is loaded with its first file, 0.1 to 0.4 s each
    content_types.PDF: "pdf.read_pdf",
    content_types.WORD: "office.word.read_word",
    content_types.EXCEL: "office.excel.read_excel",
    content_types.SLIDES: "office.slides.read_slides",
    content_types.BOOK: "book.read_book",
    content_types.RICH_TEXT: "office.rich_text.read_rich_text",
    content_types.MAIL: "mail.read_mail",
    content_types.WEB_PAGE: "texts.web_page.read_web_page",
    content_types.MARKDOWN: "texts.markdown.read_markdown_file",
    content_types.DELIMITED: "texts.delimited.read_delimited_file",
    content_types.JSON: "texts.structured.read_json",
    content_types.JSON_LINES: "texts.structured.read_json_lines",
    content_types.PLAIN: "texts.plain.read_plain_file",
}


def read(data: bytes, name: str) -> Extract:
    """Extract (text, title and places) of a file of any supported type. `name` gives a title where the file has none.

    Raises Refused, whose `code` is encrypted, corrupt, empty, too_large or unsupported; the message names the file. A hostile file can take
    any time and memory: `grounding.ingest.readers.guarded.guard` reads those that nobody vouches for.
    """
    try:
        if len(data) > MAX_FILE_BYTES:
            raise Refused("too_large", f"{len(data):,} bytes; allowed are {MAX_FILE_BYTES:,}")
        content_type = detect(data, name)
        if content_type not in _READERS:
            raise Refused("unsupported", f"{content_type} is not read; {content_types.READ} are")
        return reader_of(content_type)(data, _title(name))
    except Refused as refusal:
        raise Refused(refusal.code, f"{name}: {refusal}") from None  # type: ignore[arg-type]  # its code is a Reason


def reader_of(content_type: str) -> Callable[[bytes, str], Extract]:
    """The function that reads files of `content_type`; it takes the bytes and a title for files that have none."""
    module, _, function = _READERS[content_type].rpartition(".")
    found = getattr(importlib.import_module(f"grounding.ingest.readers.{module}"), function)
    return cast(Callable[[bytes, str], Extract], found)


def _title(name: str) -> str:
    """A readable title from a file name: "refund-limits.md" is "refund limits"."""
    path = PurePath(name)
    return path.stem.replace("_", " ").replace("-", " ").strip() or path.name
