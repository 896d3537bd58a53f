"""Plain text: which encoding, and which line breaks are only the width of somebody's window."""

from __future__ import annotations

import codecs
import re
from itertools import pairwise

from grounding.readers.extract import Extract, Writer, clean, one_line

CONTENT_TYPE = "text/plain"

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_OWN_LINE = re.compile(r"^\s*(?:[-*•‣–+]\s|\d{1,3}[.)]\s|[#>|]|\w[\w .&/()-]{0,40}:\s)|\t|\S {2,}\S| \| ")
_UNDERLINED = re.compile(r"([^\n]{1,120})\n(={3,}|-{3,})(?:\n|$)")
_NARROWEST = 45
_TITLE_LENGTH = 120


def decode(data: bytes) -> str:
    """Text of `data`: byte order mark, UTF-16 by its zero bytes, UTF-8, else Windows-1252."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    if wide := _wide(data[:4096]):
        return data.decode(wide, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("utf-8", "replace")
        broken = text.count("\ufffd")
        beyond_ascii = len(text) - len(text.encode("ascii", "ignore")) - broken
        return text if beyond_ascii > 4 * broken else data.decode("cp1252", "replace")


def _wide(head: bytes) -> str | None:
    even, odd = head[0::2].count(0), head[1::2].count(0)
    half = len(head) // 2
    if half < 2 or even + odd < half * 0.3:
        return None
    if odd > 8 * even:
        return "utf-16-le"
    return "utf-16-be" if even > 8 * odd else None


def usual_width(lengths: list[float]) -> float:
    """The width to which lines are wrapped: the third longest, so that two odd ones do not count; 0 without lines."""
    longest = sorted(lengths, reverse=True)[:3]
    return longest[-1] if longest else 0


def unwrap(paragraph: str, width: float) -> str:
    """Join lines that were broken only because the next word did not fit in `width`; lists, rows, short lines stay."""
    lines = paragraph.split("\n")
    if len(lines) < 2 or width < _NARROWEST:
        return paragraph
    joined = [lines[0]]
    for before, line in pairwise(lines):
        first = line.split(maxsplit=1)[0] if line.strip() else ""
        if first and len(before) + 1 + len(first) > width and not _OWN_LINE.search(line):
            joined[-1] = joined_lines(joined[-1], line)
        else:
            joined.append(line)
    return "\n".join(joined)


def joined_lines(before: str, line: str) -> str:
    """Two lines as one; a hyphen that ends the first is kept and nothing put behind it: 555-0100 stays a number."""
    after = line.strip()
    glue = "" if before.endswith("-") and before[-2:-1].isalnum() and after[:1].isalnum() else " "
    return before + glue + after


def paragraphs(text: str) -> list[str]:
    """Cleaned paragraphs, unwrapped."""
    text = clean(text)
    width = usual_width([len(line) for line in text.split("\n") if len(line) >= _NARROWEST])
    return [unwrap(part, width) for part in text.split("\n\n") if part.strip()]


def read_plain(text: str, name: str, content_type: str = CONTENT_TYPE) -> Extract:
    """Plain text with its paragraphs; the first line is the title when it stands alone and is short.

    Raises Refused.
    """
    writer = Writer()
    parts = paragraphs(text) if content_type == CONTENT_TYPE else [clean(text)]
    for part in parts:
        underlined = _UNDERLINED.match(part) if content_type == CONTENT_TYPE else None
        if underlined is None:
            writer.block(part)
            continue
        writer.heading(underlined.group(1), 1 if underlined.group(2).startswith("=") else 2)
        writer.block(part[underlined.end() :])
    first = parts[0] if parts else ""
    if parts and content_type == CONTENT_TYPE and (underlined := _UNDERLINED.match(first)):
        return writer.extract(underlined.group(1), content_type)
    alone = content_type == CONTENT_TYPE and len(parts) > 1 and "\n" not in first and len(first) <= _TITLE_LENGTH
    return writer.extract(one_line(first) if alone and first[-1:] not in ".:;,!" else name, content_type)
